#include "database/exchange/ezc3d_reader.h"

#include <ezc3d/ezc3d_all.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include "database/exchange/byte_source.h"
#include "database/exchange/c3d_parameters.h"

namespace handhold::exchange {
namespace {

constexpr C3dProcessor kIntel = C3dProcessor::kIntel;

bool WriteAll(int file, const std::vector<uint8_t>& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

C3dParameter Converted(const ezc3d::ParametersNS::GroupNS::Parameter& from) {
  std::vector<int> dimensions;
  for (const size_t d : from.dimension()) dimensions.push_back(static_cast<int>(d));
  switch (from.type()) {
    case ezc3d::DATA_TYPE::CHAR:
      return C3dParameter::OfTexts(from.name(), from.valuesAsString());
    case ezc3d::DATA_TYPE::FLOAT:
      return C3dParameter::OfFloats(from.name(), dimensions, from.valuesAsDouble());
    case ezc3d::DATA_TYPE::BYTE:
      return C3dParameter::OfInts(from.name(), dimensions, from.valuesAsByte());
    case ezc3d::DATA_TYPE::INT:
      return C3dParameter::OfInts(from.name(), dimensions, from.valuesAsInt());
    default:
      return C3dParameter::OfTexts(from.name(), {});
  }
}

void Set(C3dGroup& group, C3dParameter parameter) {
  std::erase_if(group.parameters,
                [&](const C3dParameter& other) { return other.name == parameter.name; });
  group.parameters.push_back(std::move(parameter));
}
void SetFloat(C3dGroup& group, const char* name, double value) {
  Set(group, C3dParameter::OfFloats(name, {}, std::span(&value, 1)));
}
void SetInt(C3dGroup& group, const char* name, int value) {
  Set(group, C3dParameter::OfInts(name, {}, std::span(&value, 1)));
}

/// What ezc3d says of the parameters, put so that our reader takes every value as it stands.
C3dParameters Plain(const ezc3d::c3d& c3d, size_t frames, size_t points, size_t channels,
                    size_t ratio, double scale, int data_block) {
  C3dParameters parameters;
  for (const auto& group : c3d.parameters().groups()) {
    if (group.name() == "TRIAL" || group.name() == "ROTATION" || group.name().empty()) continue;
    C3dGroup& to = parameters.Group(group.name());
    for (const auto& parameter : group.parameters()) {
      if (!parameter.name().empty()) to.parameters.push_back(Converted(parameter));
    }
  }
  C3dGroup& point = parameters.Group("POINT");
  std::erase_if(point.parameters, [](const C3dParameter& p) { return p.name == "LONG_FRAMES"; });
  SetFloat(point, "FRAMES", static_cast<double>(frames));
  SetFloat(point, "SCALE", -scale);
  SetFloat(point, "RATE", static_cast<double>(c3d.header().frameRate()));
  SetInt(point, "USED", static_cast<int>(points));
  SetInt(point, "DATA_START", data_block);
  C3dGroup& analog = parameters.Group("ANALOG");
  std::erase_if(analog.parameters, [](const C3dParameter& p) {
    return p.name.starts_with("SCALE") || p.name.starts_with("OFFSET") || p.name == "FORMAT";
  });
  SetInt(analog, "USED", static_cast<int>(channels));
  SetFloat(analog, "GEN_SCALE", 1.0);
  SetFloat(analog, "RATE",
           static_cast<double>(c3d.header().frameRate()) * static_cast<double>(ratio));
  for (size_t begin = 0, part = 1; begin < channels; begin += 255, ++part) {
    const std::vector<double> ones(std::min<size_t>(255, channels - begin), 1.0);
    Set(analog, C3dParameter::OfFloats("SCALE" + (part == 1 ? "" : std::to_string(part)),
                                       {static_cast<int>(ones.size())}, ones));
  }
  return parameters;
}

/// In the child: reads with ezc3d, writes a plain file. Answers why not, or nothing.
std::string Rewrite(const std::string& path, int file) {
  const ezc3d::c3d c3d(path);
  const size_t frames = c3d.data().nbFrames();
  const size_t points = frames == 0 ? 0 : c3d.data().frame(0).points().nbPoints();
  const size_t ratio = frames == 0 ? 0 : c3d.data().frame(0).analogs().nbSubframes();
  const size_t channels = ratio == 0 ? 0 : c3d.data().frame(0).analogs().subframe(0).nbChannels();
  if (frames == 0) return "it reads no frame, and says nothing about it";
  double scale = std::fabs(static_cast<double>(c3d.header().scaleFactor()));
  if (!(scale > 0)) scale = 1;
  const auto section = [&](int block) {
    return WriteC3dParameters(Plain(c3d, frames, points, channels, ratio, scale, block));
  };
  const auto probe = section(0);
  if (!probe) return probe.error().message;
  const int data_block = 2 + static_cast<int>(probe->size() / 512);
  std::vector<uint8_t> out = {2, 0x50};
  const auto word = [&](size_t value) { PutC3dWord(static_cast<uint16_t>(value), kIntel, out); };
  word(points);
  word(channels * ratio);
  const size_t first = c3d.header().firstFrame() + 1;  // ezc3d counts from 0
  const bool fits = first + frames - 1 < 65'535;
  word(fits ? first : 1);
  word(fits ? first + frames - 1 : 65'535);
  word(0);
  PutC3dFloat(static_cast<float>(-scale), kIntel, out);
  word(static_cast<size_t>(data_block));
  word(ratio);
  PutC3dFloat(c3d.header().frameRate(), kIntel, out);
  out.resize(512);
  const auto parameters = section(data_block);
  if (!parameters) return parameters.error().message;
  out.insert(out.end(), parameters->begin(), parameters->end());
  for (size_t f = 0; f < frames; ++f) {
    const auto& frame = c3d.data().frame(f);
    for (size_t p = 0; p < points; ++p) {
      const auto& point = frame.points().point(p);
      for (const double v : {point.x(), point.y(), point.z()})
        PutC3dFloat(static_cast<float>(v), kIntel, out);
      int mask = 0;
      for (size_t k = 0; k < std::min<size_t>(7, point.cameraMask().size()); ++k)
        mask |= point.cameraMask()[k] ? 1 << k : 0;
      const double byte = std::clamp(std::round(point.residual() / scale), 0.0, 255.0);
      PutC3dFloat(
          point.residual() < 0 ? -1.0f : static_cast<float>(mask * 256 + static_cast<int>(byte)),
          kIntel, out);
    }
    for (size_t s = 0; s < ratio; ++s) {
      for (size_t c = 0; c < channels; ++c)
        PutC3dFloat(static_cast<float>(frame.analogs().subframe(s).channel(c).data()), kIntel, out);
    }
    if (out.size() > (1u << 20) || f + 1 == frames) {
      if (!WriteAll(file, out)) return "the temporary file cannot be written";
      out.clear();
    }
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenWithEzc3d(const std::string& path,
                                                    const C3dReadOptions& options,
                                                    const ChildLimits& limits) {
  HANDHOLD_ASSIGN(const std::unique_ptr<ByteSource> file, ByteSource::OpenFile(path));
  ChildLimits used = limits;
  if (used.memory_bytes <= 0) used.memory_bytes = (int64_t{256} << 20) + 20 * file->size();
  if (used.time.ns() <= 0) used.time = Duration::Seconds(20 + file->size() / 1'000'000);
  const auto child = internal::RunLimited([&path](int out) { return Rewrite(path, out); }, used);
  if (!child) return child.error().Within(path);
  auto source = OpenC3d(ByteSource::OfDescriptor(*child, path), path, options);
  if (!source) return source.error().Within("what ezc3d read");
  return source;
}

}  // namespace handhold::exchange
