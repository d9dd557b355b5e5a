// TOML text from anyone: parsing ends, and what is accepted can be written as JSON, with a line for
// every value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "database/base/check.h"
#include "database/text/toml.h"

using namespace handhold;

namespace {

void CheckLines(const text::Json& json) {
  CHECK(json.line() > 0);
  for (const text::Json& element : json.elements()) CheckLines(element);
  for (const text::JsonMember& member : json.members()) CheckLines(member.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<text::Json> toml = text::ParseToml(bytes);
  if (!toml) {
    CHECK(!toml.error().message.empty());
    return 0;
  }
  CheckLines(*toml);
  const Result<std::string> written = text::WriteJson(*toml);
  CHECK(written.has_value());
  CHECK(text::ParseJson(*written, {.max_depth = 1000}).value() == *toml);
  return 0;
}
