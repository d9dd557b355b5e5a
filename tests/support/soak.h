/// Many hours of device time through the recorder, faster than real time: whether memory stays
/// flat, nothing is lost and commits do not become slower.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capture/session/recorder.h"
#include "capture/wire/schedule.h"
#include "tests/support/scripted_source.h"

namespace handhold::testing {

struct SoakRun {
  double device_s = 0;          ///< of the take
  double speed = 0;             ///< reached, times real time
  double lost = 0;              ///< samples
  double memory_growth_MB = 0;  ///< from 15 % of the way to the end
  /// The encoder's passes, a commit among them or not, of the first and the last eighth: half, and
  /// 95 of 100, took no longer than this, s.
  double first_p50_s = 0, last_p50_s = 0, first_p95_s = 0, last_p95_s = 0;
  capture::TakeResult take;
};

inline double ResidentMB() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

/// `device_s` of 60 markers at 500 Hz and 24 analog channels at 1 kHz from a source in this
/// process, `speed` times as fast as real time, on a host clock that runs as fast. `slower`: a
/// canary, by how much the encoder's last passes are made to last longer than its first.
inline Result<SoakRun> Soak(capture::TakeTarget target, double device_s, double speed,
                            Duration slower = {}) {
  const Timestamp begin = HostNow() + Duration::Milliseconds(500);
  capture::RecorderOptions options;
  options.now = [begin, speed] {
    return begin + Duration::FromSeconds((HostNow() - begin).seconds() * speed);
  };
  // 10 s of real time: the machine's stalls do not become longer.
  options.ring = Duration::FromSeconds(10 * speed);
  std::mutex mutex;
  std::vector<float> passes_s;
  passes_s.reserve(4'000'000);
  Timestamp last;
  options.injected_stall = [&] {
    const Timestamp now = HostNow();
    const std::lock_guard lock(mutex);
    if (last.ns() != 0) passes_s.push_back(static_cast<float>((now - last).seconds()));
    last = now;
    const double share = (now - begin).seconds() * speed / device_s;
    return Duration::FromSeconds(std::max(0.0, share) * slower.seconds());
  };
  PacedSource::Options paced;
  paced.packet_s = 0.01;
  paced.speed = speed;
  paced.begin = begin;
  std::vector<capture::RecordedSource> sources(1);
  sources[0].source = std::make_unique<PacedSource>(
      "rig", std::vector{MarkerStream("rig/markers", 60, 500), AnalogStream("rig/force", 24, 1000)},
      paced);
  HANDHOLD_ASSIGN(const auto recorder,
                  capture::Recorder::Make(std::move(sources), std::move(target), options));
  HANDHOLD_TRY(recorder->Check());
  HANDHOLD_TRY(recorder->Arm());
  const Timestamp give_up = HostNow() + Duration::Seconds(10);
  for (Status started = recorder->Start({}); !started; started = recorder->Start({})) {
    if (HostNow() > give_up) return started.error();
    capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(5));
  }
  const Timestamp started = HostNow();
  const Duration wall = Duration::FromSeconds(device_s / speed);
  capture::wire::SleepUntil(started + Duration::FromSeconds(0.15 * wall.seconds()));
  const double memory = ResidentMB();
  capture::wire::SleepUntil(started + wall);
  SoakRun out;
  out.memory_growth_MB = ResidentMB() - memory;
  const double elapsed = (HostNow() - started).seconds();
  std::vector<float> passes;
  {
    const std::lock_guard lock(mutex);
    passes = passes_s;
  }
  HANDHOLD_ASSIGN(out.take, recorder->Stop());
  out.device_s = out.take.length.seconds();
  out.speed = out.device_s / elapsed;
  for (const recording::Gap& gap : out.take.gaps) out.lost += static_cast<double>(gap.count);
  const auto eighth = static_cast<std::ptrdiff_t>(passes.size() / 8);
  if (eighth < 20)
    return Error{ErrorCode::kTimeout,
                 "too few passes of the encoder to compare: " + std::to_string(passes.size())};
  std::sort(passes.begin(), passes.begin() + eighth);
  std::sort(passes.end() - eighth, passes.end());
  const auto quantile = [&](std::ptrdiff_t first, double share) {
    return static_cast<double>(
        passes[static_cast<size_t>(first) +
               static_cast<size_t>(share * static_cast<double>(eighth - 1))]);
  };
  const auto end = static_cast<std::ptrdiff_t>(passes.size()) - eighth;
  out.first_p50_s = quantile(0, 0.5), out.last_p50_s = quantile(end, 0.5);
  out.first_p95_s = quantile(0, 0.95), out.last_p95_s = quantile(end, 0.95);
  return out;
}

}  // namespace handhold::testing
