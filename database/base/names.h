/// Things by their names, and the nearest valid name to a mistyped one, for every message of the
/// form "unknown X: did you mean Y?".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handhold {

/// Edits that turn `a` into `b`: insertion, deletion, substitution, or swap of two neighbours, each
/// counted 1 (optimal string alignment). Bytes, not code points; upper and lower case differ. Cost:
/// |a| x |b|, three rows of memory.
size_t EditDistance(std::string_view a, std::string_view b);

/// Up to `count` of `candidates`, nearest first, ties in the order given. A candidate is near when
/// it differs by at most 2 edits and by at most a third of the longer name (at least 1), when it
/// differs only in case or in '-' against '_', or when one begins with the other and that is at
/// least 3 characters long. Names over 256 bytes are near to nothing.
std::vector<std::string> NearestNames(std::string_view name,
                                      std::span<const std::string> candidates, size_t count = 3);

/// What to append to "unknown key 'mas_kg'": ": did you mean 'mass_kg'?" when one or more are near,
/// else
/// ": known are 'a', 'b', 'c'" (at most 12, then "and N more"), or "" when there are no candidates.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates);

/// The one of this name; null: there is none.
template <typename T>
const T* FindNamed(const std::vector<T>& list, std::string_view name) {
  for (const T& one : list)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace handhold
