#include "database/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace handhold {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kVersion:
      return "version";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kNotConverged:
      return "not converged";
    case ErrorCode::kUnidentifiable:
      return "unidentifiable";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

void AbortOnBadResult(const Error& error) {
  std::fprintf(stderr, "handhold: value() of a failed Result: %s: %s\n",
               std::string(ErrorCodeName(error.code)).c_str(), error.message.c_str());
  std::abort();
}

}  // namespace handhold
