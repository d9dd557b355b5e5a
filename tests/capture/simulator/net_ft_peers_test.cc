// Clients that others wrote read our Net F/T server: two ends by one author could share a
// misreading. They come from PyPI (tools/setup, python_table) and are skipped, saying so, where
// they are not installed.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "capture/simulator/net_ft_server.h"
#include "capture/simulator/pattern_feed.h"
#include "tests/support/paths.h"

namespace handhold::capture::net_ft_peers_test {
namespace {

const std::string kPython = support::Prefix() + "/oracles/python/bin/python";

struct Outcome {
  int exit_code = -1;
  std::string text;
  std::map<std::string, double> values;  ///< from lines "name value"
};

Outcome RunPython(const std::string& script) {
  const std::string path =
      ::testing::TempDir() + "net_ft_peer_" + std::to_string(::getpid()) + ".py";
  {
    FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(script.c_str(), file);
    std::fclose(file);
  }
  Outcome outcome;
  FILE* pipe = ::popen(("timeout 100 " + kPython + " -I " + path + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.text += buffer.data();
  outcome.exit_code = WEXITSTATUS(::pclose(pipe));
  std::filesystem::remove(path);
  std::istringstream lines(outcome.text);
  std::string name;
  double value = 0;
  while (lines >> name >> value) outcome.values[name] = value;
  return outcome;
}

bool Has(const std::string& module) { return RunPython("import " + module + "\n").exit_code == 0; }

TEST(NetFtPeers, PypiNetFtReadsTheServer) {
  if (!Has("NetFT")) GTEST_SKIP() << "PyPI NetFT is not in " << kPython << ": run tools/setup";
  PatternOptions pattern;
  pattern.force_rate_hz = 1000.0;
  const PatternFeed feed(pattern);
  // The client knows one port only; an address of loopback's own keeps it out of anyone's way.
  NetFtServerOptions options;
  options.udp = {0x7f000009, wire::rdt::kPort};
  auto server = NetFtServer::Start(feed, options);
  if (!server) GTEST_SKIP() << server.error().message;
  const Outcome outcome = RunPython(R"(
import NetFT
sensor = NetFT.Sensor('127.0.0.9')
one = sensor.getMeasurement()
print('single_fz', one[2])
print('single_step', one[5] - one[0])
sensor.getMeasurements(0)
good = 0
for _ in range(500):
    fx, fy, fz, tx, ty, tz = sensor.receive()
    good += (fy - fx, fz - fx, tx - fx, ty - fx, tz - fx) == (1e6, 2e6, 3e6, 4e6, 5e6) and 1e6 <= fx < 2e6
print('good', good)
sensor.stopStreaming()
)");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
  EXPECT_EQ(outcome.values.at("good"), 500) << outcome.text;
  EXPECT_EQ(outcome.values.at("single_step"), 5e6);
  EXPECT_GE(outcome.values.at("single_fz"), 3e6);
  EXPECT_LT(outcome.values.at("single_fz"), 4e6);
  EXPECT_EQ((*server)->stats().bad_requests, 0);
}

TEST(NetFtPeers, PypiPynetftDiscoversReadsAndCountsOurLosses) {
  if (!Has("pynetft")) GTEST_SKIP() << "PyPI pynetft is not in " << kPython << ": run tools/setup";
  PatternOptions pattern;
  pattern.force_rate_hz = 1000.0;
  const PatternFeed feed(pattern);
  NetFtServerOptions options;
  options.counts_per_N = 1000.0;
  options.counts_per_Nm = 100000.0;
  options.host_start = HostNow();
  // Every second from the 2nd on 3 datagrams are lost and 2 come twice: the client's own rules must
  // count them so.
  for (int s = 2; s < 60; ++s) {
    options.faults.push_back(
        {.kind = FaultKind::kLose, .at = Duration::Seconds(s), .length = {}, .count = 3});
    options.faults.push_back({.kind = FaultKind::kDuplicate,
                              .at = Duration::FromSeconds(s + 0.5),
                              .length = {},
                              .count = 2});
  }
  // The peer asks for no large socket buffer: on a busy machine its kernel drops some, which is no
  // loss of ours. Losses that the script does not hold would show in every try.
  Outcome outcome;
  for (int tries = 0; tries < 3; ++tries) {
    auto server = *NetFtServer::Start(feed, options);
    outcome = RunPython(R"(
import pynetft
config = pynetft.Config(sensor_host='127.0.0.1', rdt_port=)" +
                        std::to_string(server->udp_address().port) +
                        ", http_port=" + std::to_string(server->http_address().port) + R"()
client = pynetft.Client(config, queue_size=10000)
client.start()
good = total = lost = 0
last = None
for sample in client.samples(timeout=20.0):
    total += 1
    w = sample.wrench
    good += all(abs(w[k] - w[0] - k) < 2e-3 for k in range(6)) and 0.999 <= w[0] < 2.0
    if last is not None: lost += sample.rdt_sequence - last - 1
    last = sample.rdt_sequence
    if total >= 3000: break
health = client.health()
client.stop()
print('total', total)
print('good', good)
print('gaps_seen', lost)
print('lost', health.lost_count)
print('duplicates', health.duplicate_count)
print('out_of_order', health.out_of_order_count)
print('malformed', health.malformed_count)
print('ft_backward', health.ft_backward_count)
print('reconnects', health.reconnect_count)
)");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text;
    if (static_cast<int>(outcome.values.at("gaps_seen")) % 3 == 0) break;
  }
  const auto value = [&](const char* name) { return outcome.values.at(name); };
  EXPECT_EQ(value("total"), 3000) << outcome.text;
  EXPECT_EQ(value("good"), 3000) << outcome.text;
  EXPECT_EQ(value("malformed"), 0);
  EXPECT_EQ(value("ft_backward"), 0);
  EXPECT_EQ(value("out_of_order"), 0);
  EXPECT_EQ(value("reconnects"), 0) << outcome.text;
  // 3000 samples span three seconds of the script; the client may have gone on receiving past the
  // last one we took.
  EXPECT_GE(value("gaps_seen"), 6);
  EXPECT_EQ(static_cast<int>(value("gaps_seen")) % 3, 0);
  EXPECT_GE(value("lost"), value("gaps_seen"));
  EXPECT_GE(value("duplicates"), 2);
  EXPECT_EQ(static_cast<int>(value("duplicates")) % 2, 0);
}

}  // namespace
}  // namespace handhold::capture::net_ft_peers_test
