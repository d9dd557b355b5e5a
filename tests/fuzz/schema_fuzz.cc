// A schema and a value from anyone, two JSON texts with a NUL byte between them: a schema that is
// accepted checks any value to an end, and says the same twice.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "database/base/check.h"
#include "database/text/schema.h"

using namespace handhold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t cut = bytes.find('\0');
  if (cut == std::string_view::npos) return 0;
  Result<text::Json> schema_json = text::ParseJson(bytes.substr(0, cut));
  const Result<text::Json> value = text::ParseJson(bytes.substr(cut + 1));
  if (!schema_json || !value) return 0;
  const Result<text::Schema> schema = text::Schema::Parse(*std::move(schema_json));
  if (!schema) {
    CHECK(!schema.error().message.empty());
    return 0;
  }
  const auto findings = schema->Check(*value);
  const Status status = schema->Require(*value, "fuzz");
  CHECK_EQ(findings.empty(), status.has_value());
  for (const text::SchemaFinding& finding : findings) CHECK(!finding.what.empty());
  return 0;
}
