#include "tools/report/page.h"

#include <zlib.h>

#include <cstdlib>

#include "database/base/check.h"
#include "database/text/file.h"
#include "tools/report/png.h"

namespace handhold::report {
namespace fs = std::filesystem;
namespace {
constexpr std::string_view kPlace = "@@DATA@@";
}  // namespace

Result<fs::path> PageFile() {
  std::error_code ignored;
  if (const char* env = std::getenv("HANDHOLD_PAGE"); env != nullptr && *env != '\0') {
    if (fs::is_regular_file(env, ignored)) return fs::path(env);
    return Error{ErrorCode::kNotFound,
                 std::string("HANDHOLD_PAGE names '") + env + "', which is not a file"};
  }
  for (const char* candidate : {HANDHOLD_PAGE_BUILT, HANDHOLD_PAGE_INSTALLED})
    if (fs::is_regular_file(candidate, ignored)) return fs::path(candidate);
  return Error{ErrorCode::kNotFound,
               "no page in " HANDHOLD_PAGE_BUILT " or " HANDHOLD_PAGE_INSTALLED
               ": build the target viewer_page, or set HANDHOLD_PAGE to its file"};
}

Result<std::string> EmptyPage() {
  HANDHOLD_ASSIGN(const fs::path path, PageFile());
  return text::ReadTextFile(path);
}

Result<std::string> PageWith(const text::Json& data) {
  HANDHOLD_ASSIGN(const std::string json, text::WriteJson(data));
  HANDHOLD_ASSIGN(std::string page, EmptyPage());
  const size_t at = page.find(kPlace);
  if (at == std::string::npos || page.find(kPlace, at + 1) != std::string::npos) {
    return Error{ErrorCode::kCorrupt, "the page does not have one place for data ('" +
                                          std::string(kPlace) + "'): build it again"};
  }
  return page.replace(at, kPlace.size(), Base64(Deflate(json)));
}

std::string Deflate(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  CHECK_EQ(
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 9),
      Z_OK);
  packed.resize(size);
  return packed;
}

}  // namespace handhold::report
