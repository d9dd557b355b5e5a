#include "database/exchange/c3d_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "database/base/check.h"
#include "database/exchange/byte_source.h"
#include "database/exchange/c3d_contents.h"
#include "database/exchange/c3d_force.h"
#include "database/exchange/c3d_frames.h"
#include "database/exchange/c3d_number.h"
#include "database/exchange/c3d_properties.h"
#include "database/exchange/c3d_streams.h"
#include "database/geometry/transform.h"

namespace handhold::exchange {
namespace {

using recording::SampleBlock;
using recording::StreamInfo;

constexpr int64_t kMaxShift = 64 * kC3dBlock;  // zeros before the header of old Vicon files
constexpr int64_t kReadBytes = 512 << 10;      // at once: fits a second-level cache
constexpr int64_t kMaxZeroFrames = 20'000;
constexpr int64_t kJudgedFrames = 2'000;
constexpr int64_t kRotationFloats = 17;

class C3dSource final : public ImportSource {
 public:
  C3dSource(std::unique_ptr<ByteSource> bytes, std::string name, C3dReadOptions options)
      : file_(std::move(bytes)), path_(std::move(name)), options_(options) {}

  Status Open();

  std::string_view format() const override { return "c3d"; }
  const recording::ClipInfo& info() const override { return info_; }
  const std::vector<StreamInfo>& streams() const override { return streams_.infos; }
  const recording::ClockMap& clock_map(int) const override { return clock_; }
  const std::vector<recording::ForceSensor>& force_sensors() const override {
    return streams_.sensors;
  }
  const std::vector<recording::Event>& events() const override { return events_; }
  const std::map<std::string, std::vector<uint8_t>>& documents() const override {
    return documents_;
  }
  const std::vector<recording::Gap>& gaps() const override { return gaps_; }
  const Issues& issues() const override { return issues_; }
  int64_t bytes() const override { return file_->size(); }
  Status ForEachBlock(Duration span, const BlockVisitor& visit) override;

 private:
  Status ReadHead(std::vector<uint8_t>& header, std::vector<uint8_t>& parameters, int64_t& shift);
  Status Survey(Issues& issues);
  Result<double> GuessUnit(Issues& issues);
  Status TarePlatforms();
  Status JudgePlatforms();
  recording::ForceSensor& SensorOf(int stream_id);
  void TellOfEvents();
  void TellOfTheEnd();
  int64_t Ratio(size_t stream) const;
  Result<C3dFrames> ReadFrames(int64_t first, int count);
  int FramesAtOnce(Duration span) const;
  void Decode(const C3dStreamPlan& plan, const C3dFrames& frames, SampleBlock& block);
  Status ReadRotations(int64_t first, int64_t count, SampleBlock& block);
  void TellOfCounts();
  PointRules rules() const { return {contents_.scale, contents_.metres_per_unit, ignore_words_}; }

  const std::unique_ptr<ByteSource> file_;
  const std::string path_;
  const C3dReadOptions options_;
  C3dParameters parameters_;
  C3dContents contents_;
  recording::ClipInfo info_;
  recording::ClockMap clock_;
  C3dStreams streams_;
  std::vector<recording::Event> events_;
  std::vector<recording::Gap> gaps_;
  std::map<std::string, std::vector<uint8_t>> documents_;
  Issues issues_;
  bool ignore_words_ = false, any_mask_ = false, counts_told_ = false;
  PointCounts counts_;
  int64_t odd_rotations_ = 0, zero_rotations_ = 0;
  std::map<size_t, geometry::Vec6> tares_S_;  ///< by stream: the load that a tare took off
  std::vector<uint8_t> buffer_;
  std::vector<double> scratch_;
};

Status C3dSource::ReadHead(std::vector<uint8_t>& header, std::vector<uint8_t>& parameters,
                           int64_t& shift) {
  const auto refuse = [](ErrorCode code, const std::string& what) { return Error{code, what}; };
  if (file_->size() < 2 * kC3dBlock)
    return refuse(ErrorCode::kCorrupt, "is shorter than a C3D file's header and parameters (" +
                                           std::to_string(file_->size()) + " bytes)");
  header.resize(static_cast<size_t>(kC3dBlock));
  for (shift = 0;; shift += kC3dBlock) {
    HANDHOLD_TRY(file_->Read(shift, header));
    if (header[1] == 0x50) break;
    const bool blank = std::all_of(header.begin(), header.end(), [](uint8_t b) { return b == 0; });
    if (!blank || shift >= kMaxShift || shift + 2 * kC3dBlock > file_->size() - kC3dBlock)
      return refuse(ErrorCode::kCorrupt,
                    "is no C3D file: its second byte is " + std::to_string(header[1]) + ", not 80");
  }
  if (shift > 0)
    issues_.push_back(
        {"header", Severity::kWarning, std::to_string(shift) + " zero bytes stand before it"});
  int64_t block = header[0];
  if (block == 0) {
    block = 2;
    issues_.push_back(
        {"header", Severity::kWarning, "does not say where the parameters are; block 2 is taken"});
  }
  const int64_t at = shift + (block - 1) * kC3dBlock;
  if (at + kC3dBlock > file_->size())
    return refuse(ErrorCode::kCorrupt, "truncated: its parameters begin at byte " +
                                           std::to_string(at) + ", the file ends at " +
                                           std::to_string(file_->size()));
  parameters.resize(static_cast<size_t>(std::min(file_->size() - at, 256 * kC3dBlock)));
  return file_->Read(at, parameters);
}

Status C3dSource::Open() {
  std::vector<uint8_t> header, section;
  int64_t shift = 0;
  HANDHOLD_TRY(ReadHead(header, section, shift));
  // Whichever order the processor byte says: header word 9 is the block where the data begin.
  const auto order = static_cast<C3dProcessor>(section[3]);
  const int64_t data_block = C3dWord(&header[16], order);
  const int64_t between = data_block - std::max<int64_t>(2, header[0]);
  HANDHOLD_ASSIGN(parameters_,
                  ParseC3dParameters(
                      section, static_cast<size_t>(std::clamp<int64_t>(between, 0, 255)), issues_));
  const Issues of_parameters = issues_;
  C3dDecisions decisions{options_.rate_Hz, options_.metres_per_unit};
  const auto decide = [&]() -> Status {
    issues_ = of_parameters;
    HANDHOLD_ASSIGN(contents_, DecideC3dContents(header, shift, file_->size(), parameters_,
                                                 decisions, issues_));
    return {};
  };
  HANDHOLD_TRY(decide());
  Issues of_samples;
  HANDHOLD_TRY(Survey(of_samples));
  if (contents_.metres_per_unit <= 0) {
    HANDHOLD_ASSIGN(decisions.metres_per_unit, GuessUnit(of_samples));
    HANDHOLD_TRY(decide());  // corners and origins have the unit too
  }
  issues_.insert(issues_.end(), of_samples.begin(), of_samples.end());
  info_ = C3dClipInfo(parameters_, contents_, path_, issues_);
  documents_ = C3dDocuments(parameters_);
  clock_ = recording::ClockMap::Identity(
      -recording::DeviceTimeOfCounter(contents_.first_frame - 1, contents_.rate));
  streams_ = PlanC3dStreams(contents_, any_mask_, issues_);
  if (options_.plate_sign == C3dPlateSign::kAction) {
    for (recording::ForceSensor& sensor : streams_.sensors) sensor.sign = 1.0;
  }
  TellOfEvents();
  TellOfTheEnd();
  HANDHOLD_TRY(TarePlatforms());
  return JudgePlatforms();
}

/// Looks at fourth words until both questions are answered: does any point count as valid, does any
/// camera show in a mask?
Status C3dSource::Survey(Issues& issues) {
  WordSurvey survey;
  const int at_once = FramesAtOnce(Duration::Seconds(3600));
  for (int64_t f = 0; f < contents_.frames && !contents_.points.empty(); f += at_once) {
    if (survey.any_valid && survey.any_mask) break;
    const int count = static_cast<int>(std::min<int64_t>(at_once, contents_.frames - f));
    HANDHOLD_ASSIGN(const C3dFrames frames, ReadFrames(f, count));
    SurveyWords(frames, static_cast<int>(contents_.points.size()), survey);
  }
  any_mask_ = survey.any_mask;
  ignore_words_ = options_.invalid == C3dInvalid::kIgnore;
  if (options_.invalid == C3dInvalid::kAuto && !survey.any_valid && contents_.frames > 0 &&
      !contents_.points.empty()) {
    ignore_words_ = true;
    issues.push_back({"points", Severity::kWarning,
                      "every point of the file is marked invalid; the marks are not believed and "
                      "positions are read (--invalid trust reads none)"});
  }
  return {};
}

/// A hand's or a person's coordinates in millimetres exceed 20 soon; in metres they never do.
Result<double> C3dSource::GuessUnit(Issues& issues) {
  double largest = 0;
  const int at_once = FramesAtOnce(Duration::Seconds(3600));
  const int count = static_cast<int>(std::min<int64_t>(at_once, contents_.frames));
  HANDHOLD_ASSIGN(const C3dFrames frames, ReadFrames(0, count));
  std::vector<int> all;
  for (size_t i = 0; i < contents_.points.size(); ++i) all.push_back(static_cast<int>(i));
  std::vector<double> values(all.size() * 3 * static_cast<size_t>(count));
  PointRules plain{contents_.scale, 1.0, ignore_words_};
  PointCounts uncounted;
  DecodeOutputs(frames, all, plain, values.data(), uncounted);
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const double metres = largest > 0 && largest < 20 ? 1.0 : 1e-3;
  issues.push_back({"POINT:UNITS", Severity::kWarning,
                    std::string("says no unit of length that is known; by their size, positions "
                                "are taken as ") +
                        (metres == 1.0 ? "metres" : "millimetres") + " (--unit says otherwise)"});
  return metres;
}

void C3dSource::TellOfEvents() {
  for (const C3dEvent& event : contents_.events) {
    recording::Event e;
    e.clip_time = Timestamp::FromSeconds(event.time_s);
    e.kind = event.label.empty() ? "mark" : event.label;
    e.origin = "c3d";
    e.text = event.context;
    events_.push_back(std::move(e));
  }
}

/// Samples per frame.
int64_t C3dSource::Ratio(size_t stream) const {
  const C3dStreamPlan& plan = streams_.plans[stream];
  return plan.content == C3dContent::kRotations ? contents_.rotations.ratio
         : plan.columns.empty()                 ? 1
                                                : contents_.ratio;
}

/// What is promised and not there is missing from every stream's end.
void C3dSource::TellOfTheEnd() {
  for (size_t s = 0; s < streams_.infos.size(); ++s) {
    const int64_t ratio = Ratio(s);
    const int64_t there = streams_.plans[s].content == C3dContent::kRotations
                              ? contents_.rotations.samples
                              : contents_.frames * ratio;
    const int64_t missing = contents_.promised_frames * ratio - there;
    if (missing > 0)
      gaps_.push_back(GapAtEnd(streams_.infos[s], clock_,
                               (contents_.first_frame - 1) * ratio + there, missing));
  }
}

/// FORCE_PLATFORM:ZERO: the mean over these frames is what the unloaded plate reads.
Status C3dSource::TarePlatforms() {
  if (!contents_.zero_frames || streams_.sensors.empty()) return {};
  if (options_.plate_zero == C3dPlateZero::kChannels) {
    issues_.push_back({"FORCE_PLATFORM:ZERO", Severity::kNote,
                       "is not used: the platforms' zero is their channels' OFFSET, as told"});
    return {};
  }
  const int64_t begin = (*contents_.zero_frames)[0] - 1;
  const int64_t end =
      std::min({(*contents_.zero_frames)[1], contents_.frames, begin + kMaxZeroFrames});
  if (begin >= end) return {};
  for (size_t s = 0; s < streams_.infos.size(); ++s) {
    if (streams_.plans[s].content != C3dContent::kPlate) continue;
    recording::ForceSensor& sensor = SensorOf(streams_.infos[s].id);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(sensor.bias.size());
    int64_t samples = 0;
    const int at_once = FramesAtOnce(Duration::Seconds(3600));
    SampleBlock block;
    for (int64_t f = begin; f < end; f += at_once) {
      HANDHOLD_ASSIGN(const C3dFrames frames,
                      ReadFrames(f, static_cast<int>(std::min<int64_t>(at_once, end - f))));
      Decode(streams_.plans[s], frames, block);
      for (Eigen::Index c = 0; c < sum.size(); ++c) {
        for (int i = 0; i < block.count; ++i) sum(c) += block.value(static_cast<int>(c), i);
      }
      samples += block.count;
    }
    if (!sum.allFinite()) continue;
    const Eigen::VectorXd mean = sum / static_cast<double>(samples);
    tares_S_[s] = sensor.Wrench(mean);
    sensor.bias = mean;
  }
  issues_.push_back({"FORCE_PLATFORM:ZERO", Severity::kNote,
                     "the mean of frames " + std::to_string(begin + 1) + " to " +
                         std::to_string(end) + " is the platforms' zero"});
  return {};
}

recording::ForceSensor& C3dSource::SensorOf(int stream_id) {
  const auto sensor =
      std::find_if(streams_.sensors.begin(), streams_.sensors.end(),
                   [&](const auto& candidate) { return candidate.stream_id == stream_id; });
  CHECK(sensor != streams_.sensors.end());
  return *sensor;
}

/// By frames spread over the file: JudgePlatform.
Status C3dSource::JudgePlatforms() {
  const int64_t step = std::max<int64_t>(1, contents_.frames / kJudgedFrames);
  std::map<size_t, std::vector<geometry::Vec6>> wrenches_S;
  SampleBlock block;
  for (int64_t f = 0; f < contents_.frames && !streams_.sensors.empty(); f += step) {
    HANDHOLD_ASSIGN(const C3dFrames frames, ReadFrames(f, 1));
    for (size_t s = 0; s < streams_.infos.size(); ++s) {
      const C3dStreamPlan& plan = streams_.plans[s];
      if (plan.platform < 0) continue;
      const recording::ForceSensor& sensor = SensorOf(streams_.infos[s].id);
      Decode(plan, frames, block);
      Eigen::VectorXd raw(sensor.bias.size());
      for (Eigen::Index c = 0; c < raw.size(); ++c) raw(c) = block.value(static_cast<int>(c), 0);
      wrenches_S[s].push_back(sensor.Wrench(raw));
    }
  }
  for (const auto& [s, samples] : wrenches_S) {
    const int number = streams_.plans[s].platform;
    JudgePlatform(contents_.platforms[static_cast<size_t>(number)],
                  "force platform " + std::to_string(number + 1), samples,
                  SensorOf(streams_.infos[s].id), issues_);
    const auto tare = tares_S_.find(s);
    if (tare != tares_S_.end())
      JudgeZero("force platform " + std::to_string(number + 1), tare->second, samples,
                SensorOf(streams_.infos[s].id), issues_);
  }
  return {};
}

Result<C3dFrames> C3dSource::ReadFrames(int64_t first, int count) {
  const int64_t bytes = contents_.frame_bytes() * count;
  buffer_.resize(static_cast<size_t>(bytes));
  HANDHOLD_TRY(file_->Read(contents_.data_offset + first * contents_.frame_bytes(), buffer_));
  return NativeFrames(contents_, buffer_, count);
}

int C3dSource::FramesAtOnce(Duration span) const {
  const double wanted = std::min(span.seconds() * contents_.rate.hz(), 1e6);
  const C3dRotations& rotations = contents_.rotations;
  const int64_t of_bodies =
      static_cast<int64_t>(rotations.labels.size()) * kRotationFloats * 4 * rotations.ratio;
  const int64_t bytes = std::max<int64_t>(1, contents_.frame_bytes() + of_bodies);
  const int64_t most = std::max<int64_t>(1, kReadBytes / bytes);
  return static_cast<int>(std::clamp<int64_t>(static_cast<int64_t>(wanted), 1, most));
}

void C3dSource::Decode(const C3dStreamPlan& plan, const C3dFrames& frames, SampleBlock& block) {
  const bool analog = !plan.columns.empty();
  block.count = frames.count * (analog ? contents_.ratio : 1);
  const auto count = static_cast<size_t>(block.count);
  switch (plan.content) {
    case C3dContent::kMarkers:
      block.values.resize(plan.points.size() * 4 * count);
      DecodeMarkers(frames, plan.points, rules(), block.values.data(), counts_);
      break;
    case C3dContent::kOutputs:
      block.values.resize(plan.points.size() * 3 * count);
      DecodeOutputs(frames, plan.points, rules(), block.values.data(), counts_);
      break;
    case C3dContent::kCameras:
      block.values.resize(plan.points.size() * count);
      DecodeCameras(frames, plan.points, rules(), block.values.data());
      break;
    case C3dContent::kPlate:
    case C3dContent::kPlateType1:
    case C3dContent::kAnalog:
      block.values.resize(plan.columns.size() * count);
      DecodeAnalog(contents_, frames, plan.columns, block.values.data());
      break;
    case C3dContent::kRotations:
      break;
  }
  if (plan.content != C3dContent::kPlateType1) return;
  // Centre of pressure and moment come in units of length of the file.
  const double metres = contents_.metres_per_unit;
  for (int i = 0; i < block.count; ++i) {
    const auto at = [&](int c) { return block.value(c, i); };
    const std::array<double, 6> wrench = WrenchOfType1(
        {at(0), at(1), at(2), at(3) * metres, at(4) * metres,
         at(5) *
             NewtonMetresPerUnit(
                 contents_.channels[static_cast<size_t>(plan.columns[5].channel)].unit, metres)});
    for (int c = 0; c < 6; ++c) block.value(c, i) = wrench[static_cast<size_t>(c)];
  }
}

Status C3dSource::ReadRotations(int64_t first, int64_t count, SampleBlock& block) {
  const size_t bodies = contents_.rotations.labels.size();
  const size_t stride = bodies * kRotationFloats * 4;
  std::vector<uint8_t> bytes(stride * static_cast<size_t>(count));
  HANDHOLD_TRY(
      file_->Read(contents_.rotations.offset + first * static_cast<int64_t>(stride), bytes));
  block.count = static_cast<int>(count);
  block.values.assign(bodies * 7 * static_cast<size_t>(count),
                      std::numeric_limits<double>::quiet_NaN());
  for (int i = 0; i < block.count; ++i) {
    for (size_t b = 0; b < bodies; ++b) {
      const uint8_t* p = &bytes[static_cast<size_t>(i) * stride + b * kRotationFloats * 4];
      double m[kRotationFloats];
      for (size_t k = 0; k < kRotationFloats; ++k)
        m[k] = static_cast<double>(C3dFloat(p + 4 * k, contents_.processor));
      geometry::Mat3 R;
      R << m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10];  // stored by columns
      const bool finite = R.allFinite() && std::isfinite(m[12] + m[13] + m[14]);
      if (!(m[16] >= 0) || !finite) continue;  // negative: not seen
      if (R.isZero()) {
        ++zero_rotations_;
        continue;
      }
      if (!(R * R.transpose()).isIdentity(1e-3) || R.determinant() < 0) {
        ++odd_rotations_;
        continue;
      }
      const Eigen::Vector4d q = geometry::ToQuaternion(R);
      const double values[7] = {m[12] * contents_.metres_per_unit,
                                m[13] * contents_.metres_per_unit,
                                m[14] * contents_.metres_per_unit,
                                q(0),
                                q(1),
                                q(2),
                                q(3)};
      for (int k = 0; k < 7; ++k) block.value(static_cast<int>(b) * 7 + k, i) = values[k];
    }
  }
  return {};
}

Status C3dSource::ForEachBlock(Duration span, const BlockVisitor& visit) {
  const int at_once = FramesAtOnce(span);
  counts_ = {};
  odd_rotations_ = zero_rotations_ = 0;
  std::vector<SampleBlock> blocks(streams_.infos.size());
  for (int64_t f = 0; f < contents_.frames; f += at_once) {
    const int count = static_cast<int>(std::min<int64_t>(at_once, contents_.frames - f));
    HANDHOLD_ASSIGN(const C3dFrames frames, ReadFrames(f, count));
    for (size_t s = 0; s < streams_.infos.size(); ++s) {
      SampleBlock& block = blocks[s];
      block.stream_id = streams_.infos[s].id;
      const int64_t ratio = Ratio(s);
      if (streams_.plans[s].content == C3dContent::kRotations) {
        const int64_t left = contents_.rotations.samples - f * ratio;
        if (left <= 0) continue;
        HANDHOLD_TRY(ReadRotations(f * ratio, std::min(left, count * ratio), block));
      } else {
        Decode(streams_.plans[s], frames, block);
      }
      block.first_index = f * ratio;
      block.first_counter = (contents_.first_frame - 1 + f) * ratio;
      HANDHOLD_TRY(visit(block));
    }
  }
  TellOfCounts();
  return {};
}

void C3dSource::TellOfCounts() {
  if (counts_told_) return;
  counts_told_ = true;
  if (counts_.at_origin > 0)
    issues_.push_back(
        {"points", Severity::kNote,
         std::to_string(counts_.at_origin) + " at exactly (0, 0, 0) are read as missing"});
  if (counts_.not_finite > 0)
    issues_.push_back({"points", Severity::kNote,
                       std::to_string(counts_.not_finite) +
                           " with coordinates that are no numbers are read as missing"});
  if (counts_.outputs_at_zero > 0)
    issues_.push_back({"c3d/outputs", Severity::kNote,
                       std::to_string(counts_.outputs_at_zero) +
                           " of a model's are exactly (0, 0, 0) and not marked invalid: kept as "
                           "numbers, though some models write that where they know none"});
  if (zero_rotations_ > 0)
    issues_.push_back(
        {"rotations", Severity::kNote,
         std::to_string(zero_rotations_) + " matrices of nothing but zeros are read as missing"});
  if (odd_rotations_ > 0)
    issues_.push_back(
        {"rotations", Severity::kLoss,
         std::to_string(odd_rotations_) + " matrices are no rotations and are read as missing"});
}

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenC3d(std::unique_ptr<ByteSource> bytes,
                                              const std::string& name,
                                              const C3dReadOptions& options) {
  auto source = std::make_unique<C3dSource>(std::move(bytes), name, options);
  if (Status opened = source->Open(); !opened) return opened.error().Within(name);
  return std::unique_ptr<ImportSource>(std::move(source));
}

Result<std::unique_ptr<ImportSource>> OpenC3d(const std::string& path,
                                              const C3dReadOptions& options) {
  HANDHOLD_ASSIGN(std::unique_ptr<ByteSource> bytes, ByteSource::OpenFile(path));
  return OpenC3d(std::move(bytes), path, options);
}

Result<std::unique_ptr<ImportSource>> OpenC3d(std::span<const uint8_t> bytes,
                                              const std::string& name,
                                              const C3dReadOptions& options) {
  return OpenC3d(ByteSource::OfBytes(bytes), name, options);
}

}  // namespace handhold::exchange
