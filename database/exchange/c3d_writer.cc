#include "database/exchange/c3d_writer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "database/base/check.h"
#include "database/base/names.h"
#include "database/base/units.h"
#include "database/exchange/c3d_export_plan.h"
#include "database/exchange/c3d_number.h"
#include "database/exchange/file_writer.h"
#include "database/exchange/read_span.h"
#include "database/geometry/rotation.h"

namespace handhold::exchange {
namespace {

using recording::ClipSource;
using recording::SampleWindow;

constexpr double kMaxIntegerError_mm = 0.5;
constexpr C3dProcessor kIntel = C3dProcessor::kIntel;

std::string Text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

/// One stream read in step with the frames: the sample nearest to a time.
class Track {
 public:
  Track(const ClipSource& clip, int stream_id)
      : clip_(clip), stream_(*clip.FindStream(stream_id)), clock_(clip.clock_map(stream_id)) {}

  /// Reads what frames with times in `range` may need.
  Status Load(TimeRange range) {
    const auto margin = Duration::FromSeconds(2.0 / stream_.rate.hz());
    window_ = {};  // not both at once
    HANDHOLD_ASSIGN(window_, clip_.Read(stream_.id, {range.begin - margin, range.end + margin}));
    at_ = 0;
    return {};
  }

  /// Index in the window of the sample nearest to `t`, or -1 where there is none. Times ascend.
  int Nearest(Timestamp t) {
    const int64_t device_ns =
        clock_.ToDevice(Timestamp::FromNanoseconds(t.ns() + clip_.info().host_start_ns));
    const auto counter = static_cast<int64_t>(
        std::llround(static_cast<double>(device_ns) * 1e-9 * stream_.rate.hz()));
    if (last_ != kNone && counter == last_) ++repeated_;
    if (last_ != kNone && counter > last_ + 1) skipped_ += counter - last_ - 1;
    last_ = counter;
    const auto& counters = window_.counters;
    while (at_ < counters.size() && counters[at_] < counter) ++at_;
    if (at_ < counters.size() && counters[at_] == counter) return static_cast<int>(at_);
    return -1;
  }

  const SampleWindow& window() const { return window_; }
  const recording::StreamInfo& stream() const { return stream_; }

  void TellOf(Issues& issues) const {
    if (repeated_ + skipped_ > 0)
      issues.push_back({stream_.name, Severity::kLoss,
                        "its clock drifts against the points': " + std::to_string(repeated_) +
                            " samples are repeated, " + std::to_string(skipped_) + " left out"});
  }

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  const ClipSource& clip_;
  const recording::StreamInfo& stream_;
  const recording::ClockMap& clock_;
  SampleWindow window_;
  size_t at_ = 0;
  int64_t last_ = kNone, repeated_ = 0, skipped_ = 0;
};

/// Frame by frame through the clip: values in C3D's units, not yet rounded.
class FrameReader {
 public:
  FrameReader(const ClipSource& clip, const C3dExportPlan& plan, std::function<bool()> proceed)
      : clip_(clip), plan_(plan), proceed_(std::move(proceed)) {
    for (const PointPlan& p : plan.points) {
      Add(p.stream_id);
      if (p.camera_stream != 0) Add(p.camera_stream);
    }
    for (const AnalogPlan& a : plan.analog) Add(a.stream_id);
    for (const BodyPlan& b : plan.bodies) Add(b.stream_id);
  }

  /// One frame: points x (x y z word), then analog; bodies apart.
  struct Frame {
    std::vector<double> points;  ///< x y z in mm; NaN: missing
    std::vector<int> words;
    std::vector<double> analog;
    std::vector<double> bodies;  ///< 17 per body and sample
  };

  /// Calls `take` for every frame. Missing analog values are NaN.
  template <typename Take>
  Status ForEach(const Take& take) {
    double values_per_second = 0;
    for (const auto& [id, track] : tracks_)
      values_per_second += track.stream().rate.hz() * track.stream().channel_count();
    const auto step = std::max<int64_t>(
        1, static_cast<int64_t>(ReadSpan(values_per_second).seconds() * plan_.rate.hz()));
    Frame frame;
    frame.points.resize(plan_.points.size() * 3);
    frame.words.resize(plan_.points.size());
    frame.analog.resize(plan_.analog.size() * static_cast<size_t>(plan_.ratio));
    frame.bodies.resize(plan_.bodies.size() * 17 * static_cast<size_t>(plan_.body_ratio));
    for (int64_t begin = 0; begin < plan_.frames; begin += step) {
      if (proceed_ && !proceed_()) return Error{ErrorCode::kCancelled, "cancelled"};
      const int64_t end = std::min(plan_.frames, begin + step);
      const TimeRange range{FrameTime(clip_, plan_, begin), FrameTime(clip_, plan_, end)};
      for (auto& [id, track] : tracks_) HANDHOLD_TRY(track.Load(range));
      for (int64_t f = begin; f < end; ++f) {
        const Timestamp t0 = FrameTime(clip_, plan_, f), t1 = FrameTime(clip_, plan_, f + 1);
        FillPoints(t0, frame);
        FillAnalog(t0, t1, frame);
        FillBodies(t0, t1, frame);
        HANDHOLD_TRY(take(frame));
      }
    }
    return {};
  }

  void TellOf(Issues& issues) const {
    for (const auto& [id, track] : tracks_) track.TellOf(issues);
    if (residuals_limited_ > 0)
      issues.push_back(
          {"residuals", Severity::kLoss,
           std::to_string(residuals_limited_) + " exceed what C3D's byte holds and are limited"});
    if (masks_odd_ > 0)
      issues.push_back({"c3d/cameras", Severity::kLoss,
                        std::to_string(masks_odd_) +
                            " values are no whole numbers from 0 to 127, which is what C3D holds "
                            "of cameras: none is written there"});
    if (residuals_unknown_ > 0)
      issues.push_back(
          {"residuals", Severity::kNote,
           std::to_string(residuals_unknown_) +
               " positions have none; C3D has no mark for that: they are 0, which also "
               "means interpolated"});
    if (residual_error_mm_ > 1e-6)
      issues.push_back({"residuals", Severity::kNote,
                        "are whole steps of " + Text(static_cast<double>(plan_.scale)) +
                            " mm in C3D; at most " + Text(residual_error_mm_) + " mm off"});
  }

 private:
  void Add(int stream_id) { tracks_.try_emplace(stream_id, clip_, stream_id); }
  Track& Of(int stream_id) { return tracks_.at(stream_id); }

  /// Where each stream's sample for time t is; asked once per stream and time.
  const std::map<int, int>& Indices(Timestamp t, const std::vector<int>& streams) {
    indices_.clear();
    for (const int id : streams) {
      if (indices_.count(id) == 0) indices_[id] = Of(id).Nearest(t);
    }
    return indices_;
  }

  void FillPoints(Timestamp t, Frame& frame) {
    if (plan_.points.empty()) return;
    if (point_streams_.empty()) {
      for (const PointPlan& p : plan_.points) {
        point_streams_.push_back(p.stream_id);
        if (p.camera_stream != 0) point_streams_.push_back(p.camera_stream);
      }
      std::sort(point_streams_.begin(), point_streams_.end());
      point_streams_.erase(std::unique(point_streams_.begin(), point_streams_.end()),
                           point_streams_.end());
    }
    const std::map<int, int>& indices = Indices(t, point_streams_);
    for (size_t i = 0; i < plan_.points.size(); ++i) {
      const PointPlan& p = plan_.points[i];
      const int at = indices.at(p.stream_id);
      const SampleWindow& window = Of(p.stream_id).window();
      double* xyz = &frame.points[i * 3];
      bool there = at >= 0;
      for (int k = 0; k < 3; ++k) {
        const double value =
            there ? window.value(p.channel + k, at) : std::numeric_limits<double>::quiet_NaN();
        xyz[k] = p.is_output ? value : MetresToMillimetres(value);
        there = there && std::isfinite(xyz[k]);
      }
      frame.words[i] = -1;
      if (!there) {
        xyz[0] = std::numeric_limits<double>::quiet_NaN();
        continue;
      }
      if (p.is_output) {
        frame.words[i] = 0;
        continue;
      }
      const double residual_m =
          p.residual >= 0 ? window.value(p.residual, at) : std::numeric_limits<double>::quiet_NaN();
      int mask = 0;
      if (p.camera_stream != 0 && indices.at(p.camera_stream) >= 0) {
        const double value =
            Of(p.camera_stream).window().value(p.camera_channel, indices.at(p.camera_stream));
        if (value >= 0 && value <= 127 && value == std::trunc(value)) {
          mask = static_cast<int>(value);
        } else if (!std::isnan(value)) {
          ++masks_odd_;
        }
      }
      frame.words[i] = mask * 256 + ResidualByte(residual_m);
    }
  }

  int ResidualByte(double residual_m) {
    if (!std::isfinite(residual_m) || residual_m < 0) {
      ++residuals_unknown_;
      return 0;
    }
    const double mm = MetresToMillimetres(residual_m), scale = static_cast<double>(plan_.scale);
    const double steps = std::round(mm / scale);
    if (steps > 255) {
      ++residuals_limited_;
      return 255;
    }
    residual_error_mm_ = std::max(residual_error_mm_, std::fabs(steps * scale - mm));
    // 0 says "interpolated": a small measured residual stays measured.
    return steps == 0 && mm > 0 ? 1 : static_cast<int>(steps);
  }

  void FillAnalog(Timestamp t0, Timestamp t1, Frame& frame) {
    if (plan_.analog.empty()) return;
    if (analog_streams_.empty()) {
      for (const AnalogPlan& a : plan_.analog) {
        if (analog_streams_.empty() || analog_streams_.back() != a.stream_id)
          analog_streams_.push_back(a.stream_id);
      }
    }
    for (int k = 0; k < plan_.ratio; ++k) {
      const Timestamp t = t0 + (t1 - t0) * k / plan_.ratio;
      const std::map<int, int>& indices = Indices(t, analog_streams_);
      double* out = &frame.analog[static_cast<size_t>(k) * plan_.analog.size()];
      const recording::ForceSensor* sensor = nullptr;
      for (size_t c = 0; c < plan_.analog.size(); ++c) {
        const AnalogPlan& a = plan_.analog[c];
        const int at = indices.at(a.stream_id);
        const SampleWindow& window = Of(a.stream_id).window();
        if (at < 0) {
          out[c] = std::numeric_limits<double>::quiet_NaN();
          continue;
        }
        if (a.sensor == nullptr) {
          out[c] = window.value(a.channel, at);
          continue;
        }
        if (a.sensor != sensor) {
          sensor = a.sensor;
          raw_.resize(window.channel_count);
          for (int r = 0; r < window.channel_count; ++r) raw_(r) = window.value(r, at);
          wrench_ = sensor->Wrench(raw_);
        }
        // C3D: the reaction on the hand, moments in N mm.
        out[c] = a.channel < 3 ? -wrench_(a.channel)
                               : -NewtonMetresToNewtonMillimetres(wrench_(a.channel));
      }
    }
  }

  void FillBodies(Timestamp t0, Timestamp t1, Frame& frame) {
    for (int k = 0; k < (plan_.bodies.empty() ? 0 : plan_.body_ratio); ++k) {
      const Timestamp t = t0 + (t1 - t0) * k / plan_.body_ratio;
      std::vector<int> streams;
      for (const BodyPlan& b : plan_.bodies) streams.push_back(b.stream_id);
      const std::map<int, int>& indices = Indices(t, streams);
      for (size_t b = 0; b < plan_.bodies.size(); ++b) {
        double* m = &frame.bodies[(static_cast<size_t>(k) * plan_.bodies.size() + b) * 17];
        // Not seen: no numbers, so that who overlooks the -1 gets no pose that looks like one.
        std::fill(m, m + 17, std::numeric_limits<double>::quiet_NaN());
        m[3] = m[7] = m[11] = 0.0;
        m[15] = 1.0;
        m[16] = -1.0;
        const BodyPlan& body = plan_.bodies[b];
        const int at = indices.at(body.stream_id);
        if (at < 0) continue;
        const SampleWindow& window = Of(body.stream_id).window();
        double v[7];
        bool there = true;
        for (int c = 0; c < 7; ++c) {
          v[c] = window.value(body.channel + c, at);
          there = there && std::isfinite(v[c]);
        }
        if (!there) continue;
        const geometry::Mat3 R = geometry::FromQuaternion(v[3], v[4], v[5], v[6]);
        for (int column = 0; column < 3; ++column) {
          for (int row = 0; row < 3; ++row) m[column * 4 + row] = R(row, column);
        }
        for (int row = 0; row < 3; ++row) m[12 + row] = MetresToMillimetres(v[row]);
        m[15] = 1.0;
        m[16] = 1.0;
      }
    }
  }

  const ClipSource& clip_;
  const C3dExportPlan& plan_;
  const std::function<bool()> proceed_;
  std::map<int, Track> tracks_;
  std::map<int, int> indices_;
  std::vector<int> point_streams_, analog_streams_;
  Eigen::VectorXd raw_;
  geometry::Vec6 wrench_;
  int64_t residuals_limited_ = 0, residuals_unknown_ = 0, masks_odd_ = 0;
  double residual_error_mm_ = 0;
};

class C3dExport {
 public:
  C3dExport(const ClipSource& clip, C3dExportPlan plan, const C3dWriteOptions& options,
            Issues& issues)
      : clip_(clip), plan_(std::move(plan)), options_(options), issues_(issues) {}

  /// Integers need the largest values first: one pass more.
  Status ChooseScales() {
    if (!options_.as_integers) return {};
    double largest_mm = 0;
    std::vector<double> largest(plan_.analog.size(), 0.0);
    std::vector<bool> whole(plan_.analog.size(), true);  // counts: as they are, when they fit
    FrameReader reader(clip_, plan_, options_.proceed);
    HANDHOLD_TRY(reader.ForEach([&](const FrameReader::Frame& frame) -> Status {
      for (const double v : frame.points) {
        if (std::isfinite(v)) largest_mm = std::max(largest_mm, std::fabs(v));
      }
      for (size_t i = 0; i < frame.analog.size(); ++i) {
        if (!std::isfinite(frame.analog[i])) continue;
        double& most = largest[i % largest.size()];
        most = std::max(most, std::fabs(frame.analog[i]));
        if (frame.analog[i] != std::round(frame.analog[i])) whole[i % largest.size()] = false;
      }
      return {};
    }));
    // The scale of the integers that the clip came from stays when it suffices: they come back
    // exactly. Of a file of floating point it says nothing of positions.
    if (largest_mm / static_cast<double>(plan_.scale) > 32'767 || !CameAsIntegers()) {
      plan_.scale = static_cast<float>(std::max(1e-6, largest_mm / 32'000));
      const double error_mm = 0.5 * static_cast<double>(plan_.scale);
      if (!(error_mm <= kMaxIntegerError_mm))
        return Error{ErrorCode::kUnsupported,
                     "16 bits with a coordinate of " + Text(largest_mm) +
                         " mm leave positions up to " + Text(error_mm) + " mm off, more than the " +
                         Text(kMaxIntegerError_mm) + " mm accepted: write floating point"};
    }
    for (size_t c = 0; c < largest.size(); ++c) {
      const bool fits = largest[c] == 0 || (whole[c] && largest[c] <= 32'767);
      plan_.analog[c].scale = fits ? 1.0f : static_cast<float>(largest[c] / 32'000);
    }
    return {};
  }

  Status Write(FileWriter& file, ExportReport& report) {
    HANDHOLD_ASSIGN(const std::vector<uint8_t> probe,
                    WriteC3dParameters(C3dExportParameters(clip_, plan_, options_, 0, 0, nullptr)));
    const int64_t data_block = 2 + static_cast<int64_t>(probe.size()) / kC3dBlock;
    const int64_t words = static_cast<int64_t>(plan_.points.size()) * 4 +
                          static_cast<int64_t>(plan_.analog.size()) * plan_.ratio;
    const int64_t data_bytes = words * (options_.as_integers ? 2 : 4) * plan_.frames;
    int64_t rotation_block = data_block + (data_bytes + kC3dBlock - 1) / kC3dBlock;
    if (plan_.bodies.empty()) {
      rotation_block = 0;
    } else if (rotation_block > 65'535) {
      issues_.push_back({"rotations", Severity::kLoss,
                         "begin beyond the 32 MB that ROTATION:DATA_START reaches: " +
                             std::to_string(plan_.bodies.size()) + " bodies are left out"});
      plan_.bodies.clear();
      return Write(file, report);
    }
    HANDHOLD_ASSIGN(
        const std::vector<uint8_t> section,
        WriteC3dParameters(C3dExportParameters(clip_, plan_, options_, static_cast<int>(data_block),
                                               static_cast<int>(rotation_block), &issues_)));
    CHECK_EQ(section.size(), probe.size());
    HANDHOLD_TRY(file.Write(Header(static_cast<int>(data_block))));
    HANDHOLD_TRY(file.Write(section));
    FrameReader reader(clip_, plan_, options_.proceed);
    std::vector<uint8_t> bytes;
    HANDHOLD_TRY(reader.ForEach([&](const FrameReader::Frame& frame) -> Status {
      bytes.clear();
      PutFrame(frame, bytes);
      return file.Write(bytes);
    }));
    HANDHOLD_TRY(file.Pad(kC3dBlock));
    if (!plan_.bodies.empty()) HANDHOLD_TRY(WriteBodies(file));
    reader.TellOf(issues_);
    TellOfRounding();
    report.frames = plan_.frames;
    report.streams = plan_.streams;
    report.bytes = file.size();
    return {};
  }

 private:
  bool CameAsIntegers() const {
    const auto& properties = clip_.info().properties;
    const auto encoding = properties.find("c3d.encoding");
    return encoding != properties.end() && encoding->second.ends_with("integer") &&
           properties.count("c3d.point_scale_mm") > 0;
  }

  std::vector<uint8_t> Header(int data_block) const {
    std::vector<uint8_t> out = {2, 0x50};
    const auto word = [&](int64_t value) { PutC3dWord(static_cast<uint16_t>(value), kIntel, out); };
    word(static_cast<int64_t>(plan_.points.size()));
    word(static_cast<int64_t>(plan_.analog.size()) * plan_.ratio);
    const bool fits = plan_.first_frame + plan_.frames - 1 <= 65'535;
    word(fits ? plan_.first_frame : 1);
    word(fits ? plan_.first_frame + plan_.frames - 1 : std::min<int64_t>(plan_.frames, 65'535));
    word(0);
    PutC3dFloat(options_.as_integers ? plan_.scale : -plan_.scale, kIntel, out);
    word(data_block);
    word(plan_.ratio);
    PutC3dFloat(static_cast<float>(plan_.rate.hz()), kIntel, out);
    out.resize(kC3dBlock);
    return out;
  }

  void PutFrame(const FrameReader::Frame& frame, std::vector<uint8_t>& out) {
    for (size_t i = 0; i < plan_.points.size(); ++i) {
      const bool there = frame.words[i] >= 0;
      for (size_t k = 0; k < 3; ++k)
        Put(there ? frame.points[i * 3 + k] : 0.0, plan_.scale, out, point_error_mm_);
      if (options_.as_integers) {
        PutC3dWord(static_cast<uint16_t>(frame.words[i]), kIntel, out);
      } else {
        PutC3dFloat(static_cast<float>(frame.words[i]), kIntel, out);
      }
    }
    for (size_t i = 0; i < frame.analog.size(); ++i) {
      const double value = std::isfinite(frame.analog[i]) ? frame.analog[i] : 0.0;
      if (!std::isfinite(frame.analog[i])) ++missing_;
      const AnalogPlan& channel = plan_.analog[i % plan_.analog.size()];
      const int64_t before = rounded_;
      Put(value, channel.scale, out, analog_error_);
      if (channel.unit == "count") counts_rounded_ += rounded_ - before;
    }
  }

  void Put(double value, float scale, std::vector<uint8_t>& out, double& error) {
    if (!options_.as_integers) {
      const auto single = static_cast<float>(value);
      rounded_ += static_cast<double>(single) == value ? 0 : 1;
      PutC3dFloat(single, kIntel, out);
      return;
    }
    const double counts = std::round(value / static_cast<double>(scale));
    // A scale of 0 is that of a channel that is 0 throughout.
    const double count = std::isnan(counts) ? 0.0 : std::clamp(counts, -32'768.0, 32'767.0);
    error = std::max(error, std::fabs(count * static_cast<double>(scale) - value));
    PutC3dWord(static_cast<uint16_t>(static_cast<int16_t>(count)), kIntel, out);
  }

  /// A section of its own, so a pass of its own.
  Status WriteBodies(FileWriter& file) {
    C3dExportPlan bodies = plan_;
    bodies.points.clear();
    bodies.analog.clear();
    FrameReader reader(clip_, bodies, options_.proceed);
    std::vector<uint8_t> bytes;
    HANDHOLD_TRY(reader.ForEach([&](const FrameReader::Frame& frame) -> Status {
      bytes.clear();
      for (const double v : frame.bodies) PutC3dFloat(static_cast<float>(v), kIntel, bytes);
      return file.Write(bytes);
    }));
    return file.Pad(kC3dBlock);
  }

  void TellOfRounding() {
    if (missing_ > 0)
      issues_.push_back(
          {"analog", Severity::kLoss,
           std::to_string(missing_) + " values are missing; C3D has no mark for that: they are 0"});
    if (options_.as_integers)
      issues_.push_back({"values", Severity::kLoss,
                         "are whole counts: positions at most " + Text(point_error_mm_) +
                             " mm off, analog values at most " + Text(analog_error_)});
    if (counts_rounded_ > 0)
      issues_.push_back(
          {"counts", Severity::kLoss,
           std::to_string(counts_rounded_) +
               " are larger than the 24 bits that C3D's numbers hold exactly, and are "
               "rounded"});
    if (rounded_ > 0)
      issues_.push_back(
          {"values", Severity::kNote,
           std::to_string(rounded_) +
               " are rounded to floating point numbers of 32 bits (1 in 16 million)"});
  }

  const ClipSource& clip_;
  C3dExportPlan plan_;
  const C3dWriteOptions& options_;
  Issues& issues_;
  double point_error_mm_ = 0, analog_error_ = 0;
  int64_t rounded_ = 0, counts_rounded_ = 0, missing_ = 0;
};

}  // namespace

Status CheckStreamNames(const ClipSource& clip, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const recording::StreamInfo& stream : clip.streams()) {
    if (std::count(known.begin(), known.end(), stream.name) == 0) known.push_back(stream.name);
  }
  for (const std::string& name : names) {
    if (std::count(known.begin(), known.end(), name) == 0)
      return Error{ErrorCode::kInvalid, "no stream '" + name + "'" + DidYouMean(name, known)};
  }
  return {};
}

Result<ExportReport> WriteC3d(const ClipSource& clip, const std::string& path,
                              const C3dWriteOptions& options) {
  ExportReport report;
  HANDHOLD_ASSIGN(C3dExportPlan plan, PlanC3dExport(clip, options, report.issues));
  C3dExport writer(clip, std::move(plan), options, report.issues);
  HANDHOLD_TRY(writer.ChooseScales());
  HANDHOLD_ASSIGN(FileWriter file, FileWriter::Create(options.dry_run ? "" : path));
  HANDHOLD_TRY(writer.Write(file, report));
  HANDHOLD_TRY(file.Publish());
  if (options.dry_run) report.bytes = 0;
  return report;
}

}  // namespace handhold::exchange
