/// One self-contained HTML page: the front end (tools/viewer) with data inside.
///
/// The front end is one file that the build makes; it is found like the schemas. A page needs no
/// network and no file beside it. Tests: tests/tools/report/page_test.cc.
#pragma once

#include <filesystem>
#include <string>

#include "database/base/result.h"
#include "database/text/json.h"

namespace handhold::report {

/// $HANDHOLD_PAGE when set, else where this program was built, else share/handhold/viewer/page.html
/// of the prefix it was installed to. kNotFound names all three.
Result<std::filesystem::path> PageFile();

/// The front end without data, as the server gives it to a browser.
Result<std::string> EmptyPage();

/// The page that shows `data`: {"page": "scene", "scene": ...} (tools/viewer/README.md lists the
/// others). kInvalid when the data cannot be written as JSON; kCorrupt when the front end has no
/// place for it.
Result<std::string> PageWith(const text::Json& data);

/// zlib's form of the bytes; what browsers call "deflate".
std::string Deflate(std::string_view bytes);

}  // namespace handhold::report
