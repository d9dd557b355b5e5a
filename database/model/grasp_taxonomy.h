/// Names of grasp types in three published taxonomies, and which is which: the one table that clip
/// labels, grasp spaces and searches share.
///
/// Types are those of the GRASP taxonomy (Feix, Romero, Schmiedmayer, Dollar, Kragic 2016), 33 of
/// them; each is put under one of Cutkosky's 16 (1989) and one of Schlesinger's six (1919). The
/// first 16 of Feix are Cutkosky's own (his numbers 1 to 16); the other assignments are ours, by
/// opposition and fingers used, and say so (`cutkosky_published` false); so are those to
/// Schlesinger, who knew neither. Pinned by tests/database/model/grasp_taxonomy_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "database/base/result.h"

namespace handhold::model {

inline constexpr std::string_view kFeix = "feix", kCutkosky = "cutkosky",
                                  kSchlesinger = "schlesinger";

struct GraspTypeRow {
  int feix_number = 0;           ///< 1..33, as published
  std::string_view feix;         ///< "large-diameter"
  std::string_view cutkosky;     ///< "large-diameter", "thumb-4-finger"
  std::string_view schlesinger;  ///< "cylindrical", "tip", "hook", "palmar", "spherical", "lateral"
  bool cutkosky_published = false;  ///< the same type under both names; else ours, the nearest
  bool power = false;  ///< the palm or whole fingers hold it; false: precision and intermediate
};

/// All 33, by number.
std::span<const GraspTypeRow> GraspTypes();
/// "feix", "cutkosky", "schlesinger": finest first.
std::span<const std::string_view> Taxonomies();
/// The different names of a taxonomy, in the order of GraspTypes; empty for an unknown one.
std::vector<std::string> TypeNames(std::string_view taxonomy);

/// The row of a Feix type; null: there is none.
const GraspTypeRow* FindFeix(std::string_view feix);
/// The name of a row in a taxonomy. Precondition: the taxonomy is known.
std::string_view NameIn(const GraspTypeRow& row, std::string_view taxonomy);

/// The Feix types that a name means: itself, or all under a Cutkosky or Schlesinger name. A name in
/// several taxonomies is the finest one's ("tripod": Feix's one type) unless `taxonomy` says.
/// Spaces and '_' pass for '-', capitals for small letters. kNotFound with near names.
Result<std::vector<std::string>> FeixTypesOf(std::string_view name, std::string_view taxonomy = {});
/// Taxonomy (empty: any) and name of what people type: "tripod", "schlesinger:palmar".
std::pair<std::string, std::string> TypeAsked(const std::string& asked);
/// Feix names of what people typed, each once. kNotFound with near names.
Result<std::vector<std::string>> FeixTypes(const std::vector<std::string>& asked);
/// The spelling of a name in the table: kNotFound with near names; kInvalid for a taxonomy that is
/// none.
Result<std::string> CanonicalType(std::string_view name, std::string_view taxonomy);

}  // namespace handhold::model
