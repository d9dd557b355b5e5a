#include "database/exchange/c3d_properties.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "database/base/units.h"
#include "database/text/json.h"

namespace handhold::exchange {
namespace {

using text::Json;

/// What may tell who was recorded, or who recorded: a clip carries a pseudonym only.
bool MayNameAPerson(const std::string& name) {
  for (const char* word :
       {"SUBJECT", "PATIENT", "OPERATOR", "EXAMINER", "CLINICIAN", "PHYSICIAN", "INVESTIGATOR"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

bool SaysSomething(const C3dParameter& parameter) {
  if (parameter.type != C3dParameter::Type::kChar) return !parameter.Numbers().empty();
  for (const std::string& text : parameter.Texts())
    if (!text.empty()) return true;
  return false;
}

/// Every parameter that C3dDocuments leaves out, by its group.
void ListWhatMayNameAPerson(const C3dParameters& parameters, Issues& issues) {
  for (const C3dGroup& group : parameters.groups) {
    std::string names;
    for (const C3dParameter& parameter : group.parameters) {
      if (!MayNameAPerson(group.name) && !MayNameAPerson(parameter.name)) continue;
      if (SaysSomething(parameter)) names += (names.empty() ? "" : ", ") + parameter.name;
    }
    if (names.empty()) continue;
    issues.push_back({group.name, Severity::kNote,
                      names + ": may tell who it was, and not kept; give a pseudonym with "
                              "--subject"});
  }
}

/// Repeated names get a number: a file may repeat one, an object may not.
std::string Unique(const Json& object, const std::string& name) {
  std::string unique = name;
  for (int k = 2; object.Find(unique) != nullptr; ++k) unique = name + "#" + std::to_string(k);
  return unique;
}

Json Values(const C3dParameter& parameter) {
  Json values = Json::Array();
  if (parameter.type == C3dParameter::Type::kChar) {
    for (std::string& text : parameter.Texts()) values.Push(std::move(text));
  } else {
    for (const double number : parameter.Numbers())
      values.Push(std::isfinite(number) ? Json(number) : Json(nullptr));
  }
  return values;
}

}  // namespace

recording::ClipInfo C3dClipInfo(const C3dParameters& parameters, const C3dContents& contents,
                                const std::string& path, Issues& issues) {
  recording::ClipInfo info;
  info.name = std::filesystem::path(path).stem().string();
  auto& properties = info.properties;
  properties["import.format"] = "c3d";
  properties["import.file"] = std::filesystem::path(path).filename().string();
  static constexpr const char* kProcessors[] = {"Intel", "DEC", "MIPS"};
  properties["c3d.encoding"] = std::string(kProcessors[static_cast<int>(contents.processor) - 84]) +
                               (contents.is_float ? " float" : " integer");
  properties["c3d.first_frame"] = std::to_string(contents.first_frame);
  // Residuals are whole steps of it; an export that uses it again gives them back exactly.
  char scale[32];
  std::snprintf(
      scale, sizeof scale, "%.9g",
      MetresToMillimetres(static_cast<double>(contents.scale) * contents.metres_per_unit));
  properties["c3d.point_scale_mm"] = scale;
  for (const char* name : {"COMPANY", "SOFTWARE", "VERSION_LABEL"}) {
    const C3dParameter* parameter = parameters.Find("MANUFACTURER", name);
    if (parameter == nullptr) continue;
    const std::vector<std::string> texts = parameter->Texts();
    std::string key = std::string("c3d.manufacturer.") + name;
    if (!texts.empty() && !texts[0].empty()) properties[key] = texts[0];
  }
  ListWhatMayNameAPerson(parameters, issues);
  return info;
}

std::map<std::string, std::vector<uint8_t>> C3dDocuments(const C3dParameters& parameters) {
  Json document = Json::Object();
  for (const C3dGroup& group : parameters.groups) {
    if (MayNameAPerson(group.name)) continue;
    Json object = Json::Object();
    for (const C3dParameter& parameter : group.parameters) {
      if (MayNameAPerson(parameter.name)) continue;
      Json dimensions = Json::Array();
      for (const int d : parameter.dimensions) dimensions.Push(d);
      static constexpr const char* kTypes[] = {"char", "", "byte", "int16", "", "float"};
      object.Set(Unique(object, parameter.name),
                 Json::Object({{"type", kTypes[static_cast<int>(parameter.type) + 1]},
                               {"dimensions", std::move(dimensions)},
                               {"values", Values(parameter)}}));
    }
    document.Set(Unique(document, group.name), std::move(object));
  }
  const Result<std::string> written = text::WriteJson(document);
  if (!written) return {};
  return {{kC3dParametersDocument, {written->begin(), written->end()}}};
}

std::map<std::string, std::array<geometry::Vec3, 4>> C3dCorners(std::span<const uint8_t> document) {
  const std::string_view bytes(reinterpret_cast<const char*>(document.data()), document.size());
  const Result<Json> json = text::ParseJson(bytes, {.source = kC3dParametersDocument});
  const auto values = [&](const char* group, const char* name) -> const Json* {
    const Json* found = json ? json->Find(group) : nullptr;
    found = found != nullptr ? found->Find(name) : nullptr;
    found = found != nullptr ? found->Find("values") : nullptr;
    return found != nullptr && found->is_array() ? found : nullptr;
  };
  const Json* units = values("POINT", "UNITS");
  const Json* corners = values("FORCE_PLATFORM", "CORNERS");
  if (units == nullptr || corners == nullptr || units->elements().empty()) return {};
  const auto unit = units->elements().front().string();
  const double metres = unit ? MetresPerUnit(*unit) : 0;
  if (!(metres > 0)) return {};
  std::map<std::string, std::array<geometry::Vec3, 4>> by_stream;
  const auto& all = corners->elements();
  for (size_t p = 0; (p + 1) * 12 <= all.size(); ++p) {
    std::array<geometry::Vec3, 4>& plate = by_stream["c3d/plate" + std::to_string(p + 1)];
    for (size_t k = 0; k < 12; ++k) {
      const auto number = all[p * 12 + k].number();
      plate[k / 3](static_cast<Eigen::Index>(k % 3)) =
          number ? *number * metres : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return by_stream;
}

}  // namespace handhold::exchange
