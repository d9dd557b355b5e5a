// Linked with every module, so that its list of libraries is everything the product can link:
// notices_test.cc reads that list. Never run.
int main() { return 0; }
