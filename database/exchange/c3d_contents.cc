#include "database/exchange/c3d_contents.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "database/base/check.h"
#include "database/exchange/c3d_groups.h"
#include "database/exchange/c3d_number.h"

namespace handhold::exchange {
namespace {

constexpr int64_t kRotationBytes = 17 * 4;  // a matrix and its reliability

std::string Text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

/// What the header block says.
struct Header {
  int64_t points, analog_per_frame, first_frame, last_frame, data_block, ratio;
  float scale, rate_Hz;
};

Header ReadHeader(std::span<const uint8_t> bytes, C3dProcessor processor) {
  const auto word = [&](int k) {  // words are counted from 1
    return static_cast<int64_t>(C3dWord(&bytes[static_cast<size_t>(k - 1) * 2], processor));
  };
  return {word(2),
          word(3),
          word(4),
          word(5),
          word(9),
          word(10),
          C3dFloat(&bytes[12], processor),
          C3dFloat(&bytes[20], processor)};
}

/// How long a frame is: the header and the parameters each say.
struct Shape {
  int64_t points = 0, channels = 0, ratio = 0;
  int64_t words() const { return points * 4 + channels * ratio; }
  bool operator==(const Shape&) const = default;
  std::string text() const {
    return std::to_string(points) + " points and " + std::to_string(channels) + " x " +
           std::to_string(ratio) + " analog values";
  }
};

class Decider {
 public:
  Decider(std::span<const uint8_t> header, int64_t shift, int64_t file_bytes,
          const C3dParameters& parameters, const C3dDecisions& decisions, Issues& issues)
      : bytes_(header),
        shift_(shift),
        file_bytes_(file_bytes),
        parameters_(parameters),
        decisions_(decisions),
        issues_(issues),
        header_(ReadHeader(header, parameters.processor)) {}

  Result<C3dContents> Decide() {
    contents_.processor = parameters_.processor;
    HANDHOLD_TRY(DecideFormat());
    HANDHOLD_TRY(DecideRate());
    HANDHOLD_TRY(DecideDataStart());
    DecideRotationsPlace();
    HANDHOLD_TRY(DecideShape());
    // Of bodies alone nothing stands before them that could end where they begin.
    if (shape_.words() == 0) data_end_ = file_bytes_;
    DecideFirstFrame();
    HANDHOLD_TRY(DecideFrames());
    NameC3dPoints(parameters_, static_cast<int>(shape_.points), contents_, issues_);
    NameC3dChannels(parameters_, static_cast<int>(shape_.channels), contents_, issues_);
    DecideUnit();
    DecideRotations();
    ReadC3dPlatforms(parameters_, contents_, issues_);
    ReadC3dEvents(parameters_, bytes_, contents_, issues_);
    return std::move(contents_);
  }

 private:
  void Say(Severity severity, std::string where, std::string what) {
    issues_.push_back({std::move(where), severity, std::move(what)});
  }

  double Number(const char* group, const char* name, double fallback, bool is_unsigned = true) {
    const C3dParameter* parameter = parameters_.Find(group, name);
    return parameter == nullptr ? fallback : parameter->Number(fallback, is_unsigned);
  }
  /// A count out of a file: NaN, fractions and nonsense become 0.
  int64_t Count(const char* group, const char* name, int64_t fallback) {
    const double number = Number(group, name, static_cast<double>(fallback));
    return number >= 0 && number < 4.3e9 ? static_cast<int64_t>(number) : 0;
  }

  Status DecideFormat() {
    const double said = Number("POINT", "SCALE", header_.scale);
    float scale = static_cast<float>(said);
    if (!std::isfinite(scale) || scale == 0.0f) {
      scale = header_.scale;
      Say(Severity::kWarning, "POINT:SCALE", "is " + Text(said) + "; the header's is taken");
    } else if (std::isfinite(header_.scale) && header_.scale != 0.0f &&
               (header_.scale < 0) != (scale < 0)) {
      Say(Severity::kWarning, "POINT:SCALE",
          "and the header's scale contradict each other on integer or floating point; POINT:SCALE "
          "(" +
              Text(scale) + ") decides");
    }
    if (!std::isfinite(scale) || scale == 0.0f)
      return Error{ErrorCode::kCorrupt,
                   "no scale, in POINT:SCALE or in the header: integer or floating point data?"};
    contents_.is_float = scale < 0;
    contents_.scale = std::fabs(scale);
    const C3dParameter* format = parameters_.Find("ANALOG", "FORMAT");
    if (format != nullptr) {
      const std::vector<std::string> texts = format->Texts();
      contents_.is_analog_unsigned = !texts.empty() && !texts[0].empty() &&
                                     std::toupper(static_cast<unsigned char>(texts[0][0])) == 'U';
    }
    return {};
  }

  Status DecideRate() {
    const auto usable = [](double hz) { return std::isfinite(hz) && hz >= 1e-3 && hz <= 1e7; };
    double hz = Number("POINT", "RATE", header_.rate_Hz);
    if (!usable(hz) && usable(header_.rate_Hz)) {
      Say(Severity::kWarning, "POINT:RATE", "is " + Text(hz) + "; the header's is taken");
      hz = header_.rate_Hz;
    }
    if (!usable(hz)) {
      if (!usable(decisions_.rate_Hz))
        return Error{ErrorCode::kCorrupt,
                     "gives no sampling rate, in POINT:RATE or in the header: pass --rate HZ"};
      hz = decisions_.rate_Hz;
      Say(Severity::kWarning, "POINT:RATE", "missing; " + Text(hz) + " Hz as told");
    }
    if (usable(header_.rate_Hz) && std::fabs(hz - header_.rate_Hz) > 1e-3 * hz)
      Say(Severity::kWarning, "POINT:RATE",
          "says " + Text(hz) + " Hz, the header " + Text(header_.rate_Hz) + "; the former holds");
    contents_.rate = RateFromHz(hz);
    return {};
  }

  Status DecideDataStart() {
    int64_t block = header_.data_block;
    const int64_t said = Count("POINT", "DATA_START", block);
    if (block < 2) block = said;
    // A file of bodies alone may name their place only.
    if (block < 2 && Count("ROTATION", "USED", 0) > 0) block = Count("ROTATION", "DATA_START", 0);
    if (said != block && said != 0)
      Say(Severity::kNote, "POINT:DATA_START",
          "is block " + std::to_string(said) + ", the header says " + std::to_string(block) +
              ", which holds");
    if (block < 2) return Error{ErrorCode::kCorrupt, "does not say where its data begin"};
    contents_.data_offset = shift_ + (block - 1) * kC3dBlock;
    if (contents_.data_offset > file_bytes_)
      return Error{ErrorCode::kCorrupt, "truncated: its data begin at byte " +
                                            std::to_string(contents_.data_offset) +
                                            ", the file ends at " + std::to_string(file_bytes_)};
    data_end_ = file_bytes_;
    return {};
  }

  void DecideRotationsPlace() {
    const int64_t used = Count("ROTATION", "USED", 0);
    const int64_t block = Count("ROTATION", "DATA_START", 0);
    if (used == 0) return;
    const int64_t offset = shift_ + (block - 1) * kC3dBlock;
    if (block < 2 || offset >= file_bytes_) {
      Say(Severity::kLoss, "ROTATION:DATA_START",
          "block " + std::to_string(block) + " is not in the file: no rotations are read");
      return;
    }
    rotations_ = used;
    contents_.rotations.offset = offset;
    if (offset > contents_.data_offset) data_end_ = offset;
  }

  int RotationRatio() {
    double ratio = Number("ROTATION", "RATIO", 0);
    if (!(ratio >= 1)) ratio = Number("ROTATION", "RATE", 0) / contents_.rate.hz();
    return ratio >= 1 && ratio < 65536 ? static_cast<int>(std::lround(ratio)) : 1;
  }

  /// Where the frames begin and how long one is: of a file that holds nothing but bodies, theirs.
  int64_t FramesOffset() const {
    return shape_.words() > 0 ? contents_.data_offset : contents_.rotations.offset;
  }
  int64_t FrameBytes() {
    return shape_.words() > 0 ? shape_.words() * contents_.word_bytes()
                              : rotations_ * kRotationBytes * RotationRatio();
  }

  int64_t Available(const Shape& shape) const {
    const int64_t bytes = shape.words() * contents_.word_bytes();
    return bytes == 0 ? 0 : (data_end_ - contents_.data_offset) / bytes;
  }

  Status DecideShape() {
    Shape header{header_.points, 0, 0};
    if (header_.analog_per_frame > 0) {
      header.ratio = std::max<int64_t>(1, header_.ratio);
      header.channels = header_.analog_per_frame / header.ratio;
    }
    Shape said{Count("POINT", "USED", header.points), Count("ANALOG", "USED", header.channels),
               header.ratio};
    const double analog_Hz = Number("ANALOG", "RATE", 0);
    const double ratio = analog_Hz / contents_.rate.hz();
    if (said.channels > 0 && analog_Hz > 0 && ratio < 65536) {
      if (std::fabs(ratio - std::round(ratio)) > 0.01)
        Say(Severity::kWarning, "ANALOG:RATE",
            Text(analog_Hz) + " Hz is no multiple of the points' " + Text(contents_.rate.hz()));
      said.ratio = std::max<int64_t>(1, std::llround(ratio));
    }
    if (said.channels > 0) said.ratio = std::max<int64_t>(1, said.ratio);
    if (said.channels == 0) said.ratio = 0;
    shape_ = said;
    if (!(header == said)) {
      // The one by which the promised frames fit the file, the parameters' if both or neither do.
      const int64_t frames = header_.last_frame - header_.first_frame + 1;
      const bool said_fits = Available(said) >= frames, header_fits = Available(header) >= frames;
      if (header.words() > 0 && !said_fits && header_fits) shape_ = header;
      if (header.words() != said.words() || !said_fits)
        Say(Severity::kWarning, "header",
            "says " + header.text() + " a frame, the parameters " + said.text() + "; " +
                (shape_ == said ? "the parameters hold" : "the header fits the file and holds"));
    }
    if (shape_.words() == 0 && rotations_ == 0)
      return Error{ErrorCode::kUnsupported,
                   "holds neither points nor analog channels nor bodies: there is nothing to read"};
    if (shape_.words() > (int64_t{1} << 20))
      return Error{ErrorCode::kUnsupported, "a frame of " + std::to_string(shape_.words()) +
                                                " values; at most 1048576 are read"};
    contents_.ratio = static_cast<int>(shape_.ratio);
    return {};
  }

  /// TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD: two words, the lower first.
  std::optional<int64_t> Field(const char* name) {
    const C3dParameter* parameter = parameters_.Find("TRIAL", name);
    if (parameter == nullptr) return std::nullopt;
    const std::vector<double> words = parameter->Numbers(true);
    if (words.empty() || !(words[0] >= 0 && words[0] < 4.3e9)) return std::nullopt;
    int64_t value = static_cast<int64_t>(words[0]);
    if (words.size() > 1 && words[1] >= 0 && words[1] < 65536)
      value += static_cast<int64_t>(words[1]) << 16;
    return value;
  }

  void DecideFirstFrame() {
    contents_.first_frame = header_.first_frame;
    if (const std::optional<int64_t> first = Field("ACTUAL_START_FIELD"); first && *first > 0)
      contents_.first_frame = *first;
    contents_.first_frame = std::max<int64_t>(1, contents_.first_frame);
  }

  Status DecideFrames() {
    struct Claim {
      const char* who;
      int64_t frames;
    };
    std::vector<Claim> claims;
    const int64_t frames = Count("POINT", "FRAMES", 0);
    if (frames > 0 && frames != 65'535) claims.push_back({"POINT:FRAMES", frames});
    const std::optional<int64_t> begin = Field("ACTUAL_START_FIELD"),
                                 end = Field("ACTUAL_END_FIELD");
    if (begin && end && *end >= *begin) claims.push_back({"TRIAL", *end - *begin + 1});
    const int64_t long_frames = Count("POINT", "LONG_FRAMES", 0);
    if (long_frames > 0) claims.push_back({"POINT:LONG_FRAMES", long_frames});
    const int64_t header = header_.last_frame - header_.first_frame + 1;
    if (header > 0) claims.push_back({"the header", header});
    if (frames == 65'535) claims.push_back({"POINT:FRAMES", frames});
    if (claims.empty()) return Error{ErrorCode::kCorrupt, "does not say how many frames it holds"};

    const int64_t bytes = FrameBytes(), begin_bytes = FramesOffset();
    const int64_t available = (data_end_ - begin_bytes) / bytes;
    // Between the last frame and the end of the data there is at most the rest of a block.
    const auto fills = [&](int64_t count) {
      return count <= available && data_end_ - begin_bytes - count * bytes < kC3dBlock;
    };
    Claim chosen = claims[0];
    for (const Claim& claim : claims) {
      if (fills(chosen.frames)) break;
      if (fills(claim.frames)) chosen = claim;
    }
    for (const Claim& claim : claims) {
      const bool is_limit = claim.frames >= 65'534 && chosen.frames > claim.frames;
      if (claim.frames != chosen.frames && !is_limit)
        Say(Severity::kWarning, claim.who,
            "says " + std::to_string(claim.frames) + " frames, " + chosen.who + " " +
                std::to_string(chosen.frames) + ", which holds");
    }
    contents_.frames = std::min(chosen.frames, available);
    contents_.promised_frames = chosen.frames;
    if (chosen.frames > available)
      Say(Severity::kLoss, "frames",
          "truncated: " + std::to_string(chosen.frames) + " frames are promised (" + chosen.who +
              "), " + std::to_string(available) + " are there");
    const int64_t rest = data_end_ - begin_bytes - contents_.frames * bytes;
    if (chosen.frames < available && rest >= 2 * kC3dBlock)
      Say(Severity::kWarning, "frames",
          std::to_string(rest) + " bytes after the last frame are not accounted for and not read");
    return {};
  }

  void DecideUnit() {
    const C3dParameter* parameter = parameters_.Find("POINT", "UNITS");
    const std::vector<std::string> units =
        parameter == nullptr ? std::vector<std::string>{} : parameter->Texts();
    const std::string unit = units.empty() ? "" : units[0];
    const double said = MetresPerUnit(unit);
    contents_.metres_per_unit = said > 0 ? said : decisions_.metres_per_unit;
    if (said == 0 && contents_.points.empty()) contents_.metres_per_unit = 1e-3;
  }

  void DecideRotations() {
    if (rotations_ == 0) return;
    C3dRotations& rotations = contents_.rotations;
    rotations.ratio = RotationRatio();
    const int64_t bytes = rotations_ * kRotationBytes;
    const int64_t end = shape_.words() > 0 && contents_.data_offset > rotations.offset
                            ? contents_.data_offset
                            : file_bytes_;
    const int64_t available = (end - rotations.offset) / bytes;
    const int64_t promised = contents_.frames * rotations.ratio;
    rotations.samples = std::min(promised, available);
    if (available < promised)
      Say(Severity::kLoss, "rotations",
          "truncated: " + std::to_string(promised) + " samples are promised, " +
              std::to_string(available) + " are there");
    if (rotations_ > 4096 || rotations.samples == 0) {
      Say(Severity::kLoss, "rotations", std::to_string(rotations_) + " of them are not read");
      rotations.samples = 0;
      return;
    }
    rotations.labels = UniqueLabels(parameters_.AllTexts("ROTATION", "LABELS"),
                                    static_cast<int>(rotations_), "R", "ROTATION:LABELS", issues_);
  }

  std::span<const uint8_t> bytes_;
  const int64_t shift_, file_bytes_;
  const C3dParameters& parameters_;
  const C3dDecisions decisions_;
  Issues& issues_;
  const Header header_;
  int64_t data_end_ = 0;
  int64_t rotations_ = 0;
  Shape shape_;
  C3dContents contents_;
};

}  // namespace

recording::Rate RateFromHz(double rate_Hz) {
  CHECK(std::isfinite(rate_Hz) && rate_Hz >= 1e-3 && rate_Hz <= 1e7);
  const auto single = static_cast<float>(rate_Hz);
  for (int64_t k = 1; k <= 1001; ++k) {
    const int64_t denominator = k == 101 ? 1001 : k;  // video's 1000 / 1001 before the odd ones
    const auto numerator =
        static_cast<int64_t>(std::llround(rate_Hz * static_cast<double>(denominator)));
    if (numerator > 0 && static_cast<float>(static_cast<double>(numerator) /
                                            static_cast<double>(denominator)) == single)
      return {numerator, denominator};
  }
  int64_t denominator = 1;
  double numerator = single;
  while (numerator != std::floor(numerator)) {
    numerator *= 2;
    denominator *= 2;
  }
  return {static_cast<int64_t>(numerator), denominator};
}

double MetresPerUnit(std::string_view unit) {
  std::string lower;
  for (const char c : unit) {
    if (c != ' ') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (lower == "mm" || lower == "millimeters" || lower == "millimetres") return 1e-3;
  if (lower == "m" || lower == "meters" || lower == "metres" || lower == "meter") return 1.0;
  if (lower == "cm") return 1e-2;
  if (lower == "dm") return 1e-1;
  if (lower == "um") return 1e-6;
  if (lower == "in" || lower == "inch" || lower == "inches") return 0.0254;
  return 0.0;
}

Result<C3dContents> DecideC3dContents(std::span<const uint8_t> header, int64_t shift,
                                      int64_t file_bytes, const C3dParameters& parameters,
                                      const C3dDecisions& decisions, Issues& issues) {
  CHECK_EQ(header.size(), size_t{kC3dBlock});
  return Decider(header, shift, file_bytes, parameters, decisions, issues).Decide();
}

}  // namespace handhold::exchange
