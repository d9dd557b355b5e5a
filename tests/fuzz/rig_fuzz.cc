// Rig files from anyone: reading ends, and what is accepted holds what the drivers rely on.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "capture/session/rig.h"
#include "database/base/check.h"

using namespace handhold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Result<capture::Rig> rig = capture::ParseRig(bytes, "fuzz.toml");
  if (!rig) {
    CHECK(rig.error().message.starts_with("fuzz.toml"));
    return 0;
  }
  CHECK(!rig->sources.empty());
  std::set<std::string> names;
  for (const capture::RigSource& source : rig->sources) {
    CHECK(names.insert(source.name).second);
    CHECK(source.name.find('/') == std::string::npos);
    CHECK(source.port >= 0 && source.port <= 65535);
    CHECK((source.kind == capture::RigSource::Kind::kPlayback) == source.host.empty());
    CHECK(source.speed > 0);
    CHECK(source.delay_sd >= Duration());
    for (const capture::RigSensor& sensor : source.sensors) {
      CHECK(std::abs(sensor.normal_S.norm() - 1) < 1e-9);
      CHECK((sensor.X_MS.R * sensor.X_MS.R.transpose() - geometry::Mat3::Identity()).norm() < 1e-6);
      CHECK(sensor.X_MS.p.allFinite());
      CHECK(std::abs(sensor.sign) == 1.0);
    }
  }
  return 0;
}
