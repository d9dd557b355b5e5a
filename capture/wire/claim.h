/// A device that serves one client belongs to one program on this machine: who comes second is told
/// who came first, instead of taking its stream away in the middle of a take.
#pragma once

#include <string_view>

#include "capture/wire/socket.h"
#include "database/base/result.h"

namespace handhold::capture::wire {

/// Held while it lives; the kernel lets go of it when its process dies, however it dies. Seen by
/// programs of one network namespace.
class Claim {
 public:
  Claim() = default;
  /// `what` names the device, at most 90 bytes: "net_ft 192.168.1.1:49152". kBusy names the process
  /// that holds it.
  static Result<Claim> Take(std::string_view what);
  bool held() const { return fd_.valid(); }
  /// Lets the device go before the claim dies; a second call does nothing.
  void Release() { fd_.Close(); }

 private:
  Descriptor fd_;
};

}  // namespace handhold::capture::wire
