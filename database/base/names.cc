#include "database/base/names.h"

#include <algorithm>
#include <optional>

namespace handhold {
namespace {

constexpr size_t kLongestName = 256;
constexpr size_t kMostListed = 12;

std::string Folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ') c = '_';
  }
  return out;
}

/// Rank of a near candidate (smaller is nearer), nothing when it is not near.
std::optional<size_t> Rank(std::string_view name, std::string_view candidate) {
  if (candidate.size() > kLongestName) return std::nullopt;
  const std::string a = Folded(name), b = Folded(candidate);
  if (a == b) return 0;
  const size_t longer = std::max(a.size(), b.size());
  const size_t allowed = std::clamp<size_t>(longer / 3, 1, 2);
  const size_t distance = EditDistance(a, b);
  if (distance <= allowed && distance < longer) return distance;
  const size_t shorter = std::min(a.size(), b.size());
  if (shorter >= 3 && a.compare(0, shorter, b, 0, shorter) == 0) return 3;
  return std::nullopt;
}

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::vector<std::string> NearestNames(std::string_view name,
                                      std::span<const std::string> candidates, size_t count) {
  if (name.empty() || name.size() > kLongestName) return {};
  std::vector<std::pair<size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    if (const auto rank = Rank(name, candidate)) near.emplace_back(*rank, &candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (size_t i = 0; i < near.size() && i < count; ++i) out.push_back(*near[i].second);
  return out;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string> near = NearestNames(name, candidates);
  std::string out;
  if (!near.empty()) {
    out = ": did you mean '" + near.front() + "'";
    for (size_t i = 1; i < near.size(); ++i)
      out += (i + 1 == near.size() ? " or '" : ", '") + near[i] + "'";
    return out + "?";
  }
  const size_t listed = std::min(candidates.size(), kMostListed);
  for (size_t i = 0; i < listed; ++i)
    out += (i == 0 ? ": known are '" : ", '") + candidates[i] + "'";
  if (listed < candidates.size())
    out += " and " + std::to_string(candidates.size() - listed) + " more";
  return out;
}

}  // namespace handhold
