#include "synthesis/interaction/retarget.h"

#include <algorithm>

#include "database/model/kinematics.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;

constexpr const char* kTips[] = {"thumb.tip", "index.tip", "middle.tip"};

/// The middle between the thumb's tip and that of the others, as far as both hands have them.
class GripMiddle {
 public:
  GripMiddle(const model::Skeleton& a, const model::Skeleton& b) {
    for (const char* const tip : kTips)
      if (a.FindFrame(tip) >= 0 && b.FindFrame(tip) >= 0) tips_.push_back(tip);
  }
  bool there() const { return !tips_.empty(); }
  Vec3 Of(const model::Skeleton& hand, const Eigen::VectorXd& q,
          model::KinematicsData* data) const {
    model::ComputePoses<double>(hand, q, data);
    const auto at = [&](const char* tip) -> Vec3 {
      return model::FramePose<double>(hand, *data, hand.FindFrame(tip)).p;
    };
    Vec3 others = Vec3::Zero();
    for (size_t i = 1; i < tips_.size(); ++i)
      others += at(tips_[i]) / static_cast<double>(tips_.size() - 1);
    return tips_.size() == 1 ? at(tips_[0]) : Vec3(0.5 * (at(tips_[0]) + others));
  }

 private:
  std::vector<const char*> tips_;
};

std::string WithoutSide(const std::string& dof) {
  return dof.starts_with("R.") || dof.starts_with("L.") ? dof.substr(2) : dof;
}

}  // namespace

Result<artefact::InteractionTrajectory> OntoHand(const model::Skeleton& from,
                                                 const artefact::InteractionTrajectory& trajectory,
                                                 const model::Skeleton& to) {
  if (from.dof_names() != to.dof_names() || trajectory.dof_names != from.dof_names()) {
    return Error{ErrorCode::kInvalid, "'" + to.name() + "' has other joints than '" + from.name() +
                                          "', whose trajectory it shall play"};
  }
  artefact::InteractionTrajectory out = trajectory;
  const GripMiddle middle(from, to);
  if (!middle.there() || to.body_count() < 2 || to.body(1).joint.type != model::JointType::kFree)
    return out;
  model::KinematicsData data_from(from), data_to(to);
  const geometry::Mat3 R_JW = to.body(1).joint.X_PJp.R.transpose();
  const int at = to.q_index(1);
  for (Eigen::MatrixXd* const q : {&out.q, &out.q_reference, &out.q_reference_dynamic}) {
    for (Eigen::Index k = 0; k < q->cols(); ++k) {
      const Eigen::VectorXd was = q->col(k);
      if (!was.allFinite()) continue;
      const Vec3 shift = middle.Of(from, was, &data_from) - middle.Of(to, was, &data_to);
      q->block<3, 1>(at, k) += R_JW * shift;
    }
  }
  return out;
}

Result<std::vector<BorrowedCompliance>> BorrowCompliances(
    const artefact::InteractionTrajectory& lender, artefact::InteractionTrajectory* borrower) {
  std::vector<const artefact::ComplianceFit*> fits;
  for (const artefact::ComplianceFit& fit : lender.fits) fits.push_back(&fit);
  std::stable_partition(fits.begin(), fits.end(),
                        [](const auto* fit) { return fit->estimator == "dynamic"; });
  std::vector<BorrowedCompliance> borrowed;
  for (size_t d = 0; d < borrower->dof_names.size(); ++d) {
    const auto row = static_cast<Eigen::Index>(d);
    const bool known = (d >= borrower->assumed.size() || borrower->assumed[d] == 0) &&
                       borrower->compliance_rad_per_Nm.row(row).allFinite();
    if (known) continue;
    const std::string& dof = borrower->dof_names[d];
    const auto lend = [&](const auto& fits_name) -> bool {
      for (const artefact::ComplianceFit* const fit : fits) {
        for (const artefact::JointCompliance& joint : fit->joints) {
          if (!joint.compliance_rad_per_Nm || !fits_name(joint.dof)) continue;
          borrower->compliance_rad_per_Nm.row(row).setConstant(*joint.compliance_rad_per_Nm);
          borrowed.push_back({dof, *joint.compliance_rad_per_Nm, fit->estimator, fit->task});
          return true;
        }
      }
      return false;
    };
    const bool lent =
        lend([&](const std::string& name) { return name == dof; }) ||
        lend([&](const std::string& name) { return WithoutSide(name) == WithoutSide(dof); });
    if (!lent) continue;
    borrower->assumed.resize(borrower->dof_names.size(), 0);
    borrower->assumed[d] = 1;
  }
  if (!borrowed.empty()) return borrowed;
  return Error{ErrorCode::kUnidentifiable,
               "the lender's fits accepted no compliance of a joint that is not known here"};
}

}  // namespace handhold::synthesis
