#include "tests/house/source_tree.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace handhold::house {
namespace {

// Blanks comments out, keeping line ends. String literals are left alone: an include path is one.
std::string WithoutComments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  enum class In { kCode, kLine, kBlock, kString } in = In::kCode;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    switch (in) {
      case In::kCode:
        if (c == '/' && next == '/') {
          in = In::kLine;
        } else if (c == '/' && next == '*') {
          in = In::kBlock;
        } else {
          if (c == '"') in = In::kString;
          out += c;
        }
        break;
      case In::kLine:
        if (c == '\n') {
          in = In::kCode;
          out += c;
        }
        break;
      case In::kBlock:
        if (c == '\n') out += c;
        if (c == '*' && next == '/') {
          in = In::kCode;
          ++i;
        }
        break;
      case In::kString:
        out += c;
        if (c == '\\' && next != '\0') {
          out += next;
          ++i;
        } else if (c == '"' || c == '\n') {
          in = In::kCode;
        }
        break;
    }
  }
  return out;
}

std::string_view TrimLeft(std::string_view s) {
  const std::size_t at = s.find_first_not_of(" \t");
  return at == std::string_view::npos ? std::string_view{} : s.substr(at);
}

}  // namespace

std::vector<Include> ParseIncludes(std::string_view text) {
  std::vector<Include> includes;
  std::istringstream lines(WithoutComments(text));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::string_view rest = TrimLeft(line);
    if (rest.empty() || rest.front() != '#') continue;
    rest = TrimLeft(rest.substr(1));
    if (!rest.starts_with("include")) continue;
    rest = TrimLeft(rest.substr(7));
    if (rest.empty() || (rest.front() != '"' && rest.front() != '<')) continue;
    const bool quoted = rest.front() == '"';
    const std::size_t end = rest.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos) continue;
    includes.push_back({number, std::string(rest.substr(1, end - 1)), quoted});
  }
  return includes;
}

void AddFile(SourceTree& tree, std::string path, std::string text) {
  SourceFile file;
  file.includes = ParseIncludes(text);
  file.text = std::move(text);
  tree[std::move(path)] = std::move(file);
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in.good()) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

SourceTree LoadTree(const std::string& root) {
  namespace fs = std::filesystem;
  SourceTree tree;
  for (const char* top : {"database", "capture", "fitting", "synthesis", "tools", "tests"}) {
    if (!fs::is_directory(fs::path(root) / top)) {
      throw std::runtime_error(root + " has no folder " + top);
    }
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / top)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file()) continue;
      if (extension != ".h" && extension != ".cc" && extension != ".inc") continue;
      AddFile(tree, fs::relative(entry.path(), root).generic_string(),
              ReadText(entry.path().string()));
    }
  }
  return tree;
}

bool Under(std::string_view path, std::string_view prefix) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace handhold::house
