/// An interaction trajectory for another hand, and with another's compliances (Kry & Pai 2006,
/// sections 3.5 and 8.2).
///
/// Pinned by tests/synthesis/interaction/retarget_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/artefact/interaction_trajectory.h"
#include "database/base/result.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// `trajectory` of the hand `from`, for `to`: a hand with the same joints, of another size or
/// shape. Joint angles and compliances are copied; a free root is moved, in every frame, so that
/// the middle between the tips of thumb, index and middle finger (of those that both hands have as
/// frames "thumb.tip" ...) is where it was. Without a free root or without tips nothing moves.
/// skeleton_hash and provenance stay; kInvalid when the joints' names differ.
Result<artefact::InteractionTrajectory> OntoHand(const model::Skeleton& from,
                                                 const artefact::InteractionTrajectory& trajectory,
                                                 const model::Skeleton& to);

/// A joint's compliance that another take lends.
struct BorrowedCompliance {
  std::string dof;  ///< of the borrower
  double compliance_rad_per_Nm = 0.0;
  std::string estimator, task;  ///< of the lender's fit that it is from
};

/// Gives `borrower` the compliances that `lender`'s fits accepted, joint by joint, for all of its
/// frames: to joints of the same name, or that differ in the side alone ("L.index.pip.flex"), and
/// that the borrower does not know itself (refused, assumed or planted). Of several fits the
/// first with a value, those of the dynamic estimator before others. They stay marked as assumed:
/// nothing of the borrower's take determines them. Answers what was borrowed; kUnidentifiable when
/// nothing could be.
Result<std::vector<BorrowedCompliance>> BorrowCompliances(
    const artefact::InteractionTrajectory& lender, artefact::InteractionTrajectory* borrower);

}  // namespace handhold::synthesis
