// schemas/README.md against a reader that was written from it alone, in another language
// (format_reader.py): it must read every value of every kind of stream and of every kind of
// artefact as this program does. What the page does not say fails here. A new kind is tested by
// being one (database/artefact/kind.h): it needs a row of the page's table and a line of the
// script's KINDS.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>

#include "database/artefact/describe.h"
#include "database/artefact/kind.h"
#include "database/base/digest.h"
#include "database/store/artefact_file.h"
#include "database/store/clip_writer.h"
#include "database/text/json.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::store::format_reader_test {
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
  /// Numbers of JSON: one, or a list.
  void Number(const std::string& name, double value) { Numbers(name, std::span(&value, 1)); }
  void Numbers(const std::string& name, std::span<const double> values) {
    std::string line;
    for (const double value : values) {
      if (!line.empty()) line += " ";
      if (std::isnan(value)) {
        line += "null";
      } else if (std::isinf(value)) {
        line += Token(value > 0 ? "inf" : "-inf");
      } else {
        line += value == std::floor(value) ? Token(static_cast<int64_t>(value)) : Token(value);
      }
    }
    lists_[name] = line;
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
  const Lists& lists() const { return lists_; }

 private:
  Lists lists_;
};

/// What the script prints of a file.
Lists Read(const std::string& path, std::set<std::string>& met) {
  const auto run =
      support::RunCommand(support::Prefix() + "/oracles/python/bin/python " + support::SourceDir() +
                          "/tests/database/store/format_reader.py " + path);
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
                                   {"task", &info.task}})
    e.Row(std::string("info/") + key, *value);
  e.Row("info/utc_start_ns", info.utc_start.ns());
  e.Row("info/host_start_ns", info.host_start_ns);
  for (const auto& [key, value] : info.properties) e.Row("property/" + key, value);
  for (const recording::Thing& t : info.things) {
    e.Row("thing/" + t.name, ThingKindName(t.kind), t.model, ThingPoseName(t.pose), t.stream);
    if (t.pose == recording::Thing::Pose::kFixed) {
      std::vector<double> pose(t.X_WT.R.data(), t.X_WT.R.data() + 9);
      pose.insert(pose.end(), t.X_WT.p.data(), t.X_WT.p.data() + 3);
      e.All("thing/" + t.name + "/X_WT", pose);
    }
    for (size_t k = 0; k < t.items.size(); ++k)
      e.Row("thing/" + t.name + "/" + std::to_string(k), t.items[k]);
  }
  for (const recording::StreamInfo& stream : clip->streams()) ExpectStream(*clip, stream, e);
  for (const recording::ForceSensor& s : clip->force_sensors()) {
    e.Row("sensor/" + s.name, s.stream_id, s.sign, s.full_scale_N, s.mounted_on);
    e.All("sensor/" + s.name + "/calibration", s.calibration.reshaped());
    e.All("sensor/" + s.name + "/bias", s.bias);
    std::vector<double> pose(s.X_MS.R.data(), s.X_MS.R.data() + 9);
    pose.insert(pose.end(), s.X_MS.p.data(), s.X_MS.p.data() + 3);
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
      R"("a": {"true": true, "none": null, "text": "\u00fc \"x\" \\ \/ \b\f\n\r\t\u0001\u001f\u007f"}, "1e-4": 1e-4})";
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

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;
template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
constexpr bool kIsByName = false;
template <typename T>
constexpr bool kIsByName<std::map<std::string, T>> = true;

/// A value, and another, for every member that a Visit names; one matrix of more than one block of
/// columns.
class Filler {
 public:
  static constexpr bool kLoading = false;
  template <typename T>
  void Field(const char*, T& v, const artefact::About& = {}) {
    Fill(v);
  }
  template <typename E>
  void Choice(const char*, E& v, std::initializer_list<const char*> words,
              const artefact::About& = {}) {
    v = static_cast<E>(static_cast<size_t>(++n_) % words.size());
  }
  template <typename T>
  void Skip(T&) {}

 private:
  template <typename T>
  void Fill(T& v) {
    ++n_;
    if constexpr (artefact::Described<T>) {
      Visit(*this, v);
    } else if constexpr (std::is_same_v<T, std::string>) {
      v = "s" + std::to_string(n_) + " \u00fc \"x\"";
    } else if constexpr (std::is_same_v<T, double>) {
      const double values[] = {0.1 * n_, std::numeric_limits<double>::quiet_NaN(), 1.0 * n_,
                               -std::numeric_limits<double>::infinity(), -1e-9 * n_};
      v = values[n_ % 5];
    } else if constexpr (std::is_same_v<T, bool>) {
      v = (bools_ = !bools_);
    } else if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(n_ % 100);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      v = Timestamp::FromNanoseconds(1'000'000'007ll * n_);
    } else if constexpr (std::is_same_v<T, Duration>) {
      v = Duration::Nanoseconds(-1'000'000'007ll * n_);
    } else if constexpr (std::is_same_v<T, TimeRange>) {
      v = {Timestamp::FromNanoseconds(n_), Timestamp::FromNanoseconds(3ll * n_)};
    } else if constexpr (std::is_same_v<T, Issue>) {
      v = {"frame 3", static_cast<Severity>(n_ % 3), "odd"};
    } else if constexpr (std::is_same_v<T, geometry::RigidTransform>) {
      v.R = geometry::Mat3::Random();
      v.p = geometry::Vec3::Random();
    } else if constexpr (std::is_same_v<T, geometry::Vec3>) {
      v = geometry::Vec3(0.1 * n_, 3.0, -std::numeric_limits<double>::infinity());
    } else if constexpr (std::is_same_v<T, Eigen::VectorXd>) {
      v = Numbers(2 + n_ % 3, 1);
    } else if constexpr (std::is_same_v<T, Eigen::MatrixXd>) {
      v = Numbers(2 + n_ % 3, std::exchange(columns_, 3 + n_ % 4));
    } else if constexpr (kIsList<T> || kIsOptional<T> || kIsByName<T>) {
      FillMany(v);
    } else if constexpr (std::is_same_v<T, std::map<int, Eigen::MatrixXd>>) {
      v = {{4, Numbers(2, 2)}, {77, Numbers(2, 2)}};
    } else {  // truths
      v = (Eigen::MatrixXd::Random(2, 40).array() > 0).matrix();
    }
  }
  template <typename T>
  void FillMany(std::vector<T>& v) {
    for (int i = 0; i < 3; ++i) {
      T item{};
      Fill(item);
      v.push_back(std::move(item));
    }
  }
  /// Every second one is there, the first among them.
  template <typename T>
  void FillMany(std::optional<T>& v) {
    if ((there_ = !there_)) Fill(v.emplace());
  }
  template <typename T>
  void FillMany(std::map<std::string, T>& v) {
    Fill(v["peak_N"]);
    Fill(v["of 1/2"]);
  }

  int n_ = 0;
  Eigen::Index columns_ = 4500;
  bool bools_ = false, there_ = false;
};

/// Members that are documents.
template <typename T>
constexpr bool kIsDocument =
    (std::is_base_of_v<Eigen::DenseBase<T>, T> && !std::is_same_v<T, geometry::Vec3>) ||
    std::is_same_v<T, std::vector<Timestamp>> || std::is_same_v<T, std::vector<int>> ||
    std::is_same_v<T, std::vector<char>> ||
    std::is_same_v<T, std::vector<geometry::RigidTransform>> ||
    std::is_same_v<T, std::vector<artefact::ContactRow>> ||
    std::is_same_v<T, std::map<int, Eigen::MatrixXd>>;

/// What the page must name: documents by their paths ("fits/K/events/E/..."), other members.
struct Named {
  std::set<std::string> documents, members;
};

/// What the script must print of a described value: where its members are, by the page's rules.
class Teller {
 public:
  static constexpr bool kLoading = false;
  Teller(Expected* e, Named* named) : e_(e), named_(named) {}
  template <typename T>
  void Field(const char* name, T& v, const artefact::About& = {}) {
    if constexpr (kIsDocument<T>) {
      std::string path;
      for (const char c : path_) {
        if (c < '0' || c > '9') {
          path += c;
        } else {
          path += path.find("/K/") == std::string::npos ? 'K' : 'E';
        }
      }
      named_->documents.insert(path + name);
    } else {
      named_->members.insert(name);
    }
    Tell(path_ + name, v);
  }
  template <typename E>
  void Choice(const char* name, E& v, std::initializer_list<const char*> words,
              const artefact::About& = {}) {
    named_->members.insert(name);
    e_->Row("content/" + path_ + name, words.begin()[static_cast<size_t>(v)]);
  }
  template <typename T>
  void Skip(T&) {}

 private:
  template <typename T>
  void Tell(const std::string& at, T& v) {
    using artefact::ContactRow;
    if constexpr (artefact::Described<T>) {
      const std::string outer = std::exchange(path_, at + "/");
      Visit(*this, v);
      path_ = outer;
    } else if constexpr (std::is_same_v<T, geometry::Vec3>) {
      e_->Numbers("content/" + at, {v.data(), 3});
    } else if constexpr (std::is_base_of_v<Eigen::DenseBase<T>, T>) {
      e_->Matrix(at, v);
    } else if constexpr (std::is_same_v<T, std::vector<Timestamp>>) {
      std::vector<int64_t> ns;
      for (const Timestamp t : v) ns.push_back(t.ns());
      e_->All("list/" + at, ns);
    } else if constexpr (std::is_same_v<T, std::vector<int>> ||
                         std::is_same_v<T, std::vector<char>>) {
      e_->All("list/" + at, v);
    } else if constexpr (std::is_same_v<T, std::vector<geometry::RigidTransform>>) {
      Eigen::MatrixXd m(12, v.size());
      for (size_t i = 0; i < v.size(); ++i)
        m.col(static_cast<Eigen::Index>(i)) << v[i].R.col(0), v[i].R.col(1), v[i].R.col(2), v[i].p;
      e_->Matrix(at, m);
    } else if constexpr (std::is_same_v<T, std::vector<ContactRow>>) {
      Eigen::MatrixXd m(16, v.size());
      for (size_t i = 0; i < v.size(); ++i) {
        const ContactRow& r = v[i];
        m.col(static_cast<Eigen::Index>(i)) << r.frame, r.touch, r.f_onA_W, r.m_onA_W, r.p_W,
            r.normal_W, r.offset_m, r.slip_m_per_s;
      }
      e_->Matrix(at, m);
    } else if constexpr (std::is_same_v<T, std::map<int, Eigen::MatrixXd>>) {
      Eigen::MatrixXd m(v.begin()->second.size(), v.size());
      std::vector<int> frames;
      for (const auto& [frame, matrix] : v) {
        m.col(static_cast<Eigen::Index>(frames.size())) = matrix.reshaped();
        frames.push_back(frame);
      }
      e_->All("list/" + at + "_frames", frames);
      e_->Matrix(at, m);
    } else if constexpr (kIsOptional<T>) {
      if (v) {
        Tell(at, *v);
      } else {
        e_->Word("content/" + at, "null");
      }
    } else if constexpr (kIsList<T>) {
      TellList(at, v);
    } else if constexpr (kIsByName<T>) {
      for (auto& [key, item] : v) Tell(at + "/" + key, item);
    } else {
      TellOne("content/" + at, v);
    }
  }
  template <typename T>
  void TellList(const std::string& at, std::vector<T>& v) {
    if constexpr (std::is_same_v<T, std::string>) {
      e_->All("content/" + at, v);
    } else if constexpr (std::is_same_v<T, double>) {
      e_->Numbers("content/" + at, v);
    } else {
      for (size_t i = 0; i < v.size(); ++i) {
        const std::string item = at + "/" + std::to_string(i);
        if constexpr (std::is_same_v<T, Eigen::VectorXd>) {
          e_->Numbers("content/" + item, {v[i].data(), static_cast<size_t>(v[i].size())});
        } else {
          Tell(item, v[i]);
        }
      }
    }
  }
  void TellOne(const std::string& at, const std::string& v) { e_->Row(at, v); }
  void TellOne(const std::string& at, bool v) { e_->Word(at, v ? "true" : "false"); }
  void TellOne(const std::string& at, int v) { e_->Row(at, v); }
  void TellOne(const std::string& at, double v) { e_->Number(at, v); }
  void TellOne(const std::string& at, Timestamp v) { e_->Row(at, v.ns()); }
  void TellOne(const std::string& at, Duration v) { e_->Row(at, v.ns()); }
  void TellOne(const std::string& at, const TimeRange& v) {
    e_->All(at, std::vector<int64_t>{v.begin.ns(), v.end.ns()});
  }
  void TellOne(const std::string& at, const Issue& v) {
    e_->Row(at + "/where", v.where);
    e_->Row(at + "/severity", SeverityName(v.severity));
    e_->Row(at + "/what", v.what);
  }
  void TellOne(const std::string& at, const geometry::RigidTransform& v) {
    e_->Numbers(at + "/p_m", {v.p.data(), 3});
    const geometry::Mat3 by_rows = v.R.transpose();
    e_->Numbers(at + "/R", {by_rows.data(), 9});
  }

  Expected* e_;
  Named* named_;
  std::string path_;
};

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

/// Of schemas/README.md: from `begin` to before the next `end`; empty: it is not there.
std::string OfThePage(const std::string& begin, const std::string& end) {
  std::ifstream file(support::SourceDir() + "/schemas/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const size_t at = page.find(begin);
  if (at == std::string::npos) return "";
  return page.substr(at, page.find(end, at + begin.size()) - at);
}

TEST_F(FormatPage, EveryMemberOfEveryKindOfArtefactIsReadFromThePageAlone) {
  const std::string shared = OfThePage("**Where a member is**", "\n| kind |");
  ASSERT_NE(shared, "");
  int kinds = 0;
  artefact::ForEachKind([&]<typename T>(T value) {
    const std::string kind = artefact::KindOf<T>::name;
    SCOPED_TRACE(kind);
    ++kinds;
    value.provenance = Made("make." + kind);
    Filler filler;
    Visit(filler, value);
    Expected e;
    ExpectArtefact(kind, value.provenance, e);
    Named named;
    Teller teller(&e, &named);
    Visit(teller, value);
    CheckArtefact(SaveArtefact(dir_.path(), value), e);
    const std::string row = OfThePage("\n| `" + kind + "` |", "\n");
    const std::string rest = OfThePage("\n- **" + kind + "**", "\n- **");
    for (const std::string& path : named.documents)
      EXPECT_NE(row.find("`" + path + "`"), std::string::npos) << "its row lacks " << path;
    for (const std::string& member : named.members) {
      EXPECT_NE((shared + row + rest).find("`" + member + "`"), std::string::npos)
          << "the page lacks " << member;
    }
  });
  EXPECT_GE(kinds, 9);
}

/// A stage of a hand "R" and a ball, with what else it says.
void ExpectStage(const artefact::Stage& stage, Expected* e) {
  const std::string of = "content/stage/", hand = of + "hands/0/", thing = of + "things/0/";
  e->Row(of + "name", stage.name);
  e->Word(of + "sensors", "");
  e->Numbers(of + "gravity_W", {stage.gravity_W.data(), 3});
  e->Word(of + "touches_itself", "false");
  e->Row(of + "judged", "");
  e->Word(of + "hold_ns", "null");
  e->Row(hand + "name", "R");
  for (const char* link : {"skeleton", "trajectory", "poses", "wrist_track"}) {
    e->Row(hand + link + "/key", "");
    e->Row(hand + link + "/hash", link == std::string("skeleton") ? "f00d" : "");
  }
  e->Number(hand + "scale", 1.0);
  e->Numbers(hand + "X_WH/p_m", std::vector<double>{0, 0, 0});
  e->Numbers(hand + "X_WH/R", std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  e->Row(hand + "wrist", "");
  e->Row(hand + "measured/stream", "");
  e->Word(hand + "measured/items", "");
  e->Word(hand + "root_compliance_m_per_N", "null");
  e->Word(hand + "assumed_dofs", "");
  for (const char* matrix : {"q", "impedance/q_rest", "impedance/stiffness_Nm_per_rad",
                             "impedance/damping_Nms_per_rad", "time_constant_s"})
    e->Row("matrix/stage/hands/0/" + std::string(matrix), 0, 1);
  e->Row(thing + "name", "ball");
  e->Row(thing + "is", "free");
  e->Row(thing + "prop/key", "ball");
  e->Row(thing + "prop/hash", "");
  e->Number(thing + "metres_per_unit", 0.001);
  e->Number(thing + "scale", 1.0);
  e->Word(thing + "X_WP", "null");
  for (const char* zero : {"omega_P", "v_P", "pivot/p_P"})
    e->Numbers(thing + zero, std::vector<double>{0, 0, 0});
  e->Number(thing + "mass_kg", 0.25);
  for (const char* unsaid : {"friction", "compliance_m_per_N", "slider/lower_m", "slider/upper_m"})
    e->Word(thing + unsaid, "null");
  for (const char* axis : {"pivot/axis_P", "slider/axis_P"})
    e->Numbers(thing + axis, std::vector<double>{0, 0, 1});
  for (const char* nought :
       {"pivot/damping_Nms_per_rad", "slider/damping_Ns_per_m", "slider/dry_friction_N"})
    e->Number(thing + nought, 0.0);
  e->Row(thing + "track/key", "");
  e->Row(thing + "track/hash", "");
  e->Row(thing + "measured/stream", "");
  e->Word(thing + "measured/items", "");
}

// The same once by hand: what nobody described for us.
TEST_F(FormatPage, AMotionIsWhereThePageSaysMemberByMember) {
  artefact::Motion m;
  m.provenance = Made("synth.interaction");
  m.times = Frames(2);
  Eigen::MatrixXd q(1, 2);
  q << 0.25, 0.5;
  artefact::StageHand hand;
  hand.skeleton.hash = "f00d";
  m.Add(hand) = {"R", {"a"}, q};
  artefact::StageThing ball{.name = "ball", .mass_kg = 0.25};
  ball.prop.key = "ball";
  m.Add(ball).X_WP.resize(2);
  m.phases = {{"hold", {m.times[0], m.times[1]}}};
  m.objects[0].X_WP[1].R << 0, 1, 0, -1, 0, 0, 0, 0, 1;
  m.objects[0].X_WP[1].p = {1, 2, 3};
  m.touches = {{{artefact::Side::Kind::kHand, "R", "R.palm", 3},
                {artefact::Side::Kind::kThing, "ball", "", 0},
                "",
                m.times[0],
                m.times[1],
                Duration(),
                Duration(),
                4.25,
                "held"}};
  m.rows = {{1, 0, {1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {0, 0, 1}, -0.125, 0.5}};
  m.series.push_back({"unsolved", "1", Eigen::Vector2d(0, 1)});
  m.summary.figures = {{"peak_force_N", 4.25}};
  m.verdict = {artefact::Verdict::Kind::kDropped, m.times[1], "it was oiled"};
  Expected e;
  ExpectArtefact("motion", m.provenance, e);
  e.Number("content/summary/figures/peak_force_N", 4.25);
  e.Word("content/summary/variants", "");
  e.Word("content/summary/issues", "");
  e.Row("list/times", 0, 2'000'001);
  ExpectStage(m.stage, &e);
  e.Row("content/phases/0/name", "hold");
  e.Row("content/phases/0/range_ns", 0, 2'000'001);
  e.Row("content/hands/0/name", "R");
  e.Row("content/hands/0/dof_names", "a");
  e.Row("matrix/hands/0/q", 1, 2, 0.25, 0.5);
  e.Row("content/objects/0/name", "ball");
  Eigen::MatrixXd poses(12, 2), row(16, 1);
  poses.col(0) << 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0;
  poses.col(1) << 0, -1, 0, 1, 0, 0, 0, 0, 1, 1, 2, 3;
  e.Matrix("objects/0/X_WP", poses);
  const std::string touch = "content/touches/0/";
  e.Row(touch + "a/kind", "hand");
  e.Row(touch + "a/name", "R");
  e.Row(touch + "a/site", "R.palm");
  e.Row(touch + "a/body", 3);
  e.Row(touch + "b/kind", "thing");
  e.Row(touch + "b/name", "ball");
  e.Row(touch + "b/site", "");
  e.Row(touch + "b/body", 0);
  e.Row(touch + "sensor", "");
  e.Row(touch + "onset_ns", 0);
  e.Row(touch + "release_ns", 2'000'001);
  e.Row(touch + "onset_sd_ns", 0);
  e.Row(touch + "release_sd_ns", 0);
  e.Number(touch + "peak_force_N", 4.25);
  e.Row(touch + "task", "held");
  row << 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 1, -0.125, 0.5;
  e.Matrix("rows", row);
  e.Row("content/series/0/name", "unsolved");
  e.Row("content/series/0/unit", "1");
  e.Row("matrix/series/0/values", 2, 1, 0.0, 1.0);
  e.Row("content/verdict/kind", "dropped");
  e.Row("content/verdict/when_ns", 2'000'001);
  e.Row("content/verdict/cause", "it was oiled");
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
}  // namespace handhold::store::format_reader_test
