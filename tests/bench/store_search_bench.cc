// Threshold search over 8 h: 240 clips of 2 min, four six-axis transducers at 1 kHz pressed once
// per 1.2 s each, warm. Presses beyond 14 N are rare, and half of those reach it only after the
// window: zone maps cannot tell, samples must. Answers are compared with the plan before any time
// is taken.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "database/store/query.h"
#include "database/store/signal.h"
#include "tests/support/bench.h"
#include "tests/support/reference_clip.h"

namespace {

using namespace handhold;
using namespace handhold::bench;
using handhold::testing::ReferenceClip;
namespace fs = std::filesystem;

const int kClips = Brief() ? 2 : 240;
constexpr int kSeconds = 120, kSensors = 4, kRate = 1000, kPresses = 100;
constexpr double kThreshold_N = 14.0;

template <typename T>
T Must(handhold::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
void Must(Status status) {
  if (!status) throw std::runtime_error(status.error().message);
}

uint64_t Mix(uint64_t z) {  // SplitMix64
  z += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A press: rises in a straight line to `counts` (0.01 N each), `rise_ms` after it begins, and
/// falls as fast.
struct Press {
  int begin_ms, rise_ms, counts;
};

Press PressOf(int clip, int sensor, int k) {
  const uint64_t r = Mix(static_cast<uint64_t>((clip * kSensors + sensor) * 1000 + k));
  Press press{k * 1200 + 100 + static_cast<int>(r % 200), 150,
              200 + static_cast<int>((r >> 16) % 1000)};
  if ((r >> 40) % 16000 == 0) press.counts = 1500 + static_cast<int>((r >> 16) % 500);
  if ((r >> 40) % 16000 == 1) press.counts = 1500, press.rise_ms = 400;  // too late for the window
  return press;
}

recording::SampleBlock ForceBlock(int clip, int sensor) {
  recording::SampleBlock block;
  block.stream_id = sensor + 1;
  block.count = kSeconds * kRate;
  block.values.resize(6u * static_cast<size_t>(block.count));
  for (int c = 0; c < 6; ++c) {
    for (int i = 0; i < block.count; ++i)
      block.value(c, i) = static_cast<double>(Mix(static_cast<uint64_t>(i * 8 + c) +
                                                  1'000'003u * static_cast<uint64_t>(clip)) %
                                              9) -
                          4;
  }
  for (int k = 0; k < kPresses; ++k) {
    const Press p = PressOf(clip, sensor, k);
    for (int i = 0; i < 2 * p.rise_ms; ++i) {
      const int height = i < p.rise_ms ? i : 2 * p.rise_ms - i;
      block.value(2, p.begin_ms + i) =
          -std::round(static_cast<double>(p.counts) * height / p.rise_ms);
    }
  }
  return block;
}

/// How many presses reach more than the threshold within 0.2 s of their contact (0.5 N).
int64_t Planned() {
  int64_t count = 0;
  for (int clip = 0; clip < kClips; ++clip) {
    for (int s = 0; s < kSensors; ++s) {
      for (int k = 0; k < kPresses; ++k) {
        const Press p = PressOf(clip, s, k);
        int on = 0;
        while (std::round(static_cast<double>(p.counts) * on / p.rise_ms) < 50) ++on;
        const int last = std::min(on + 200, p.rise_ms);
        count += std::round(static_cast<double>(p.counts) * last / p.rise_ms) > 100 * kThreshold_N;
      }
    }
  }
  return count;
}

void AddClip(store::Library& library, int number, const ReferenceClip& second) {
  recording::ClipInfo info;
  info.id = ClipId::New();
  info.name = "take_" + std::to_string(number);
  info.task = number % 2 == 0 ? "stroke" : "grip";
  info.host_start_ns = 1'000'000'000;
  info.utc_start =
      Timestamp::FromNanoseconds(1'700'000'000'000'000'000 + 180'000'000'000ll * number);
  store::ClipWriterOptions options;
  options.already_complete = true;
  const auto writer = Must(store::ClipWriter::Create(library.ClipPath(info.id), info, options));
  const recording::ClockMap clock = recording::ClockMap::Identity(info.host_start_ns);
  for (int s = 0; s < kSensors; ++s) {
    recording::StreamInfo force;
    force.name = "plate" + std::to_string(s) + "/wrench";
    force.kind = recording::StreamKind::kForceTorque;
    force.rate = {kRate, 1};
    for (const char* name : {"fx", "fy", "fz", "tx", "ty", "tz"})
      force.channels.push_back({name, "count", 1.0});
    recording::ForceSensor sensor;
    sensor.name = "plate" + std::to_string(s);
    sensor.stream_id = Must(writer->AddStream(force));
    sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 0.01;
    sensor.bias = Eigen::VectorXd::Zero(6);
    Must(writer->AddForceSensor(sensor));
    Must(writer->SetClockMap(sensor.stream_id, clock));
    Must(writer->Append(ForceBlock(number, s)));
  }
  // Markers of one second: their 240 channels make the catalogue as large as in earnest; the search
  // reads none of them.
  const int markers = Must(writer->AddStream(ReferenceClip::MarkerInfo()));
  Must(writer->SetClockMap(markers, clock));
  for (recording::SampleBlock block : second.markers) {
    block.stream_id = markers;
    Must(writer->Append(block));
  }
  Must(writer->Close());
  Must(library.Index(info.id));
}

double Milliseconds(const store::Library& library, const std::string& text, int64_t expected) {
  return 1e3 * Seconds([&] {
           const store::Query query = Must(store::Query::Parse(text, library));
           const store::QueryResult found = Must(query.Run());
           if (static_cast<int64_t>(found.rows.size()) != expected)
             throw std::runtime_error(text + ": " + std::to_string(found.rows.size()) +
                                      " rows, planned " + std::to_string(expected));
         });
}

void Run(Reporter& reporter) {
  std::string folder = (fs::temp_directory_path() / "handhold-search-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  {
    const auto library = Must(store::Library::Create(folder + "/lab"));
    const ReferenceClip second(1);
    for (int k = 0; k < kClips; ++k) AddClip(*library, k, second);
    const std::string near = "peak(normal_force) > 14 N within 0.2 s of contact_on";
    const int64_t planned = Planned();
    for (int k = 0; k < (Brief() ? 1 : 3); ++k) Milliseconds(*library, near, planned);
    const Sample search = Repeat(21, [&] { return Milliseconds(*library, near, planned); });
    // The peer: every sample of every sensor, through the same reader.
    int64_t above = 0;
    const double decode_ms =
        1e3 * Seconds([&] {
          for (const store::ClipRow& row : Must(library->Clips())) {
            const auto clip = Must(library->OpenClip(row.id));
            for (int s = 0; s < kSensors; ++s) {
              const store::Signal signal =
                  Must(store::FindSignal(*clip, "plate" + std::to_string(s), "normal_force"));
              above += Must(store::MeasureSignal(*clip, signal, std::nullopt)).max > kThreshold_N;
            }
          }
        });
    Keep(static_cast<double>(above));
    reporter.Report("store.search", {.value = search,
                                     .unit = "ms",
                                     .peer = "decoding every sample",
                                     .peer_value = {decode_ms, 0},
                                     .goal = Goal::SpeedAtMost(30)});
    int64_t clips = 0;
    {
      const auto found =
          Must(Must(store::Query::Parse("clips where peak(normal_force) > 14 N", *library)).Run());
      clips = static_cast<int64_t>(found.rows.size());
    }
    reporter.Report("store.search.clips",
                    {.value = Repeat(21,
                                     [&] {
                                       return Milliseconds(*library,
                                                           "clips where peak(normal_force) > 14 N",
                                                           clips);
                                     }),
                     .unit = "ms",
                     .goal = Goal::None()});
  }
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, HANDHOLD_BENCH_MARKS, Run); }
