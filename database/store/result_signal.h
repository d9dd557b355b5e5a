/// What a clip's newest results say over time, by name: the joint angles, torques, contact forces
/// and compliances that queries and SQL ask for. Internal to the store.
///
/// The newest result of a kind is that made from the clip itself, and made or asked for again last.
/// A hand has its own; results of several hands stand side by side.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/time.h"
#include "database/store/library.h"

namespace handhold::store {

enum class ResultQuantity {
  kAngle,         ///< by dof: the coordinate from the skeleton's zero; rad, of a free root also m
  kTorque,        ///< by dof: of the contacts, J^T f; N m, of a free root also N
  kContactForce,  ///< by site or thing: size of the sum of the forces on it that one hand's
                  ///< contacts tell; N, 0 while it is free
  kCompliance,    ///< by dof: one value per task, no times; rad/Nm; none of a refused joint
};
inline constexpr ResultQuantity kResultQuantities[] = {
    ResultQuantity::kAngle, ResultQuantity::kTorque, ResultQuantity::kContactForce,
    ResultQuantity::kCompliance};
std::string_view ResultQuantityName(ResultQuantity quantity);  ///< "angle", "contact_force"
std::optional<ResultQuantity> ParseResultQuantity(std::string_view name);

struct ResultSeries {
  ResultQuantity quantity = ResultQuantity::kAngle;
  std::string name;              ///< "R.index.pip.flex", "R.index.pad"
  std::string task;              ///< kCompliance: "exploring"; empty: all
  std::string unit;              ///< "rad", "N m", "N", "m", "rad/Nm"
  std::string hash;              ///< of the result
  std::vector<Timestamp> times;  ///< of the clip; none of kCompliance
  std::vector<double> values;    ///< one per time; of kCompliance one
};

/// The results of a library's clips, looked up once. A result that cannot be read is an error.
/// Cost: loading the clip's newest result of the kind; the last clip asked is kept.
class ResultIndex {
 public:
  explicit ResultIndex(const Library& library) : library_(library) {}

  /// Every series of the quantity; empty: the clip has no such result.
  Result<const std::vector<ResultSeries>*> Series(const std::string& clip_sha256,
                                                  ResultQuantity quantity);
  /// Names met so far and their units: what may have been meant where nothing answers.
  std::map<std::string, std::set<std::string>> Met(ResultQuantity quantity) const;

  /// Rows of the contacts in the clip's newest contact tracks.
  struct ContactTracks {
    std::vector<std::string> hashes;
    std::vector<artefact::ContactTrack> tracks;
  };
  Result<ContactTracks> Contacts(const std::string& clip_sha256);

 private:
  /// Hashes of the kind made from the clip, the newest first.
  Result<std::vector<std::string>> NewestFirst(const std::string& kind, const std::string& clip);
  Status AddAngles(const std::string& clip, std::vector<ResultSeries>* out);
  Status AddOfContacts(const std::string& clip, ResultQuantity quantity,
                       std::vector<ResultSeries>* out);
  Status AddCompliances(const std::string& clip, std::vector<ResultSeries>* out);

  const Library& library_;
  std::string clip_;
  std::map<ResultQuantity, std::vector<ResultSeries>> series_;  ///< of `clip_`
  std::map<ResultQuantity, std::map<std::string, std::set<std::string>>> met_;
};

}  // namespace handhold::store
