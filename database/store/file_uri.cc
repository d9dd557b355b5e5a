#include "database/store/file_uri.h"

namespace handhold::store {

std::string FileUri(const std::string& path, std::string_view query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  // Two slashes begin an authority: an empty one, and then the path.
  std::string uri = path.starts_with("//") ? "file://" : "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += '%';
      uri += kHex[static_cast<unsigned char>(c) >> 4];
      uri += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      uri += c;
    }
  }
  uri += '?';
  return uri.append(query);
}

}  // namespace handhold::store
