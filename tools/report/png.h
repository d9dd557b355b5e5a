/// Pictures in memory, as PNG bytes and as data URIs. The only place with zlib.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace handhold::report {

/// Rows from the top, pixels from the left, four bytes each: sRGB and straight (not premultiplied)
/// alpha.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> rgba;
  bool empty() const { return rgba.empty(); }
};

/// A PNG file (8 bit, RGBA). Precondition: rgba.size() == 4 width height, both >= 1.
std::string EncodePng(const Image& image);
std::string Base64(std::string_view bytes);

}  // namespace handhold::report
