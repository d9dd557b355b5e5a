#include "database/base/issue.h"

#include <algorithm>

namespace handhold {

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kLoss:
      return "loss";
  }
  return "unknown";
}

bool AnyLoss(const Issues& issues) {
  return std::any_of(issues.begin(), issues.end(),
                     [](const Issue& i) { return i.severity == Severity::kLoss; });
}

}  // namespace handhold
