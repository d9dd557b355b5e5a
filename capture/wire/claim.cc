#include "capture/wire/claim.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace handhold::capture::wire {
namespace {

/// Its words, as it was started; at most 80 bytes.
std::string CommandOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}};
  std::replace(words.begin(), words.end(), '\0', ' ');
  while (!words.empty() && words.back() == ' ') words.pop_back();
  if (words.size() > 80) words = words.substr(0, 77) + "...";
  return words;
}

std::string HolderOf(const sockaddr_un& address, socklen_t size) {
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  ucred peer{};
  socklen_t length = sizeof peer;
  if (!probe.valid() ||
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0)
    return "another program";
  if (peer.pid == ::getpid()) return "this program, for another source of its own";
  const std::string command = CommandOf(peer.pid);
  return "process " + std::to_string(peer.pid) + (command.empty() ? "" : " (" + command + ")");
}

}  // namespace

Result<Claim> Claim::Take(std::string_view what) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The first byte stays 0: a name of the kernel's, no file is left behind.
  const std::string name = "handhold " + std::string(what.substr(0, 90));
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  Claim claim;
  claim.fd_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Without such sockets (a sandbox) there is no protection, and recording goes on.
  if (!claim.fd_.valid()) return claim;
  if (::bind(claim.fd_.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    ::listen(claim.fd_.get(), 128);
    return claim;
  }
  if (errno != EADDRINUSE) return claim;
  return Error{ErrorCode::kBusy, HolderOf(address, size) + " uses it, and it serves one at a time"};
}

}  // namespace handhold::capture::wire
