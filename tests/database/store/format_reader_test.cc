// schemas/README.md against a reader that was written from it alone, in another language
// (format_reader.py): it must read every value of every kind of stream and of every kind of
// artefact as this program does. What the page does not say fails here. A new kind: a case of
// ArtefactsOfEveryKind, a row of the page's table, a line of the script's KINDS.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "database/base/digest.h"
#include "database/store/artefact_file.h"
#include "database/store/clip_writer.h"
#include "database/text/json.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/support/command.h"

namespace handhold::store {
namespace {

using Lists = std::map<std::string, std::string>;

std::string Token(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(std::bit_cast<uint64_t>(value)));
  return text;
}
std::string Token(const std::string& value) { return text::QuoteJson(value); }
std::string Token(const char* value) { return text::QuoteJson(value); }
std::string Token(std::string_view value) { return text::QuoteJson(value); }
template <std::integral T>
std::string Token(T value) {
  return std::to_string(value);
}

/// What the script must print, list by list.
class Expected {
 public:
  template <typename... T>
  void Row(const std::string& name, const T&... values) {
    std::string line;
    ((line += (line.empty() ? "" : " ") + Token(values)), ...);
    lists_[name] = line;
  }
  template <typename Range>
  void All(const std::string& name, const Range& values) {
    std::string line;
    for (const auto& value : values) line += (line.empty() ? "" : " ") + Token(value);
    lists_[name] = line;
  }
  void Word(const std::string& name, const char* word) { lists_[name] = word; }
  void Number(const std::string& name, double value) {  // of JSON
    if (std::isfinite(value)) {
      lists_[name] = value == std::floor(value) ? Token(static_cast<int64_t>(value)) : Token(value);
    } else {
      lists_[name] = Token(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
  }
  template <typename Derived>
  void Matrix(const std::string& name, const Eigen::MatrixBase<Derived>& given) {
    const Eigen::MatrixXd m = given.template cast<double>();
    std::string line = Token(m.rows()) + " " + Token(m.cols());
    for (Eigen::Index r = 0; r < m.rows(); ++r) {
      for (Eigen::Index c = 0; c < m.cols(); ++c) line += " " + Token(m(r, c));
    }
    lists_["matrix/" + name] = line;
  }
  void Times(const std::vector<Timestamp>& times) {
    std::vector<int64_t> ns;
    for (const Timestamp t : times) ns.push_back(t.ns());
    All("list/times", ns);
  }
  const Lists& lists() const { return lists_; }

 private:
  Lists lists_;
};

/// What the script prints of a file.
Lists Read(const std::string& path, std::set<std::string>& met) {
  const auto run =
      support::RunCommand(std::string(HANDHOLD_PREFIX) + "/oracles/python/bin/python " +
                          HANDHOLD_SOURCE_DIR + "/tests/database/store/format_reader.py " + path);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  Lists lists;
  std::istringstream in(run.output);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      ADD_FAILURE() << line;
      continue;
    }
    const std::string name = line.substr(0, tab), values = line.substr(tab + 1);
    if (name == "met") {
      met.insert(values);
    } else {
      lists[name] = values;
    }
  }
  return lists;
}

void Compare(const Lists& expected, const Lists& read) {
  for (const auto& [name, values] : expected) {
    const auto found = read.find(name);
    if (found == read.end()) {
      ADD_FAILURE() << name << " was not read";
      continue;
    }
    if (found->second == values) continue;
    std::istringstream a(values), b(found->second);
    std::string x, y;
    for (int i = 0; (a >> x) && (b >> y); ++i) {
      if (x != y) {
        ADD_FAILURE() << name << ": value " << i << " is " << x << ", was read as " << y;
        break;
      }
    }
    if (x == y) ADD_FAILURE() << name << ": lists of different lengths";
  }
  for (const auto& [name, values] : read)
    EXPECT_TRUE(expected.contains(name)) << name << " was read and is not there: " << values;
}

void ExpectStream(const ClipReader& clip, const recording::StreamInfo& stream, Expected& e) {
  const std::string path = "stream/" + std::to_string(stream.id);
  e.Row(path, stream.name, StreamKindName(stream.kind), stream.rate.numerator,
        stream.rate.denominator);
  std::vector<std::string> names, units;
  for (const recording::Channel& channel : stream.channels) {
    names.push_back(channel.name);
    units.push_back(channel.unit);
  }
  e.All(path + "/channels", names);
  e.All(path + "/units", units);
  const recording::SampleWindow all = clip.ReadAll(stream.id).value();
  std::vector<int64_t> times;
  for (const Timestamp t : all.times) times.push_back(t.ns());
  e.All(path + "/times", times);
  e.All(path + "/counters", all.counters);
  const bool ragged = stream.kind == recording::StreamKind::kUnlabelledPoints;
  const size_t columns =
      stream.kind == recording::StreamKind::kText ? 0 : static_cast<size_t>(stream.channel_count());
  for (size_t c = 0; c < columns; ++c) {
    std::vector<double> values;
    std::vector<int> origins;
    const size_t n = ragged ? all.values.size() / columns : all.times.size();
    for (size_t i = 0; i < n; ++i) {
      const size_t at = ragged ? i * columns + c : c * n + i;
      values.push_back(all.values[at]);
      if (!all.origins.empty()) origins.push_back(static_cast<int>(all.origins[at]));
    }
    e.All(path + "/values/" + std::to_string(c), values);
    if (!origins.empty()) e.All(path + "/origins/" + std::to_string(c), origins);
  }
  if (ragged) e.All(path + "/points", all.point_counts);
  if (stream.kind == recording::StreamKind::kText) e.All(path + "/texts", all.texts);
  const auto pairs = clip.ClockPairs(stream.id).value();
  if (!pairs.empty()) {
    std::vector<int64_t> columns_of[4];
    for (const recording::ClockPair& p : pairs) {
      const int64_t row[] = {p.counter, p.device_ns, p.host_ns, p.latency_ns};
      for (size_t k = 0; k < 4; ++k) columns_of[k].push_back(row[k]);
    }
    const char* const kNames[] = {"counter", "device", "host", "latency"};
    for (size_t k = 0; k < 4; ++k) e.All(path + "/pairs/" + kNames[k], columns_of[k]);
  }
  ASSERT_TRUE(clip.VisitZones(stream.id, [&](const ClipReader::TimedZone& timed) -> Status {
    const Zone& zone = timed.zone;
    std::string name = "zone/" + std::to_string(zone.stream_id) + "/";
    name += std::to_string(zone.sequence);
    std::vector<std::string> tokens;
    for (const auto* list : {&zone.channels, &zone.calibrated}) {
      for (const ZoneRange& range : *list) {
        tokens.push_back(Token(static_cast<double>(range.min)));
        tokens.push_back(Token(static_cast<double>(range.max)));
        tokens.push_back(Token(range.missing));
      }
    }
    std::string line =
        Token(zone.count) + " " + Token(zone.channels.size()) + " " + Token(zone.calibrated.size());
    for (const std::string& token : tokens) line += " " + token;
    e.Word(name, line.c_str());
    return {};
  }));
}

void ExpectClip(const std::string& path, Expected& e) {
  const auto clip = ClipReader::Open(path).value();
  const recording::ClipInfo& info = clip->info();
  for (const auto& [key, value] : {std::pair("name", &info.name),
                                   {"subject", &info.subject},
                                   {"session", &info.session},
                                   {"task", &info.task},
                                   {"prop", &info.prop}})
    e.Row(std::string("info/") + key, *value);
  e.Row("info/utc_start_ns", info.utc_start.ns());
  e.Row("info/host_start_ns", info.host_start_ns);
  for (const auto& [key, value] : info.properties) e.Row("property/" + key, value);
  for (const recording::StreamInfo& stream : clip->streams()) ExpectStream(*clip, stream, e);
  for (const recording::ForceSensor& s : clip->force_sensors()) {
    e.Row("sensor/" + s.name, s.stream_id, s.sign, s.full_scale_N);
    e.All("sensor/" + s.name + "/calibration", s.calibration.reshaped());
    e.All("sensor/" + s.name + "/bias", s.bias);
    std::vector<double> pose(s.X_WS.R.data(), s.X_WS.R.data() + 9);
    pose.insert(pose.end(), s.X_WS.p.data(), s.X_WS.p.data() + 3);
    e.All("sensor/" + s.name + "/pose", pose);
    e.All("sensor/" + s.name + "/normal", s.normal_S);
  }
  int k = 0;
  for (const recording::Event& event : clip->events()) {
    e.Row("event/" + std::to_string(k++), event.clip_time.ns(), event.length.ns(), event.kind,
          event.origin, event.stream_id, event.value, event.text);
  }
  k = 0;
  for (const recording::Gap& gap : clip->gaps()) {
    e.Row("gap/" + std::to_string(k++), gap.stream_id, gap.first_missing_counter, gap.count,
          GapCauseName(gap.cause), gap.clip_begin.ns(), gap.clip_end.ns());
  }
}

/// Columns that need each kind, each predictor, and differences that wrap at 32 bits: a falling
/// line under noise, of which predictor 3 is the best guess, that jumps by more than 2^31.
recording::Clip RareColumns() {
  std::mt19937_64 rng(5);
  std::normal_distribution<double> noise(0.0, 1.0);
  recording::ClipInfo info;
  info.id = ClipId::New();
  recording::Clip clip(info);
  recording::StreamInfo stream;
  stream.name = "rare";
  stream.kind = recording::StreamKind::kAnalog;
  stream.rate = {1000, 1};
  stream.channels = {{"counts", "count", 0.5}, {"float_counts", "1", 0.1}, {"floats", "1", 0},
                     {"doubles", "1", 0},      {"milli", "m", 0},          {"wraps", "count", 1},
                     {"constant", "1", 1},     {"line", "count", 1},       {"noise", "count", 1}};
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(stream, recording::ClockMap::Identity());
  block.count = 2500;
  const auto n = static_cast<size_t>(block.count);
  block.values.resize(n * stream.channels.size());
  double walk = 0;
  for (int i = 0; i < block.count; ++i) {
    walk += noise(rng);
    const double k = std::round(100 * std::sin(0.01 * i) + walk);
    const double values[] = {
        0.5 * k,
        static_cast<double>(static_cast<float>(0.1 * k)),
        static_cast<double>(static_cast<float>(noise(rng) * 1e-30)),
        i == 7 ? -std::numeric_limits<double>::infinity() : noise(rng),
        static_cast<double>(static_cast<float>(noise(rng))) * 1e-3,
        std::round((i < 1200 ? -0.9e9 - 1e6 * i : 2.1e9 - 1e6 * (i - 1200)) + 2e5 * noise(rng)),
        3.0,
        1e6 * i,
        std::round(5 * noise(rng))};
    for (size_t c = 0; c < stream.channels.size(); ++c)
      block.values[c * n + static_cast<size_t>(i)] = values[c];
  }
  for (size_t i = 0; i < 50; ++i)
    block.values[2 * n + 300 + i] = block.values[4 * n] = std::numeric_limits<double>::quiet_NaN();
  clip.Append(block);
  return clip;
}

artefact::Provenance Made(const std::string& step) {
  artefact::Provenance p;
  p.step = step;
  p.version = 3;
  p.inputs = {{"clip", std::string(64, 'a'), "stroke_007"}, {"other", "b", ""}};
  p.parameters_json =
      R"({"cutoff_Hz": 20.0, "z": [1e-7, 0.001, 0.0012, 1.5e300, 123456.75, -2.5e-5, 1e21, 0.1], )"
      R"("a": {"true": true, "none": null, "text": "\u00fc \"x\""}, "1e-4": 1e-4})";
  p.made_utc = Timestamp::FromNanoseconds(1'763'000'000'000'000'001);
  p.tool = "handhold";
  return p;
}

void ExpectArtefact(const std::string& kind, const artefact::Provenance& p, Expected& e) {
  e.Row("kind", kind);
  e.Row("provenance/step", p.step);
  e.Row("provenance/version", p.version);
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const std::string path = "provenance/inputs/" + std::to_string(i) + "/";
    e.Row(path + "role", p.inputs[i].role);
    e.Row(path + "hash", p.inputs[i].hash);
    e.Row(path + "name", p.inputs[i].name);
  }
  e.Row("provenance/parameters_json", p.parameters_json);
  e.Row("provenance/made_utc_ns", p.made_utc.ns());
  e.Row("provenance/tool", p.tool);
}

Eigen::MatrixXd Numbers(Eigen::Index rows, Eigen::Index cols) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(rows, cols);
  if (m.size() > 2) {
    m(0, 0) = std::numeric_limits<double>::quiet_NaN();
    m(m.rows() - 1, m.cols() - 1) = -std::numeric_limits<double>::infinity();
    m(0, m.cols() - 1) = -0.0;
  }
  return m;
}

std::vector<Timestamp> Frames(int n) {
  std::vector<Timestamp> times;
  for (int i = 0; i < n; ++i) times.push_back(Timestamp::FromNanoseconds(2'000'000ll * i + i % 3));
  return times;
}

class FormatPage : public ::testing::Test {
 protected:
  void CheckArtefact(const Result<std::string>& hash, Expected& e) {
    ASSERT_TRUE(hash) << hash.error().message;
    const std::string path = dir_ / (*hash + ".art");
    ExpectClip(path, e);
    Compare(e.lists(), Read(path, met_));
  }
  const TempDir dir_;
  std::set<std::string> met_;  ///< "kind predictor" of all columns that the script read
};

TEST_F(FormatPage, EveryValueOfEveryKindOfStreamIsReadFromThePageAlone) {
  FixtureOptions fixture;
  fixture.seconds = 2.5;
  ClipWriterOptions direct, lossless;
  direct.already_complete = lossless.already_complete = lossless.lossless = true;
  const recording::Clip rare = RareColumns();
  int k = 0;
  for (const auto& [clip, options] : {std::pair(MakeClip(3, fixture), ClipWriterOptions()),
                                      {MakeClip(4, fixture), lossless},
                                      {rare, direct},
                                      {rare, lossless}}) {
    SCOPED_TRACE(k);
    const std::string path = dir_ / (std::to_string(k++) + ".clip");
    ASSERT_TRUE(WriteClip(clip, path, options));
    Expected e;
    ExpectClip(path, e);
    Compare(e.lists(), Read(path, met_));
  }
  // All there is to read was there: six kinds of columns, four predictors of 32-bit ones and two of
  // 64-bit ones at least, and a whole second of differences that wrap.
  std::set<char> kinds, predictors;
  for (const std::string& column : met_) {
    kinds.insert(column[0]);
    if (column[0] < '3') predictors.insert(column[2]);
  }
  EXPECT_EQ(kinds, (std::set<char>{'0', '1', '2', '3', '4', '5'}));
  EXPECT_EQ(predictors, (std::set<char>{'0', '1', '2', '3'}));
  const auto wraps = rare.ReadAll(1).value();
  EXPECT_GT(std::abs(wraps.value(5, 1200) - wraps.value(5, 1198)), 2147483648.0);
}

// A recording as it is before it is closed: chunks of 0.1 s, one frame each.
TEST_F(FormatPage, AnUnclosedRecordingIsReadFromThePageAlone) {
  const std::string path = dir_ / "open.clip";
  recording::ClipInfo info;
  info.id = ClipId::New();
  info.name = "open";
  auto writer = ClipWriter::Create(path, info, {}).value();
  std::mt19937_64 rng(9);
  const int id = writer->AddStream(MarkerStream(3, 1e-5)).value();
  ASSERT_TRUE(writer->SetClockMap(id, recording::ClockMap::Identity()));
  for (int b = 0; b < 30; ++b)
    ASSERT_TRUE(writer->Append(MarkerBlock(rng, id, 12, b * 20, b * 20 + b / 7, 20)));
  ASSERT_TRUE(writer->Commit(true));
  Expected e;
  const Lists read = Read(path, met_);
  const auto clip = ClipReader::Open(path).value();
  ExpectStream(*clip, clip->streams()[0], e);
  for (const auto& [name, values] : e.lists()) {
    if (name.starts_with("zone/")) continue;  // made at closing
    EXPECT_TRUE(read.contains(name)) << name;
    if (read.contains(name)) {
      EXPECT_EQ(read.at(name), values) << name;
    }
  }
}

TEST_F(FormatPage, PoseTracksAreReadFromThePageAlone) {
  artefact::PoseTrack pose;
  pose.provenance = Made("fit.pose");
  pose.skeleton_hash = "f00d";
  pose.dof_names = {"mp.flex", "pip.flex"};
  pose.times = Frames(4500);  // more than one block of columns
  pose.q = Numbers(2, 4500);
  pose.information_diagonal = Numbers(2, 4500);
  pose.information = {{4, Numbers(2, 2)}, {77, Numbers(2, 2)}};
  pose.marker_names = {"A", "B", "C"};
  pose.marker_residual_m = Numbers(3, 4500);
  pose.at_limit = (Eigen::MatrixXd::Random(2, 4500).array() > 0).matrix();
  Expected e;
  ExpectArtefact("pose_track", pose.provenance, e);
  e.Row("content/summary_json", pose.summary_json);
  e.Row("content/skeleton_hash", "f00d");
  e.All("content/dof_names", pose.dof_names);
  e.All("content/marker_names", pose.marker_names);
  e.Times(pose.times);
  e.Matrix("q", pose.q);
  e.Matrix("information_diagonal", pose.information_diagonal);
  e.Matrix("marker_residual_m", pose.marker_residual_m);
  e.Matrix("at_limit", pose.at_limit);
  e.Row("list/information_frames", 4, 77);
  Eigen::MatrixXd stack(4, 2);
  stack << pose.information[4].reshaped(), pose.information[77].reshaped();
  e.Matrix("information", stack);
  CheckArtefact(SaveArtefact(dir_.path(), pose), e);
}

TEST_F(FormatPage, ContactTracksAreReadFromThePageAlone) {
  artefact::ContactTrack track;
  track.provenance = Made("fit.contact");
  track.times = Frames(50);
  track.f_onHand_W = Numbers(3, 50);
  track.p_WC = Numbers(3, 50);
  track.normal_W = Numbers(3, 50);
  track.point_offset_m = Numbers(50, 1);
  track.tau_Nm = Numbers(4, 50);
  track.phase = {-1, 0, 0, 1, 0, 0, 7};
  track.phases.push_back({3, "plate", Timestamp::FromNanoseconds(5), Duration::Nanoseconds(6),
                          Timestamp::FromNanoseconds(7), Duration::Nanoseconds(8), 4.25,
                          "scratching"});
  Expected e;
  ExpectArtefact("contact_track", track.provenance, e);
  e.Row("content/summary_json", track.summary_json);
  const std::string phase = "content/phases/0/";
  e.Row(phase + "body", 3);
  e.Row(phase + "surface", "plate");
  e.Row(phase + "onset_ns", 5);
  e.Row(phase + "onset_sd_ns", 6);
  e.Row(phase + "release_ns", 7);
  e.Row(phase + "release_sd_ns", 8);
  e.Number(phase + "peak_force_N", 4.25);
  e.Row(phase + "task", "scratching");
  e.Times(track.times);
  e.Matrix("f_onHand_W", track.f_onHand_W);
  e.Matrix("p_WC", track.p_WC);
  e.Matrix("normal_W", track.normal_W);
  e.Matrix("point_offset_m", track.point_offset_m);
  e.Matrix("tau_Nm", track.tau_Nm);
  e.Matrix("inertia_share", track.inertia_share);
  e.All("list/phase", track.phase);
  CheckArtefact(SaveArtefact(dir_.path(), track), e);
}

TEST_F(FormatPage, InteractionTrajectoriesAreReadFromThePageAlone) {
  artefact::InteractionTrajectory t;
  t.provenance = Made("fit.compliance");
  t.dof_names = {"mp.flex", "mp.abd"};
  t.times = Frames(20);
  t.q = Numbers(2, 20);
  t.q_reference = Numbers(2, 20);
  t.compliance_rad_per_Nm = Numbers(2, 20);
  t.time_constant_s = Numbers(20, 1);
  t.assumed = {0, 1};
  artefact::ComplianceFit fit;
  fit.estimator = "dynamic";
  fit.task = "exploring";
  fit.joints = {{"mp.flex", 0.75, 0.125, 0.625, 0.875, ""},
                {"mp.abd", std::nullopt, 0.0, 0.0, std::numeric_limits<double>::infinity(), "no"}};
  fit.covariance_log = Numbers(1, 1);
  fit.time_shift_s = -0.0015;
  fit.events_used = 6;
  fit.chi2_per_dof = 1.5;
  fit.discarded = {{2, "mp.abd", std::numeric_limits<double>::quiet_NaN(), "negative"}};
  fit.events = {{0, Numbers(2, 1), 1.25}, {1, Numbers(2, 1), 0.5}};
  t.fits = {fit};
  Expected e;
  ExpectArtefact("interaction_trajectory", t.provenance, e);
  e.Row("content/summary_json", t.summary_json);
  e.Row("content/skeleton_hash", "");
  e.All("content/dof_names", t.dof_names);
  e.Times(t.times);
  e.Matrix("q", t.q);
  e.Matrix("q_reference", t.q_reference);
  e.Matrix("q_reference_dynamic", t.q_reference_dynamic);
  e.Matrix("compliance_rad_per_Nm", t.compliance_rad_per_Nm);
  e.Matrix("time_constant_s", t.time_constant_s);
  e.Matrix("extrapolation_rms_rad", t.extrapolation_rms_rad);
  e.Row("list/assumed", 0, 1);
  const std::string f = "content/fits/0/";
  e.Row(f + "estimator", "dynamic");
  e.Row(f + "task", "exploring");
  for (size_t j = 0; j < 2; ++j) {
    const std::string joint = f + "joints/" + std::to_string(j) + "/";
    const artefact::JointCompliance& c = fit.joints[j];
    e.Row(joint + "dof", c.dof);
    e.Word(joint + "compliance_rad_per_Nm", "null");
    if (c.compliance_rad_per_Nm) e.Number(joint + "compliance_rad_per_Nm", 0.75);
    e.Number(joint + "sd_log", c.sd_log);
    e.Number(joint + "lower_rad_per_Nm", c.lower_rad_per_Nm);
    e.Number(joint + "upper_rad_per_Nm", c.upper_rad_per_Nm);
    e.Row(joint + "refusal", c.refusal);
  }
  e.Word(f + "time_constant_s", "null");
  e.Word(f + "inertia_scale", "null");
  e.Number(f + "time_shift_s", -0.0015);
  e.Number(f + "time_shift_sd_s", 0);
  e.Number(f + "chi2_per_dof", 1.5);
  e.Row(f + "events_used", 6);
  e.Row(f + "discarded/0/phase", 2);
  e.Row(f + "discarded/0/dof", "mp.abd");
  e.Row(f + "discarded/0/value_rad_per_Nm", "nan");
  e.Row(f + "discarded/0/reason", "negative");
  e.Matrix("fits/0/covariance_log", fit.covariance_log);
  for (size_t k = 0; k < 2; ++k) {
    const std::string event = "fits/0/events/" + std::to_string(k) + "/";
    e.Row("content/" + event + "phase", fit.events[k].phase);
    e.Number("content/" + event + "chi2_per_dof", fit.events[k].chi2_per_dof);
    e.Matrix(event + "compliance_rad_per_Nm", fit.events[k].compliance_rad_per_Nm);
  }
  CheckArtefact(SaveArtefact(dir_.path(), t), e);
}

TEST_F(FormatPage, MotionsAreReadFromThePageAlone) {
  artefact::Motion m;
  m.provenance = Made("synth.interaction");
  m.surface = "table";
  m.dof_names = {"a"};
  m.assumed_dofs = {"a"};
  m.times = Frames(30);
  m.q = Numbers(1, 30);
  m.objects.push_back({"ball", std::vector<geometry::RigidTransform>(30)});
  m.objects[0].X_WP[7].p = {1, 2, 3};
  m.objects[0].X_WP[7].R << 0, 1, 0, -1, 0, 0, 0, 0, 1;
  m.contacts.push_back({7, 3, -1, {1, 2, 3}, {0, 0, 1}, {0, 0, -4}, 0.125});
  m.equilibrium_residual_rad = Numbers(30, 1);
  m.lcp_residual = Numbers(30, 1);
  m.lcp_failures = 2;
  Expected e;
  ExpectArtefact("motion", m.provenance, e);
  e.Row("content/summary_json", m.summary_json);
  e.Row("content/skeleton_hash", "");
  e.Row("content/surface", "table");
  e.All("content/dof_names", m.dof_names);
  e.All("content/assumed_dofs", m.assumed_dofs);
  e.Row("content/lcp_failures", 2);
  e.Row("content/objects/0/prop", "ball");
  e.Times(m.times);
  e.Matrix("q", m.q);
  Eigen::MatrixXd poses(12, 30), contact(13, 1);
  for (Eigen::Index i = 0; i < 30; ++i)
    poses.col(i) << m.objects[0].X_WP[static_cast<size_t>(i)].R.reshaped(),
        m.objects[0].X_WP[static_cast<size_t>(i)].p;
  contact << 7, 3, -1, 1, 2, 3, 0, 0, 1, 0, 0, -4, 0.125;
  e.Matrix("objects/0/X_WP", poses);
  e.Matrix("contacts", contact);
  e.Matrix("equilibrium_residual_rad", m.equilibrium_residual_rad);
  e.Matrix("lcp_residual", m.lcp_residual);
  CheckArtefact(SaveArtefact(dir_.path(), m), e);
}

TEST_F(FormatPage, JsonArtefactsAndDerivedStreamsAreReadFromThePageAlone) {
  Expected json, streams;
  const JsonArtefact skeleton{Made("fit.skeleton"), "skeleton", R"({"name": "finger4"})"};
  ExpectArtefact("skeleton", skeleton.provenance, json);
  json.Row("content.json", skeleton.json);
  CheckArtefact(SaveArtefact(dir_.path(), skeleton), json);
  FixtureOptions fixture;
  fixture.seconds = 1.0;
  ExpectArtefact("streams", Made("fill.gaps"), streams);
  CheckArtefact(SaveArtefact(dir_.path(), Made("fill.gaps"), MakeClip(6, fixture)), streams);
}

}  // namespace
}  // namespace handhold::store
