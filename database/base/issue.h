/// Findings about one input (a C3D file, a long take): reading goes on, and every finding says
/// where, how bad, and what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace handhold {

enum class Severity {
  kNote,     ///< worth knowing; nothing is lost
  kWarning,  ///< read, but something was guessed or is suspicious
  kLoss,     ///< part of the input could not be kept; exit code 3
};

std::string_view SeverityName(Severity severity);

struct Issue {
  std::string where;  ///< stream, parameter, byte offset or time, as precise as known
  Severity severity = Severity::kNote;
  std::string what;
};

using Issues = std::vector<Issue>;

/// True when any of them is kLoss.
bool AnyLoss(const Issues& issues);

}  // namespace handhold
