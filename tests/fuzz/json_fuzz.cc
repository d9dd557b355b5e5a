// JSON text from anyone: parsing ends, and what is accepted is written and read back to the same
// tree, with the same canonical bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "database/base/check.h"
#include "database/text/json.h"

using namespace handhold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<text::Json> json = text::ParseJson(bytes);
  if (!json) {
    CHECK(!json.error().message.empty());
    return 0;
  }
  for (const int indent : {0, 2}) {
    const Result<std::string> written = text::WriteJson(*json, {.indent = indent});
    CHECK(written.has_value());
    const Result<text::Json> again = text::ParseJson(*written);
    CHECK(again.has_value());
    CHECK(*again == *json);
  }
  const Result<std::string> canonical = text::CanonicalJson(*json);
  CHECK(canonical.has_value());
  const Result<text::Json> again = text::ParseJson(*canonical);
  CHECK(again.has_value());
  CHECK(*again == *json);
  CHECK_EQ(text::CanonicalJson(*again).value(), *canonical);
  return 0;
}
