#include "capture/wire/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "capture/wire/cancel.h"

namespace handhold::capture::wire {
namespace {

sockaddr_in ToSockaddr(const Address& address) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(address.ipv4);
  out.sin_port = htons(address.port);
  return out;
}

Address FromSockaddr(const sockaddr_in& in) {
  return {ntohl(in.sin_addr.s_addr), ntohs(in.sin_port)};
}

Error Refused(std::string_view what, const Address& address, int error) {
  return {ErrorCode::kIo,
          std::string(what) + " " + address.ToString() + ": " + std::strerror(error)};
}

/// Waits for `events`; false when the deadline passed first, or the thread's CancelFlag is set.
bool WaitFor(int fd, short events, Timestamp deadline) {
  const std::atomic<bool>& cancelled = CancelFlag();
  for (;;) {
    if (cancelled) return false;
    const Duration all = deadline - HostNow();
    const Duration left = std::min(all, kCancelPeriod);
    timespec wait{};
    if (left > Duration()) {
      wait.tv_sec = left.ns() / 1'000'000'000;
      wait.tv_nsec = left.ns() % 1'000'000'000;
    }
    pollfd poll_fd{fd, events, 0};
    const int ready = ppoll(&poll_fd, 1, &wait, nullptr);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (all <= kCancelPeriod && ready == 0) return false;
    if (all <= Duration()) return false;
  }
}

Result<Descriptor> Open(int type, const Address& address) {
  Descriptor fd(::socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Refused("cannot open a socket for", address, errno);
  return fd;
}

Result<Address> BindTo(const Descriptor& fd, const Address& address) {
  sockaddr_in where = ToSockaddr(address);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    return Refused("cannot bind", address, errno);
  }
  socklen_t size = sizeof where;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    return Refused("cannot read back the port of", address, errno);
  }
  return FromSockaddr(where);
}

void SetOption(const Descriptor& fd, int level, int option, int value) {
  ::setsockopt(fd.get(), level, option, &value, sizeof value);
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

int64_t Nanoseconds(const timespec& t) { return t.tv_sec * 1'000'000'000LL + t.tv_nsec; }

}  // namespace

std::string Address::ToString() const {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += std::to_string((ipv4 >> shift) & 0xff);
    out += shift > 0 ? '.' : ':';
  }
  return out + std::to_string(port);
}

void Descriptor::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<TcpStream> TcpStream::Connect(const Address& address, Timestamp deadline) {
  HANDHOLD_ASSIGN(Descriptor fd, Open(SOCK_STREAM, address));
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  sockaddr_in where = ToSockaddr(address);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    if (errno != EINPROGRESS) return Refused("cannot connect to", address, errno);
    if (!WaitFor(fd.get(), POLLOUT, deadline)) {
      return Error{ErrorCode::kTimeout, "no answer from " + address.ToString() +
                                            ": is it switched on and in this network?"};
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Refused("cannot connect to", address, error);
  }
  return TcpStream(std::move(fd));
}

IoResult TcpStream::Read(std::span<uint8_t> buffer, Timestamp deadline) {
  for (;;) {
    const ssize_t n = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n > 0) return {IoStatus::kOk, static_cast<size_t>(n)};
    if (n == 0) return {IoStatus::kClosed, 0};
    if (errno == ECONNRESET) return {IoStatus::kClosed, 0};
    if (!WouldBlock(errno)) return {IoStatus::kError, 0};
    if (!WaitFor(fd_.get(), POLLIN, deadline)) return {IoStatus::kTimeout, 0};
  }
}

IoResult TcpStream::Write(std::span<const uint8_t> bytes, Timestamp deadline) {
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n =
        ::send(fd_.get(), bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (n > 0) {
      written += static_cast<size_t>(n);
    } else if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      return {IoStatus::kClosed, written};
    } else if (n < 0 && !WouldBlock(errno)) {
      return {IoStatus::kError, written};
    } else if (!WaitFor(fd_.get(), POLLOUT, deadline)) {
      return {IoStatus::kTimeout, written};
    }
  }
  return {IoStatus::kOk, written};
}

void TcpStream::Abort() {
  if (!fd_.valid()) return;
  const linger at_once{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  fd_.Close();
}

Result<TcpListener> TcpListener::Listen(const Address& address) {
  TcpListener listener;
  HANDHOLD_ASSIGN(listener.fd_, Open(SOCK_STREAM, address));
  SetOption(listener.fd_, SOL_SOCKET, SO_REUSEADDR, 1);
  HANDHOLD_ASSIGN(listener.address_, BindTo(listener.fd_, address));
  if (::listen(listener.fd_.get(), 8) != 0) return Refused("cannot listen on", address, errno);
  return listener;
}

IoStatus TcpListener::Accept(Timestamp deadline, TcpStream* stream) {
  for (;;) {
    Descriptor fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.valid()) {
      SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
      *stream = TcpStream(std::move(fd));
      return IoStatus::kOk;
    }
    if (!WouldBlock(errno) && errno != ECONNABORTED) return IoStatus::kError;
    if (!WaitFor(fd_.get(), POLLIN, deadline)) return IoStatus::kTimeout;
  }
}

Address TcpStream::Peer() const {
  sockaddr_in peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(fd_.get(), reinterpret_cast<sockaddr*>(&peer), &length) != 0 ||
      peer.sin_family != AF_INET)
    return {};
  return {ntohl(peer.sin_addr.s_addr), ntohs(peer.sin_port)};
}

void WaitForAny(const TcpListener& listener, std::span<const TcpStream* const> streams,
                Timestamp deadline) {
  std::vector<pollfd> polled = {{listener.fd_.get(), POLLIN, 0}};
  for (const TcpStream* stream : streams) polled.push_back({stream->fd_.get(), POLLIN, 0});
  const int64_t left_ms = (deadline - HostNow()).ns() / 1'000'000;
  (void)::poll(polled.data(), polled.size(),
               static_cast<int>(std::clamp<int64_t>(left_ms, 0, 60'000)));
}

Result<UdpSocket> UdpSocket::Bind(const Address& address) {
  UdpSocket socket;
  HANDHOLD_ASSIGN(socket.fd_, Open(SOCK_DGRAM, address));
  SetOption(socket.fd_, SOL_SOCKET, SO_RXQ_OVFL, 1);
  SetOption(socket.fd_, SOL_SOCKET, SO_TIMESTAMPNS, 1);
  HANDHOLD_ASSIGN(socket.address_, BindTo(socket.fd_, address));
  return socket;
}

Status UdpSocket::Connect(const Address& peer) {
  sockaddr_in where = ToSockaddr(peer);
  if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    return Refused("cannot address", peer, errno);
  }
  return {};
}

int64_t UdpSocket::SetReceiveBuffer(int64_t bytes) {
  const int asked = static_cast<int>(std::clamp<int64_t>(bytes, 1, 1 << 30));
  if (::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &asked, sizeof asked) != 0) {
    SetOption(fd_, SOL_SOCKET, SO_RCVBUF, asked);
  }
  int granted = 0;
  socklen_t size = sizeof granted;
  ::getsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &granted, &size);
  return granted / 2;  // Linux says twice what it grants (socket(7))
}

IoStatus UdpSocket::Receive(std::span<uint8_t> buffer, Timestamp deadline, Datagram* datagram) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(uint32_t))];
  sockaddr_in from{};
  for (;;) {
    iovec io{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = ::recvmsg(fd_.get(), &message, 0);
    if (n >= 0) {
      datagram->bytes = static_cast<size_t>(n);
      datagram->truncated = (message.msg_flags & MSG_TRUNC) != 0;
      datagram->from = FromSockaddr(from);
      bool stamped = false;
      // The drop counter comes only once something was dropped: until then the caller's last value
      // stands.
      for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET) continue;
        if (c->cmsg_type == SO_RXQ_OVFL)
          std::memcpy(&datagram->kernel_drops, CMSG_DATA(c), sizeof(uint32_t));
        if (c->cmsg_type == SCM_TIMESTAMPNS) {
          timespec stamp{};
          std::memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
          timespec real{};
          ::clock_gettime(CLOCK_REALTIME, &real);
          datagram->host_receive =
              stamps_.MonotonicOf(Nanoseconds(stamp), Nanoseconds(real), HostNow());
          stamped = true;
        }
      }
      if (!stamped) datagram->host_receive = HostNow();
      return IoStatus::kOk;
    }
    if (errno == ECONNREFUSED) return IoStatus::kClosed;
    if (!WouldBlock(errno)) return IoStatus::kError;
    if (!WaitFor(fd_.get(), POLLIN, deadline)) return IoStatus::kTimeout;
  }
}

IoStatus UdpSocket::Send(std::span<const uint8_t> bytes) {
  const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (n == static_cast<ssize_t>(bytes.size())) return IoStatus::kOk;
  return errno == ECONNREFUSED ? IoStatus::kClosed : IoStatus::kError;
}

IoStatus UdpSocket::SendTo(const Address& to, std::span<const uint8_t> bytes) {
  const sockaddr_in where = ToSockaddr(to);
  const ssize_t n = ::sendto(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&where), sizeof where);
  if (n == static_cast<ssize_t>(bytes.size())) return IoStatus::kOk;
  return errno == ECONNREFUSED ? IoStatus::kClosed : IoStatus::kError;
}

void SleepUntil(Timestamp host) {
  const timespec until{host.ns() / 1'000'000'000, host.ns() % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace handhold::capture::wire
