#include "database/exchange/c3d_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace handhold::exchange {
namespace {

/// What a model computed: the parameter that lists its labels, the one that names its unit.
struct OutputKind {
  const char* labels;
  const char* unit;
};
constexpr OutputKind kOutputKinds[] = {
    {"ANGLES", "ANGLE_UNITS"}, {"FORCES", "FORCE_UNITS"},   {"MOMENTS", "MOMENT_UNITS"},
    {"POWERS", "POWER_UNITS"}, {"SCALARS", "SCALAR_UNITS"}, {"REACTIONS", "REACTION_UNITS"}};

constexpr size_t kNamedLabels = 20;  // in a message

int CountOf(const C3dParameters& parameters, const char* group, const char* name, int fallback) {
  const C3dParameter* parameter = parameters.Find(group, name);
  const double number = parameter == nullptr ? fallback : parameter->Number(fallback, true);
  return number >= 0 && number < 65536 ? static_cast<int>(number) : 0;
}

}  // namespace

std::vector<std::string> UniqueLabels(std::vector<std::string> labels, int count,
                                      std::string_view letter, const std::string& where,
                                      Issues& issues) {
  const auto wanted = static_cast<size_t>(count);
  if (labels.size() < wanted)
    issues.push_back({where, Severity::kWarning,
                      std::to_string(wanted - labels.size()) + " of " + std::to_string(count) +
                          " have no label; they are numbered"});
  labels.resize(wanted);
  std::set<std::string> taken;
  std::map<std::string, int> next;  // number for the next one of a name: thousands may be equal
  std::string repeated;
  for (std::string& label : labels) {
    if (label.empty() || taken.insert(label).second) continue;
    int& k = next.try_emplace(label, 2).first->second;
    if (k == 2 && next.size() <= kNamedLabels) repeated += (next.size() > 1 ? ", " : "") + label;
    while (!taken.insert(label + "#" + std::to_string(k)).second) ++k;
    label += "#" + std::to_string(k++);
  }
  if (next.size() > kNamedLabels)
    repeated += " and " + std::to_string(next.size() - kNamedLabels) + " more";
  for (size_t i = 0; i < wanted; ++i) {
    if (!labels[i].empty()) continue;
    labels[i] = std::string(letter) + std::to_string(i + 1);
    const std::string number = labels[i];
    for (int k = 2; !taken.insert(labels[i]).second; ++k)
      labels[i] = number + "#" + std::to_string(k);
  }
  if (!repeated.empty())
    issues.push_back({where, Severity::kWarning,
                      "occur more than once; the later ones got a number: " + repeated});
  return labels;
}

void NameC3dPoints(const C3dParameters& parameters, int count, C3dContents& contents,
                   Issues& issues) {
  std::vector<std::string> given = parameters.AllTexts("POINT", "LABELS");
  std::map<std::string, std::string> outputs;  // label -> unit
  for (const OutputKind& kind : kOutputKinds) {
    const C3dParameter* unit = parameters.Find("POINT", kind.unit);
    const std::vector<std::string> units =
        unit == nullptr ? std::vector<std::string>{} : unit->Texts();
    for (const std::string& label : parameters.AllTexts("POINT", kind.labels)) {
      if (!label.empty()) outputs[label] = units.empty() ? "" : units[0];
    }
  }
  given.resize(std::min(given.size(), static_cast<size_t>(count)));
  const std::vector<std::string> labels = UniqueLabels(given, count, "M", "POINT:LABELS", issues);
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto output = i < given.size() ? outputs.find(given[i]) : outputs.end();
    contents.points.push_back(
        {labels[i], output == outputs.end() ? "" : output->second, output != outputs.end()});
  }
}

void NameC3dChannels(const C3dParameters& parameters, int count, C3dContents& contents,
                     Issues& issues) {
  if (count == 0) return;
  const std::vector<std::string> labels =
      UniqueLabels(parameters.AllTexts("ANALOG", "LABELS"), count, "A", "ANALOG:LABELS", issues);
  const std::vector<std::string> units = parameters.AllTexts("ANALOG", "UNITS");
  const std::vector<double> scales = parameters.AllNumbers("ANALOG", "SCALE");
  const std::vector<double> offsets =
      parameters.AllNumbers("ANALOG", "OFFSET", contents.is_analog_unsigned);
  const C3dParameter* gen = parameters.Find("ANALOG", "GEN_SCALE");
  double gen_scale = gen == nullptr ? 1.0 : gen->Number(1.0);
  if (!std::isfinite(gen_scale) || gen_scale == 0) {
    issues.push_back({"ANALOG:GEN_SCALE", Severity::kWarning, "is no scale; 1 is taken"});
    gen_scale = 1.0;
  }
  int unscaled = 0;
  for (size_t c = 0; c < labels.size(); ++c) {
    C3dChannel channel{labels[c], c < units.size() ? units[c] : "", gen_scale, 0.0};
    const double scale = c < scales.size() ? scales[c] : 0.0;
    if (std::isfinite(scale) && scale != 0) {
      channel.scale = scale * gen_scale;
    } else {
      ++unscaled;
    }
    if (c < offsets.size() && std::isfinite(offsets[c])) channel.offset = offsets[c];
    contents.channels.push_back(std::move(channel));
  }
  if (unscaled > 0)
    issues.push_back({"ANALOG:SCALE", Severity::kWarning,
                      std::to_string(unscaled) + " of " + std::to_string(count) +
                          " channels have no scale; 1 is taken"});
}

void ReadC3dPlatforms(const C3dParameters& parameters, C3dContents& contents, Issues& issues) {
  const int used = std::min(CountOf(parameters, "FORCE_PLATFORM", "USED", 0), 255);
  const C3dParameter* types = parameters.Find("FORCE_PLATFORM", "TYPE");
  const C3dParameter* channels = parameters.Find("FORCE_PLATFORM", "CHANNEL");
  if (used == 0 || contents.channels.empty()) return;
  if (types == nullptr || channels == nullptr || channels->dimensions.empty()) {
    issues.push_back({"FORCE_PLATFORM", Severity::kWarning,
                      "TYPE or CHANNEL is missing: the platforms' channels are kept as analog"});
    return;
  }
  const std::vector<double> type = types->Numbers(), channel = channels->Numbers(true);
  const std::vector<double> corners = parameters.AllNumbers("FORCE_PLATFORM", "CORNERS");
  const std::vector<double> origins = parameters.AllNumbers("FORCE_PLATFORM", "ORIGIN");
  const C3dParameter* matrix = parameters.Find("FORCE_PLATFORM", "CAL_MATRIX");
  const std::vector<double> elements =
      matrix == nullptr ? std::vector<double>{} : matrix->Numbers();
  const auto per_platform = static_cast<size_t>(channels->dimensions[0]);
  for (size_t p = 0; p < static_cast<size_t>(used); ++p) {
    C3dPlatform platform;
    platform.type = p < type.size() ? static_cast<int>(type[p]) : 0;
    for (size_t k = 0; k < per_platform && p * per_platform + k < channel.size(); ++k) {
      const auto at = static_cast<int>(channel[p * per_platform + k]) - 1;
      platform.channels.push_back(at < static_cast<int>(contents.channels.size()) ? at : -1);
    }
    // Units of length are the points'; one that is not known yet is taken as millimetres.
    const double metres = contents.metres_per_unit > 0 ? contents.metres_per_unit : 1e-3;
    for (size_t k = 0; k < 4 && p * 12 + k * 3 + 2 < corners.size(); ++k) {
      const double* at = &corners[p * 12 + k * 3];
      platform.corners_m[k] = geometry::Vec3(at[0], at[1], at[2]) * metres;
    }
    if (p * 3 + 2 < origins.size())
      platform.origin_m =
          geometry::Vec3(origins[p * 3], origins[p * 3 + 1], origins[p * 3 + 2]) * metres;
    if (matrix != nullptr && matrix->dimensions.size() >= 2) {
      const auto rows = static_cast<size_t>(matrix->dimensions[0]);
      const size_t size = rows * static_cast<size_t>(matrix->dimensions[1]);
      if (size > 0 && (p + 1) * size <= elements.size()) {
        platform.calibration.assign(elements.begin() + static_cast<std::ptrdiff_t>(p * size),
                                    elements.begin() + static_cast<std::ptrdiff_t>((p + 1) * size));
        platform.calibration_rows = static_cast<int>(rows);
      }
    }
    contents.platforms.push_back(std::move(platform));
  }
  const std::vector<double> zero = parameters.AllNumbers("FORCE_PLATFORM", "ZERO", true);
  if (zero.size() >= 2 && zero[0] >= 1 && zero[1] >= zero[0] && zero[1] < 4e9)
    contents.zero_frames = {static_cast<int64_t>(zero[0]), static_cast<int64_t>(zero[1])};
}

void ReadC3dEvents(const C3dParameters& parameters, std::span<const uint8_t> header,
                   C3dContents& contents, Issues& issues) {
  const int used = CountOf(parameters, "EVENT", "USED", 0);
  const double first_s = static_cast<double>(contents.first_frame - 1) / contents.rate.hz();
  const double length_s = static_cast<double>(contents.frames) / contents.rate.hz();
  int outside = 0;
  const auto add = [&](double time_s, std::string label, std::string context, std::string subject) {
    if (!std::isfinite(time_s) || std::fabs(time_s) > 1e8) {
      issues.push_back(
          {"EVENT:TIMES", Severity::kLoss, "an event without a usable time: '" + label + "'"});
      return;
    }
    if (time_s < -1e-6 || time_s > length_s) ++outside;
    contents.events.push_back({time_s, std::move(label), std::move(context), std::move(subject)});
  };
  if (used > 0) {
    const std::vector<double> times = parameters.AllNumbers("EVENT", "TIMES");
    const auto texts = [&](const char* name) {
      std::vector<std::string> all = parameters.AllTexts("EVENT", name);
      all.resize(static_cast<size_t>(used));
      return all;
    };
    const std::vector<std::string> labels = texts("LABELS"), contexts = texts("CONTEXTS"),
                                   subjects = texts("SUBJECTS");
    // Two rows (minutes, seconds) as the guide says; some writers give seconds alone, some the two
    // rows as one list.
    const C3dParameter* parameter = parameters.Find("EVENT", "TIMES");
    const bool is_list = parameter != nullptr && parameter->dimensions.size() == 1;
    const bool has_two_rows =
        parameter != nullptr && parameter->dimensions.size() >= 2 && parameter->dimensions[0] == 2;
    const bool is_flat = is_list && times.size() == 2 * static_cast<size_t>(used);
    if (is_flat)
      issues.push_back({"EVENT:TIMES", Severity::kNote,
                        std::to_string(times.size()) + " numbers in one row for " +
                            std::to_string(used) + " events are read as minutes and seconds"});
    const bool has_minutes = has_two_rows || is_flat;
    for (size_t e = 0; e < static_cast<size_t>(used); ++e) {
      const size_t at = has_minutes ? e * 2 : e;
      if (at + (has_minutes ? 1 : 0) >= times.size()) {
        issues.push_back({"EVENT:TIMES", Severity::kLoss,
                          std::to_string(static_cast<size_t>(used) - e) + " of " +
                              std::to_string(used) + " events have no time"});
        break;
      }
      const double time_s = has_minutes ? times[at] * 60 + times[at + 1] : times[at];
      add(time_s - first_s, labels[e], contexts[e], subjects[e]);
    }
  } else if (C3dWord(&header[(150 - 1) * 2], contents.processor) == 12345) {
    const int count = std::min<int>(C3dWord(&header[(151 - 1) * 2], contents.processor), 18);
    for (int e = 0; e < count; ++e) {
      const size_t k = static_cast<size_t>(e);
      if (header[(189 - 1) * 2 + k] != 1) continue;  // switched off
      std::string label(reinterpret_cast<const char*>(&header[(199 - 1) * 2 + k * 4]), 4);
      C3dParameter text{"", C3dParameter::Type::kChar, {4}, {label.begin(), label.end()},
                        "", contents.processor};
      add(C3dFloat(&header[(153 - 1) * 2 + k * 4], contents.processor), text.Texts()[0], "", "");
    }
  }
  if (outside > 0)
    issues.push_back({"events", Severity::kWarning,
                      std::to_string(outside) + " of " + std::to_string(contents.events.size()) +
                          " lie outside the recording"});
}

}  // namespace handhold::exchange
