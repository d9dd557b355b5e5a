/// A whole simulated rig: the Vicon server and the Net F/T of one feed on one time base, here or in
/// a process of its own.
///
/// Both servers count from the same host instant, so that a feed's take is played as it happened;
/// each has its own drifting clock, link and fault script. `handhold live simulate` serves one
/// until it is told to stop.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "capture/simulator/net_ft_server.h"
#include "capture/simulator/simulator_feed.h"
#include "capture/simulator/vicon_server.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture {

struct SimulatorHostOptions {
  ViconServerOptions vicon{};
  NetFtServerOptions net_ft{};
  /// From Start to sample 0 of both servers, unless they name a host_start: time for a recorder to
  /// connect.
  Duration lead = Duration::Milliseconds(200);
};

/// Where a rig listens.
struct SimulatorAddresses {
  wire::Address vicon;       ///< port 0: none
  wire::Address net_ft_rdt;  ///< port 0: none
  wire::Address net_ft_http;
  Timestamp host_start;  ///< of index 0, CLOCK_MONOTONIC: one clock for all processes of a machine

  /// One line of JSON for programs and people:
  /// {"host_start_ns":1,"net_ft_http":"127.0.0.1:4","net_ft_rdt":"127.0.0.1:3","vicon":"127.0.0.1:2"}.
  std::string ToNdjson() const;
};

/// In this process, on threads of its own.
class SimulatorHost {
 public:
  /// `feed` must outlive the host. A feed without markers or without force rate gets no such
  /// server.
  static Result<std::unique_ptr<SimulatorHost>> Start(const SimulatorFeed& feed,
                                                      SimulatorHostOptions options);

  const SimulatorAddresses& addresses() const { return addresses_; }
  ViconServer* vicon() { return vicon_.get(); }    ///< may be null
  NetFtServer* net_ft() { return net_ft_.get(); }  ///< may be null

 private:
  SimulatorAddresses addresses_;
  std::unique_ptr<ViconServer> vicon_;
  std::unique_ptr<NetFtServer> net_ft_;
};

/// In a child process: what it does cannot disturb, nor be disturbed by, a recorder here. The child
/// dies with this object and with this process, however that ends.
class SimulatorProcess {
 public:
  /// Forks. Call it before this process starts threads that hold locks; `feed` is the child's by
  /// copy-on-write.
  static Result<std::unique_ptr<SimulatorProcess>> Start(const SimulatorFeed& feed,
                                                         SimulatorHostOptions options);
  ~SimulatorProcess();
  SimulatorProcess(const SimulatorProcess&) = delete;
  SimulatorProcess& operator=(const SimulatorProcess&) = delete;

  const SimulatorAddresses& addresses() const { return addresses_; }
  pid_t pid() const { return pid_; }

 private:
  SimulatorProcess() = default;
  SimulatorAddresses addresses_;
  pid_t pid_ = -1;
  wire::Descriptor control_;  ///< the child ends when this end closes
};

}  // namespace handhold::capture
