#include "capture/wire/cancel.h"

#include "database/base/check.h"

namespace handhold::capture::wire {
namespace {

constinit std::atomic<bool> never{false};
thread_local const std::atomic<bool>* flag_of_this_thread = nullptr;

}  // namespace

CancelScope::CancelScope(const std::atomic<bool>& flag) {
  CHECK(flag_of_this_thread == nullptr);
  flag_of_this_thread = &flag;
}

CancelScope::~CancelScope() { flag_of_this_thread = nullptr; }

const std::atomic<bool>& CancelFlag() {
  return flag_of_this_thread != nullptr ? *flag_of_this_thread : never;
}

}  // namespace handhold::capture::wire
