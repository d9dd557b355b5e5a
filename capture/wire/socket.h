/// IPv4 sockets whose every wait has a deadline: TCP client and server, UDP with the kernel's drop
/// counter.
///
/// Calls return Result where a person reads the outcome (opening, connecting) and a
/// plain enum on the sample path, which neither allocates nor throws. One thread per object;
/// nothing here locks. Descriptors are non-blocking and close-on-exec. A `deadline` is host time
/// (CLOCK_MONOTONIC, HostNow()); one that has passed polls once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "capture/wire/stamp_clock.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture::wire {

/// Where a socket is, or its peer. A value; says nothing of whether anybody is there.
struct Address {
  uint32_t ipv4 = 0;  ///< as a number: 127.0.0.1 is 0x7f000001
  uint16_t port = 0;

  static Address Loopback(uint16_t port) { return {0x7f000001, port}; }
  std::string ToString() const;  ///< "192.168.1.1:49152"
  bool operator==(const Address&) const = default;
};

/// Owns a descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

enum class IoStatus {
  kOk,       ///< `bytes` is what was asked for, or at least one byte of a Read
  kTimeout,  ///< the deadline passed
  kClosed,   ///< the peer closed, or nobody listens there
  kError,    ///< the operating system refused: errno holds why
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  size_t bytes = 0;
};

/// A TCP connection, no-delay.
class TcpStream {
 public:
  TcpStream() = default;
  explicit TcpStream(Descriptor fd) : fd_(std::move(fd)) {}
  /// The error names the address and the system's reason; an unanswered one fails at `deadline`.
  static Result<TcpStream> Connect(const Address& address, Timestamp deadline);

  /// Reads at least one byte, at most buffer.size().
  IoResult Read(std::span<uint8_t> buffer, Timestamp deadline);
  /// Writes everything, or says how much was written when it could not.
  IoResult Write(std::span<const uint8_t> bytes, Timestamp deadline);
  bool valid() const { return fd_.valid(); }
  void Close() { fd_.Close(); }
  /// Who is at the other end; 0.0.0.0 when that is not known (any more).
  Address Peer() const;
  /// Sends a reset instead of an orderly end, as a crashing program's kernel may.
  void Abort();

 private:
  friend void WaitForAny(const class TcpListener& listener,
                         std::span<const TcpStream* const> streams, Timestamp deadline);
  Descriptor fd_;
};

/// A port that TCP clients come to, of whom eight may wait for Accept.
class TcpListener {
 public:
  TcpListener() = default;
  /// Port 0 takes a free one.
  static Result<TcpListener> Listen(const Address& address);

  /// kTimeout leaves `stream` alone.
  IoStatus Accept(Timestamp deadline, TcpStream* stream);
  const Address& address() const { return address_; }
  bool valid() const { return fd_.valid(); }
  void Close() { fd_.Close(); }

 private:
  friend void WaitForAny(const TcpListener& listener, std::span<const TcpStream* const> streams,
                         Timestamp deadline);
  Descriptor fd_;
  Address address_;
};

/// Until a client comes to the listener, a stream has something to read or is over, or `deadline`.
void WaitForAny(const TcpListener& listener, std::span<const TcpStream* const> streams,
                Timestamp deadline);

/// One received datagram.
struct Datagram {
  size_t bytes = 0;
  bool truncated = false;  ///< longer than the buffer: the rest is lost
  Address from;
  Timestamp host_receive;     ///< when the kernel took it in, on CLOCK_MONOTONIC: free of our
                              ///< scheduling
  uint32_t kernel_drops = 0;  ///< datagrams this socket has lost for want of buffer since it was
                              ///< opened (SO_RXQ_OVFL)
};

/// Datagrams: whole or not at all, in any order, perhaps twice. What the buffer cannot hold is
/// dropped by the kernel and counted (Datagram::kernel_drops).
class UdpSocket {
 public:
  UdpSocket() = default;
  /// Port 0 takes a free one.
  static Result<UdpSocket> Bind(const Address& address);
  /// Only datagrams of `peer` are received from now on, and Send goes there.
  Status Connect(const Address& peer);
  /// Asks for a receive buffer and returns what the kernel granted, in the same bytes: less than
  /// asked where net.core.rmem_max holds, which it does not with the privilege to pass it.
  int64_t SetReceiveBuffer(int64_t bytes);

  /// kClosed: the peer's machine says that nobody listens.
  IoStatus Receive(std::span<uint8_t> buffer, Timestamp deadline, Datagram* datagram);
  /// To the peer of Connect. Never waits: kError with errno EAGAIN when the system's send buffer is
  /// full, and then nothing was sent.
  IoStatus Send(std::span<const uint8_t> bytes);
  IoStatus SendTo(const Address& to, std::span<const uint8_t> bytes);
  const Address& address() const { return address_; }
  bool valid() const { return fd_.valid(); }
  void Close() { fd_.Close(); }

 private:
  Descriptor fd_;
  Address address_;
  StampClock stamps_;
};

/// Sleeps until `host`, or less when a signal comes.
void SleepUntil(Timestamp host);

}  // namespace handhold::capture::wire
