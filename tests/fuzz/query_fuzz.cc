// Query texts from anyone: parsed or refused with a place in the text, never a crash.
#include <cstdint>
#include <string_view>

#include "database/base/check.h"
#include "database/store/query_syntax.h"
#include "database/store/query_units.h"

using namespace handhold;

namespace {

void Walk(const store::SyntaxNode& node, size_t length, int depth) {
  CHECK(depth < 1000);
  CHECK(node.at <= length);
  for (const store::ValueSyntax& value : node.values) {
    if (const store::Unit* unit = store::FindUnit(value.unit.text))
      (void)store::ToSi(value.number, *unit);
  }
  for (const store::SyntaxNode& child : node.children) Walk(child, length, depth + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto query = store::ParseQuery(text);
  if (query) {
    Walk(query->condition, size, 0);
  } else {
    CHECK(query.error().message.rfind("query, column ", 0) == 0 || size > 10'000);
  }
  return 0;
}
