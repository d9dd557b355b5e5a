#include "database/model/grasp_taxonomy.h"

#include <algorithm>
#include <array>

#include "database/base/check.h"
#include "database/base/names.h"

namespace handhold::model {
namespace {

constexpr std::array<GraspTypeRow, 33> kTypes = {{
    {1, "large-diameter", "large-diameter", "cylindrical", true, true},
    {2, "small-diameter", "small-diameter", "cylindrical", true, true},
    {3, "medium-wrap", "medium-wrap", "cylindrical", true, true},
    {4, "adducted-thumb", "adducted-thumb", "cylindrical", true, true},
    {5, "light-tool", "light-tool", "cylindrical", true, true},
    {6, "prismatic-4-finger", "thumb-4-finger", "palmar", true, false},
    {7, "prismatic-3-finger", "thumb-3-finger", "palmar", true, false},
    {8, "prismatic-2-finger", "thumb-2-finger", "palmar", true, false},
    {9, "palmar-pinch", "thumb-index-finger", "palmar", true, false},
    {10, "power-disk", "power-disk", "spherical", true, true},
    {11, "power-sphere", "power-sphere", "spherical", true, true},
    {12, "precision-disk", "precision-disk", "spherical", true, false},
    {13, "precision-sphere", "precision-sphere", "spherical", true, false},
    {14, "tripod", "tripod", "palmar", true, false},
    {15, "fixed-hook", "hook-platform-push", "hook", true, true},
    {16, "lateral", "lateral-pinch", "lateral", true, false},
    {17, "index-finger-extension", "adducted-thumb", "cylindrical", false, true},
    {18, "extension-type", "thumb-4-finger", "palmar", false, true},
    {19, "distal-type", "light-tool", "cylindrical", false, true},
    {20, "writing-tripod", "tripod", "palmar", false, false},
    {21, "tripod-variation", "tripod", "palmar", false, false},
    {22, "parallel-extension", "thumb-4-finger", "palmar", false, false},
    {23, "adduction-grip", "lateral-pinch", "lateral", false, false},
    {24, "tip-pinch", "thumb-index-finger", "tip", false, false},
    {25, "lateral-tripod", "lateral-pinch", "lateral", false, false},
    {26, "sphere-4-finger", "power-sphere", "spherical", false, true},
    {27, "quadpod", "precision-sphere", "spherical", false, false},
    {28, "sphere-3-finger", "power-sphere", "spherical", false, true},
    {29, "stick", "lateral-pinch", "lateral", false, false},
    {30, "palmar", "large-diameter", "cylindrical", false, true},
    {31, "ring", "large-diameter", "cylindrical", false, true},
    {32, "ventral", "lateral-pinch", "lateral", false, false},
    {33, "inferior-pincer", "thumb-index-finger", "palmar", false, false},
}};
constexpr std::array<std::string_view, 3> kTaxonomies = {kFeix, kCutkosky, kSchlesinger};

std::string Canonical(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == ' ' || c == '_') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool Known(std::string_view taxonomy) {
  return std::ranges::find(kTaxonomies, taxonomy) != kTaxonomies.end();
}

}  // namespace

std::span<const GraspTypeRow> GraspTypes() { return kTypes; }
std::span<const std::string_view> Taxonomies() { return kTaxonomies; }

const GraspTypeRow* FindFeix(std::string_view feix) {
  const auto at = std::ranges::find(kTypes, feix, &GraspTypeRow::feix);
  return at == kTypes.end() ? nullptr : &*at;
}

std::string_view NameIn(const GraspTypeRow& row, std::string_view taxonomy) {
  CHECK(Known(taxonomy));
  if (taxonomy == kFeix) return row.feix;
  return taxonomy == kCutkosky ? row.cutkosky : row.schlesinger;
}

std::vector<std::string> TypeNames(std::string_view taxonomy) {
  std::vector<std::string> names;
  if (!Known(taxonomy)) return names;
  for (const GraspTypeRow& row : kTypes) {
    const std::string name(NameIn(row, taxonomy));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

Result<std::vector<std::string>> FeixTypesOf(std::string_view name, std::string_view taxonomy) {
  if (!taxonomy.empty() && !Known(taxonomy)) {
    return Error{ErrorCode::kInvalid, "no taxonomy '" + std::string(taxonomy) +
                                          "': known are 'feix', 'cutkosky', 'schlesinger'"};
  }
  const std::string asked = Canonical(name);
  std::vector<std::string> all;
  for (const std::string_view t : kTaxonomies) {
    if (!taxonomy.empty() && t != taxonomy) continue;
    std::vector<std::string> found;
    for (const GraspTypeRow& row : kTypes) {
      if (NameIn(row, t) == asked) found.emplace_back(row.feix);
    }
    if (!found.empty()) return found;
    for (std::string& known : TypeNames(t)) {
      if (std::ranges::find(all, known) == all.end()) all.push_back(std::move(known));
    }
  }
  return Error{ErrorCode::kNotFound,
               "no grasp type '" + std::string(name) + "'" + DidYouMean(asked, all)};
}

Result<std::string> CanonicalType(std::string_view name, std::string_view taxonomy) {
  HANDHOLD_ASSIGN(const std::vector<std::string> rows,
                  FeixTypesOf(name, taxonomy.empty() ? kFeix : taxonomy));
  return std::string(NameIn(*FindFeix(rows.front()), taxonomy.empty() ? kFeix : taxonomy));
}

std::pair<std::string, std::string> TypeAsked(const std::string& asked) {
  const size_t colon = asked.find(':');
  if (colon == std::string::npos) return {"", asked};
  return {asked.substr(0, colon), asked.substr(colon + 1)};
}

Result<std::vector<std::string>> FeixTypes(const std::vector<std::string>& asked) {
  std::vector<std::string> types;
  for (const std::string& one : asked) {
    const auto [taxonomy, name] = TypeAsked(one);
    HANDHOLD_ASSIGN(const std::vector<std::string> of, FeixTypesOf(name, taxonomy));
    for (const std::string& type : of) {
      if (std::ranges::find(types, type) == types.end()) types.push_back(type);
    }
  }
  return types;
}

}  // namespace handhold::model
