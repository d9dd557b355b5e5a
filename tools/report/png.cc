#include "tools/report/png.h"

#include <zlib.h>

#include <cstdlib>

#include "database/base/check.h"

namespace handhold::report {
namespace {

void AppendBigEndian(std::string* out, uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out->push_back(static_cast<char>((v >> shift) & 255));
}

void AppendChunk(std::string* out, std::string_view type, std::string_view data) {
  AppendBigEndian(out, static_cast<uint32_t>(data.size()));
  const size_t begin = out->size();
  *out += type;
  *out += data;
  const auto* bytes = reinterpret_cast<const Bytef*>(out->data() + begin);
  AppendBigEndian(out,
                  static_cast<uint32_t>(crc32(0, bytes, static_cast<uInt>(out->size() - begin))));
}

uint8_t Paeth(int left, int up, int corner) {
  const int p = left + up - corner;
  const int a = std::abs(p - left), b = std::abs(p - up), c = std::abs(p - corner);
  return static_cast<uint8_t>(a <= b && a <= c ? left : b <= c ? up : corner);
}

}  // namespace

std::string EncodePng(const Image& image) {
  CHECK(image.width >= 1 && image.height >= 1);
  const size_t stride = 4 * static_cast<size_t>(image.width);
  CHECK_EQ(image.rgba.size(), stride * static_cast<size_t>(image.height));
  std::string rows;  // each with filter 4 (Paeth): smooth shading leaves small differences
  rows.reserve(image.rgba.size() + static_cast<size_t>(image.height));
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    rows.push_back(4);
    const uint8_t* row = image.rgba.data() + y * stride;
    const uint8_t* above = y > 0 ? row - stride : nullptr;
    for (size_t x = 0; x < stride; ++x) {
      const int left = x >= 4 ? row[x - 4] : 0, up = above ? above[x] : 0;
      const int corner = above && x >= 4 ? above[x - 4] : 0;
      rows.push_back(static_cast<char>(row[x] - Paeth(left, up, corner)));
    }
  }
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  CHECK_EQ(
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()), 9),
      Z_OK);
  packed.resize(size);

  std::string out("\x89PNG\r\n\x1a\n", 8);
  std::string header;
  AppendBigEndian(&header, static_cast<uint32_t>(image.width));
  AppendBigEndian(&header, static_cast<uint32_t>(image.height));
  header += std::string("\x08\x06\x00\x00\x00", 5);  // 8 bit, RGBA, deflate, filters, not
                                                     // interlaced
  AppendChunk(&out, "IHDR", header);
  AppendChunk(&out, "IDAT", packed);
  AppendChunk(&out, "IEND", "");
  return out;
}

std::string Base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out.push_back(i + k <= bytes.size() ? kDigits[(group >> (18 - 6 * k)) & 63] : '=');
    }
  }
  return out;
}

}  // namespace handhold::report
