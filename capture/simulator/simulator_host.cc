#include "capture/simulator/simulator_host.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace handhold::capture {
namespace {

/// What the child sends once its servers listen, or why they do not. Plain bytes through a pipe, in
/// one write.
struct Report {
  bool ok = false;
  SimulatorAddresses addresses;
  std::array<char, 256> error{};
};

bool ReadAll(int fd, void* out, size_t size) {
  auto* at = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

[[noreturn]] void ServeAsChild(const SimulatorFeed& feed, SimulatorHostOptions options,
                               int report_fd, int control_fd, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before the line above
  Report report;
  auto host = SimulatorHost::Start(feed, std::move(options));
  report.ok = host.has_value();
  if (host) {
    report.addresses = (*host)->addresses();
  } else {
    std::strncpy(report.error.data(), host.error().message.c_str(), report.error.size() - 1);
  }
  const bool told =
      ::write(report_fd, &report, sizeof report) == static_cast<ssize_t>(sizeof report);
  char none = 0;
  while (told && host && ::read(control_fd, &none, 1) < 0 && errno == EINTR) {
  }
  ::_exit(0);  // not exit: what the parent had opened or registered is the parent's to close
}

}  // namespace

std::string SimulatorAddresses::ToNdjson() const {
  std::string out = "{\"host_start_ns\":" + std::to_string(host_start.ns());
  const auto add = [&](std::string_view name, const wire::Address& address) {
    if (address.port != 0) out += ",\"" + std::string(name) + "\":\"" + address.ToString() + "\"";
  };
  add("net_ft_http", net_ft_http);
  add("net_ft_rdt", net_ft_rdt);
  add("vicon", vicon);
  return out + "}\n";
}

Result<std::unique_ptr<SimulatorHost>> SimulatorHost::Start(const SimulatorFeed& feed,
                                                            SimulatorHostOptions options) {
  auto host = std::make_unique<SimulatorHost>();
  const Timestamp start = HostNow() + options.lead;
  if (options.vicon.host_start == Timestamp()) options.vicon.host_start = start;
  if (options.net_ft.host_start == Timestamp()) options.net_ft.host_start = start;
  host->addresses_.host_start = options.vicon.host_start;
  if (feed.frame_count() > 0) {
    HANDHOLD_ASSIGN(host->vicon_, ViconServer::Start(feed, std::move(options.vicon)));
    host->addresses_.vicon = host->vicon_->address();
  }
  if (feed.force_rate_hz() > 0 && feed.force_count() > 0) {
    HANDHOLD_ASSIGN(host->net_ft_, NetFtServer::Start(feed, std::move(options.net_ft)));
    host->addresses_.net_ft_rdt = host->net_ft_->udp_address();
    host->addresses_.net_ft_http = host->net_ft_->http_address();
  }
  return host;
}

Result<std::unique_ptr<SimulatorProcess>> SimulatorProcess::Start(const SimulatorFeed& feed,
                                                                  SimulatorHostOptions options) {
  std::array<int, 2> report{}, control{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kIo,
                 std::string("cannot make a pipe to the simulator: ") + std::strerror(errno)};
  }
  const wire::Descriptor report_read(report[0]);
  wire::Descriptor report_write(report[1]);
  if (::pipe2(control.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::kIo,
                 std::string("cannot make a pipe to the simulator: ") + std::strerror(errno)};
  }
  wire::Descriptor control_read(control[0]);
  std::unique_ptr<SimulatorProcess> process(new SimulatorProcess);
  process->control_ = wire::Descriptor(control[1]);
  const pid_t parent = ::getpid();
  process->pid_ = ::fork();
  if (process->pid_ < 0)
    return Error{ErrorCode::kIo, std::string("cannot fork the simulator: ") + std::strerror(errno)};
  if (process->pid_ == 0) {
    process->control_.Close();
    ServeAsChild(feed, std::move(options), report_write.get(), control_read.get(), parent);
  }
  report_write.Close();
  control_read.Close();
  Report got;
  if (!ReadAll(report_read.get(), &got, sizeof got)) {
    return Error{ErrorCode::kIo, "the simulator's process ended before it listened"};
  }
  if (!got.ok) return Error{ErrorCode::kIo, std::string("simulator: ") + got.error.data()};
  process->addresses_ = got.addresses;
  return process;
}

SimulatorProcess::~SimulatorProcess() {
  if (pid_ <= 0) return;
  control_.Close();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace handhold::capture
