/// Ctrl-C, SIGTERM and a terminal that hangs up as a flag that a running verb looks at.
#pragma once

namespace handhold::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP (unless that is ignored: nohup) sets the flag.
/// Further SIGTERM and SIGHUP change nothing: a window that closes sends two, and what is being
/// stored must be stored. Of further SIGINT those within 1 s of the last that counted change
/// nothing; the next says on stderr what one more costs; that one ends the program.
void CatchInterrupts();
/// True after the first. Any thread.
bool Interrupted();

}  // namespace handhold::cli
