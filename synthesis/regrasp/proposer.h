/// Where candidate grasps come from: every method that can suggest how to hold a prop is a Proposer
/// behind this one small interface, and one judge ranks what all of them suggest (judge.h).
///
/// A new method is a new proposer; nothing else changes. Grasp control and grasp search know this
/// header and nothing of each other. Pinned by tests/synthesis/regrasp/proposer_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "database/artefact/grasp.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// What whoever asks for grasps wishes.
struct GraspWishes {
  /// Contacts shall lie in this ball of the prop's frame, approached along its direction where that
  /// is not zero; nullopt: anywhere. Its name is empty for a point and radius.
  std::optional<model::GraspRegion> region;
  /// A label of one taxonomy ("tripod", or "feix:tripod" for that taxonomy's); empty: any. Matched
  /// with the types of what a proposer starts from (an example, a template).
  std::string type;
  /// The prop stands on a table with this frame (the middle of its top, z out of it): hands keep
  /// off its other side. nullopt: it floats.
  std::optional<geometry::RigidTransform> X_PTable;
  int poses = 60;          ///< candidates to try in all
  std::uint64_t seed = 1;  ///< same seed, same wishes: same candidates, to the bit
  double seconds = 0.0;    ///< wall time after which no further candidate is begun; 0: no limit
  /// Work in several processes: this one tries the candidates whose number leaves `part` when
  /// divided by `parts`. The union over all parts is what one process gives, whatever `parts` is.
  int part = 0, parts = 1;
};

/// Who asks, with what. References outlive the call.
struct GraspRequest {
  const model::Skeleton& hand;
  std::string hand_hash;  ///< artefact of the skeleton; empty: the shipped hand of its name
  const model::Prop& prop;
  std::string prop_hash;  ///< artefact of the prop; empty: the shipped prop of its name
  GraspWishes wishes;
};

struct ProposerProgress {
  int tried = 0, planned = 0;  ///< candidates of this part
  int proposed = 0;
};

/// What a proposer hands on while it works. Either function may be empty; either answers false to
/// stop: the proposer then returns what it has, `stopped` set.
struct ProposerSink {
  /// One candidate: hand, prop, X_PH, q (closed), q_open, q_squeeze or tau_squeeze_Nm, contacts and
  /// `proposer` filled, scores["candidate"] its number among `poses`.
  std::function<bool(artefact::Grasp)> propose;
  std::function<bool(const ProposerProgress&)> progress;
};

/// How it went. Never an error when nothing was found: the counts say why.
struct ProposerReport {
  ProposerProgress done;
  /// Candidates that were not proposed, by cause: "loose", "not touched", "not reached", "too
  /// deep", "lost", "out of region", "table".
  std::map<std::string, int> refused;
  bool stopped = false;  ///< by the sink or the time
  /// Not empty: nothing was tried, because nothing matches the wishes ("no example of type
  /// 'tripod': it has cylinder").
  std::string no_match;
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;  ///< "control", "search": Grasp::proposer
  /// kInvalid where hand, prop or wishes do not fit what the proposer was made with (another
  /// skeleton, no shapes, parts < 1).
  virtual Result<ProposerReport> Propose(const GraspRequest& request, const ProposerSink& sink) = 0;
};

/// Does a grasp's types hold this wish? "" always; "tripod": under any taxonomy; "feix:tripod":
/// under that one.
bool TypeMatches(const std::map<std::string, std::string>& types, std::string_view wish);

/// The region that a person named: one of the prop's own by name, or "x,y,z,r" in metres in the
/// prop's frame. kNotFound lists the names that there are; kInvalid for numbers that are no region.
Result<model::GraspRegion> RegionNamed(const model::Prop& prop, std::string_view text);

/// Share of the contacts that lie in the region; 0 without contacts.
double ShareInRegion(const artefact::Grasp& grasp, const model::GraspRegion& region);

/// kInvalid: poses, parts, part, seconds out of range.
Status CheckWishes(const GraspWishes& wishes);

}  // namespace handhold::synthesis
