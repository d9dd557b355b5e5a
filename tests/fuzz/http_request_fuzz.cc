// What a browser, or anybody, sends to the viewer's server: a request or a refusal, and every text
// of it is UTF-8 without NUL.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "database/base/check.h"
#include "database/base/utf8.h"
#include "tools/viewer/http/server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const handhold::viewer::ParsedHead head = handhold::viewer::ParseHead(text);
  if (head.refusal) {
    CHECK(head.refusal->status >= 400 && head.refusal->status < 500);
    CHECK(!head.refusal->why.empty());
    return 0;
  }
  CHECK(head.request.path.starts_with('/'));
  CHECK(handhold::IsUtf8(head.request.path));
  CHECK(head.request.path.find('\0') == std::string::npos);
  for (const auto& [name, value] : head.request.query)
    CHECK(handhold::IsUtf8(name) && handhold::IsUtf8(value));
  return 0;
}
