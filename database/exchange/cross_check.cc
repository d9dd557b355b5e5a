// CrossCheckC3d of ezc3d_reader.h.
#include <algorithm>
#include <cmath>
#include <map>

#include "database/exchange/ezc3d_reader.h"

namespace handhold::exchange {
namespace {

using recording::Clip;
using recording::SampleWindow;
using recording::StreamInfo;

/// What two columns of numbers have in common.
struct Comparison {
  int64_t values = 0, different = 0, only_one = 0;  ///< only_one: missing on one side
  double largest = 0;
  std::string first;

  void Add(double a, double b, double tolerance, const auto& where) {
    ++values;
    if (std::isnan(a) && std::isnan(b)) return;
    const bool one = std::isnan(a) != std::isnan(b);
    if (!one && std::fabs(a - b) <= tolerance) return;
    if (different + only_one == 0) first = where();
    one ? ++only_one : ++different;
    if (!one) largest = std::max(largest, std::fabs(a - b));
  }

  Issue Tell(const std::string& stream, const std::string& unit, const char* remark) const {
    if (different + only_one == 0)
      return {stream, Severity::kNote, "ezc3d agrees in all " + std::to_string(values) + " values"};
    char size[32];
    std::snprintf(size, sizeof size, "%.3g", largest);
    return {
        stream, Severity::kWarning,
        "ezc3d differs in " + std::to_string(different) + " of " + std::to_string(values) +
            " values, by up to " + size + " " + unit +
            (only_one > 0 ? ", and " + std::to_string(only_one) + " are missing on one side" : "") +
            ", first at " + first + remark};
  }
};

std::string Place(const StreamInfo& stream, int channel, int64_t sample) {
  return "'" + stream.channels[static_cast<size_t>(channel)].name + "' sample " +
         std::to_string(sample + 1);
}

class CrossCheck {
 public:
  CrossCheck(const Clip& ours, const Clip& theirs) : ours_(ours), theirs_(theirs) {}

  Issues Run() {
    for (const StreamInfo& stream : ours_.streams()) {
      if (stream.name == "c3d/rotations") continue;  // not asked of ezc3d
      const auto found = theirs_.FindStreams(stream.name);
      if (found.empty()) {
        Warn(stream.name, "ezc3d has none of it");
        continue;
      }
      Compare(stream, *found[0]);
    }
    for (const StreamInfo& stream : theirs_.streams()) {
      if (ours_.FindStreams(stream.name).empty()) Warn(stream.name, "only ezc3d has it");
    }
    return std::move(issues_);
  }

 private:
  void Warn(const std::string& where, std::string what) {
    issues_.push_back({where, Severity::kWarning, std::move(what)});
  }

  void Compare(const StreamInfo& stream, const StreamInfo& other) {
    const Result<SampleWindow> a = ours_.ReadAll(stream.id), b = theirs_.ReadAll(other.id);
    if (!a || !b) return Warn(stream.name, "cannot be read");
    if (a->count() != b->count())
      Warn(stream.name, "ezc3d has " + std::to_string(b->count()) + " samples, this reader " +
                            std::to_string(a->count()));
    if (stream.channel_count() != other.channel_count())
      return Warn(stream.name, "ezc3d has " + std::to_string(other.channel_count()) +
                                   " channels, this reader " +
                                   std::to_string(stream.channel_count()));
    for (int c = 0; c < stream.channel_count(); ++c) {
      const std::string& x = stream.channels[static_cast<size_t>(c)].name;
      const std::string& y = other.channels[static_cast<size_t>(c)].name;
      if (x == y) continue;
      Warn(stream.name,
           "channel " + std::to_string(c + 1) + " is '" + x + "' here, '" + y + "' with ezc3d");
      break;
    }
    const int count = std::min(a->count(), b->count());
    if (stream.kind == recording::StreamKind::kForceTorque)
      return CompareForces(stream, *a, *b, count);
    Comparison positions, residuals;
    for (int c = 0; c < stream.channel_count(); ++c) {
      const bool residual = stream.kind == recording::StreamKind::kMarkers && c % 4 == 3;
      double peak = 0;
      for (int i = 0; i < count; ++i) {
        if (std::isfinite(a->value(c, i))) peak = std::max(peak, std::fabs(a->value(c, i)));
      }
      for (int i = 0; i < count; ++i)
        (residual ? residuals : positions).Add(a->value(c, i), b->value(c, i), 1e-6 * peak, [&] {
          return Place(stream, c, i);
        });
    }
    const char* swapped = "; ezc3d 1.7 is known to swap residual and camera mask";
    const bool cameras = stream.name == "c3d/cameras";
    issues_.push_back(positions.Tell(stream.name, stream.channels[0].unit, cameras ? swapped : ""));
    if (residuals.values > 0)
      issues_.push_back(residuals.Tell(stream.name + " residuals", "m", swapped));
  }

  /// Raw channels are scaled differently; what they mean must agree.
  void CompareForces(const StreamInfo& stream, const SampleWindow& a, const SampleWindow& b,
                     int count) {
    const auto sensor_of = [](const Clip& clip, const std::string& name) {
      return clip.FindForceSensor(name.substr(name.find('/') + 1));
    };
    const recording::ForceSensor* x = sensor_of(ours_, stream.name);
    const recording::ForceSensor* y = sensor_of(theirs_, stream.name);
    if (x == nullptr || y == nullptr) return Warn(stream.name, "has no sensor on one side");
    Eigen::VectorXd raw_a(a.channel_count), raw_b(b.channel_count);
    std::vector<geometry::Vec6> wrenches_a, wrenches_b;
    geometry::Vec6 peak = geometry::Vec6::Zero();
    for (int i = 0; i < count; ++i) {
      for (int c = 0; c < a.channel_count; ++c) {
        raw_a(c) = a.value(c, i);
        raw_b(c) = b.value(c, i);
      }
      wrenches_a.push_back(x->Wrench(raw_a));
      wrenches_b.push_back(y->Wrench(raw_b));
      peak = peak.cwiseMax(wrenches_a.back().cwiseAbs());
    }
    Comparison forces;
    static constexpr const char* kNames[] = {"Fx", "Fy", "Fz", "Mx", "My", "Mz"};
    for (int k = 0; k < 6; ++k) {
      for (int i = 0; i < count; ++i)
        forces.Add(wrenches_a[static_cast<size_t>(i)](k), wrenches_b[static_cast<size_t>(i)](k),
                   1e-5 * peak(k),
                   [&] { return std::string(kNames[k]) + " sample " + std::to_string(i + 1); });
    }
    issues_.push_back(forces.Tell(stream.name, "N or N m", ""));
  }

  const Clip &ours_, &theirs_;
  Issues issues_;
};

}  // namespace

Issues CrossCheckC3d(const std::string& path, const C3dReadOptions& options,
                     const ChildLimits& limits) {
  const auto fail = [](const char* who, const Error& error) {
    return Issues{{who, Severity::kWarning, "cannot be compared: " + error.message}};
  };
  auto ours = OpenC3d(path, options);
  if (!ours) return fail("this reader", ours.error());
  auto theirs = OpenWithEzc3d(path, options, limits);
  if (!theirs) return fail("ezc3d", theirs.error());
  const Result<Clip> a = ReadWhole(**ours), b = ReadWhole(**theirs);
  if (!a) return fail("this reader", a.error());
  if (!b) return fail("ezc3d", b.error());
  return CrossCheck(*a, *b).Run();
}

}  // namespace handhold::exchange
