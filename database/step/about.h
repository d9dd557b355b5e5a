/// What a step says of itself and of each input: once, beside its struct, in its Visit.
///
///   struct SmoothStep {
///     static constexpr step::Title kStep{"fit.smooth", 1, "smooth the joint angles of a clip"};
///     step::Given<artefact::PoseTrack> pose;
///     double cutoff_Hz = 6.0;
///   };
///   template <typename A>
///   void Visit(A& a, SmoothStep& s) {
///     a.Input("pose", s.pose, step::Role{.help = "pose track", .unsaid = step::Unsaid::kNewest});
///     a.Field("cutoff_Hz", s.cutoff_Hz, artefact::About{.help = "of the filter", .least = 0.1});
///   }
///   Result<artefact::PoseTrack> Compute(const SmoothStep& step, step::Work& work);
///
/// and one line in tools/pipeline/registry.cc. Pinned by tests/tools/pipeline/new_step_test.cc.
#pragma once

#include "database/artefact/about.h"

namespace handhold::step {

struct Title {
  const char* name;     ///< "fit.pose": as provenance says it
  int version;          ///< raised with each [numbers] line of the CHANGELOG
  const char* summary;  ///< one line, lower case, no full stop
};

/// What an input is when nobody says it. Whatever was chosen is told.
enum class Unsaid {
  kNothing,  ///< it is left out; of a needed input: somebody has to say it
  kNewest,   ///< the newest of its kind that was made from `of` (or, with no `of`, from the input
             ///< "clip", where there is one); of a hand also the newest fitted to that clip's
             ///< subject; of many: the newest of each of `of`
  kOf,       ///< what the input `of` was made with under the same role
  kMarkers,  ///< a hand: the one of ours that has the markers of `of`
  kTake,     ///< a prop: the only one of the take `of`
  kFreed     ///< a hand: that of `of`, its base let go
};

/// What an input is for.
struct Role {
  const char* help = "";   ///< one line, no full stop; empty: people do not name it, recipes can
  const char* word = "";   ///< what people call it, where it is not the role's name
  const char* value = "";  ///< stands for it in help: "HAND"; empty: by its kind
  Unsaid unsaid = Unsaid::kNothing;
  const char* of = "";  ///< the role that `unsaid` speaks of; where that is left out: "clip"
  bool needed = true;
  bool first = false;  ///< people say it first, without its word
};

}  // namespace handhold::step
