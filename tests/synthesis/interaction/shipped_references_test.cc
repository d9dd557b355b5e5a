// The references that ship are what their programs make, and each does what it is for.
#include "synthesis/interaction/shipped_references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/replay.h"

namespace handhold::synthesis::shipped_references_test {
namespace {

using artefact::Verdict;
using geometry::RigidTransform;
using geometry::Vec3;

TEST(ShippedReferences, AreWhatTheirProgramsMake) {
  EXPECT_EQ(artefact::ReferenceNames().value(), ShippedReferenceNames());
  for (const std::string& name : ShippedReferenceNames()) {
    const auto file = artefact::LoadLibraryReference(name);
    const auto made = MakeShippedReference(name);
    ASSERT_TRUE(file && made) << name;
    EXPECT_EQ(file->hand, made->hand);
    EXPECT_EQ(file->prop, made->prop);
    EXPECT_EQ(file->hold.begin, made->hold.begin);
    EXPECT_EQ(file->hold.end, made->hold.end);
    size_t k = 0;
    for (size_t i = 0; i < file->trajectory.times.size(); ++i) {
      while (made->trajectory.times[k] < file->trajectory.times[i]) ++k;
      ASSERT_EQ(made->trajectory.times[k], file->trajectory.times[i]) << name;
      const Eigen::VectorXd off = made->trajectory.q_reference.col(static_cast<Eigen::Index>(k)) -
                                  file->trajectory.q_reference.col(static_cast<Eigen::Index>(i));
      ASSERT_LT(off.cwiseAbs().maxCoeff(), 1e-5) << name << ": make it again (script_references)";
    }
    EXPECT_EQ(file->trajectory.compliance_rad_per_Nm.col(0),
              made->trajectory.compliance_rad_per_Nm.col(0));
  }
  EXPECT_EQ(MakeShippedReference("pinch_nothing").error().code, ErrorCode::kNotFound);
}

Verdict Lift(const std::string& name) {
  const auto file = artefact::LoadLibraryReference(name).value();
  const model::Skeleton hand = model::LoadHand(file.hand).value();
  artefact::Stage scene;
  scene.Add(artefact::TableAt(Vec3(0.3, 0, 0)));
  scene.Add(artefact::Placed(model::LoadLibraryProp(file.prop).value(), file.X_WProp,
                             artefact::StageThing::Is::kFree));
  ReplayOptions options;
  options.form = ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;
  const auto motion = ReplayInteraction(hand, file.trajectory, scene, options);
  EXPECT_TRUE(motion) << motion.error().message;
  if (!motion) return {};
  EXPECT_EQ(UnsolvedSteps(*motion), 0);
  VerdictOptions judge;
  judge.hold = file.hold;
  const auto verdict = JudgeHold(hand, *motion, judge);
  EXPECT_TRUE(verdict);
  return verdict.value();
}

TEST(ShippedReferences, GripsLiftTheirBox) {
  for (const char* name :
       {"pinch_box_3x5x7", "pinch_weak_box_3x5x7", "power_box_3x5x7", "tripod_box_3x5x7"}) {
    const Verdict verdict = Lift(name);
    EXPECT_EQ(verdict.kind, Verdict::Kind::kHeld) << name << ": " << verdict.cause;
  }
}

}  // namespace
}  // namespace handhold::synthesis::shipped_references_test
