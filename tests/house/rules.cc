#include "tests/house/rules.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace handhold::house {
namespace {

bool UnderAny(std::string_view path, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return Under(path, prefix); });
}

bool IsProduct(std::string_view path) { return !Under(path, "tests"); }

bool IsHeader(std::string_view path) { return path.ends_with(".h"); }

std::string WithoutSuffix(std::string_view path) {
  return std::string(path.substr(0, path.rfind('.')));
}

std::string At(const std::string& path, int line) { return path + ":" + std::to_string(line); }

std::string Join(const std::vector<std::string_view>& names) {
  std::string out;
  for (const auto name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

const Layer* LayerOf(std::string_view path) {
  const Layer* best = nullptr;
  for (const Layer& layer : Layers()) {
    if (Under(path, layer.module) && (!best || layer.module.size() > best->module.size())) {
      best = &layer;
    }
  }
  return best;
}

// What `path` leads to in one step.
std::vector<std::string> Uses(const SourceTree& tree, const std::string& path) {
  std::vector<std::string> out;
  for (const Include& include : tree.at(path).includes) {
    if (include.quoted && tree.count(include.path) != 0) out.push_back(include.path);
  }
  if (IsHeader(path)) {
    const std::string source = WithoutSuffix(path) + ".cc";
    if (tree.count(source) != 0) out.push_back(source);
  }
  return out;
}

}  // namespace

std::vector<std::string> CheckLayers(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, file] : tree) {
    if (!IsProduct(path)) continue;
    const Layer* layer = LayerOf(path);
    if (!layer) {
      findings.push_back(path + ": its module has no layer; give it one in tests/house/tables.cc");
      continue;
    }
    for (const Include& include : file.includes) {
      if (!include.quoted) continue;
      if (tree.count(include.path) == 0) {
        findings.push_back(At(path, include.line) + ": \"" + include.path +
                           "\" is no file of the project; write includes from the root");
      } else if (!Under(include.path, layer->module) && !UnderAny(include.path, layer->may_see)) {
        findings.push_back(At(path, include.line) + ": " + std::string(layer->module) +
                           " may not include \"" + include.path +
                           "\"; it may see: " + Join(layer->may_see));
      }
    }
  }
  return findings;
}

std::vector<std::string> CheckFences(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, file] : tree) {
    if (!IsProduct(path)) continue;
    for (const Include& include : file.includes) {
      for (const Fence& fence : Fences()) {
        if (!UnderAny(include.path, fence.headers) || UnderAny(path, fence.allowed_in)) continue;
        findings.push_back(
            At(path, include.line) + ": " + std::string(fence.what) + " (" + include.path +
            ") only in " +
            (fence.allowed_in.empty() ? std::string("tests") : Join(fence.allowed_in)));
      }
    }
  }
  return findings;
}

std::vector<std::string> CheckIndependence(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const Independence& rule : Independences()) {
    std::map<std::string, std::string> reached_from;  // breadth first: the chain shown is a
                                                      // shortest
    std::deque<std::string> queue;
    for (const auto& [path, file] : tree) {
      if (UnderAny(path, rule.from) && reached_from.emplace(path, "").second) queue.push_back(path);
    }
    while (!queue.empty()) {
      const std::string path = queue.front();
      queue.pop_front();
      if (UnderAny(path, rule.never) || UnderAny(WithoutSuffix(path), rule.never)) {
        std::string chain = path;
        for (std::string at = reached_from[path]; !at.empty(); at = reached_from[at]) {
          chain = at + " -> " + chain;
        }
        findings.push_back(std::string(rule.name) + ": " + chain);
        continue;
      }
      for (const std::string& next : Uses(tree, path)) {
        if (reached_from.emplace(next, path).second) queue.push_back(next);
      }
    }
  }
  return findings;
}

std::vector<std::string> CheckHeaders(const SourceTree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, file] : tree) {
    if (IsHeader(path)) {
      if (file.text.find("\n#pragma once\n") == std::string::npos) {
        findings.push_back(path + ": no #pragma once");
      }
      if (!file.text.starts_with("/// ")) {
        findings.push_back(path + ": does not begin with a /// sentence that says what it is for");
      }
      continue;
    }
    const std::string header = WithoutSuffix(path) + ".h";
    if (path.ends_with(".cc") && tree.count(header) != 0 &&
        (file.includes.empty() || file.includes[0].path != header)) {
      findings.push_back(path + ": does not include \"" + header + "\" first");
    }
  }
  return findings;
}

std::vector<std::string> HeadersWithoutSource(const SourceTree& tree) {
  std::vector<std::string> headers;
  for (const auto& [path, file] : tree) {
    if (IsProduct(path) && IsHeader(path) && tree.count(WithoutSuffix(path) + ".cc") == 0) {
      headers.push_back(path);
    }
  }
  return headers;
}

}  // namespace handhold::house
