// A simulated subject whose hand closes in grasps, seen by cameras (MuJoCo's tree, tests/support/
// hand_take), fitted, and made a space of: what it says of the subject's grasps that it never saw.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "database/model/hand_library.h"
#include "fitting/grasp_space/grasp_space_fit.h"
#include "fitting/skeleton/pose_fit.h"
#include "synthesis/grasp_search/preshape.h"
#include "tests/support/hand_take.h"

namespace handhold::fitting::subject_test {
namespace {

TEST(SimulatedSubject, ItsSpaceSaysTheGraspsThatWereHeldOut) {
  const model::Skeleton hand = *model::WithMarkerSet(*model::LoadHand("hand27"), "30");
  const auto surface = *synthesis::HandSurface::Build(hand);
  const synthesis::Preshapes made =
      *synthesis::ScriptPreshapes(surface,
                                  {"tripod", "medium-wrap", "large-diameter", "power-sphere",
                                   "palmar-pinch", "prismatic-3-finger"},
                                  {.per_type = 12});
  std::vector<test_support::GraspType> trained;
  std::vector<Eigen::VectorXd> kept_back;
  std::map<std::string, int> count;
  for (const artefact::GraspTemplate& grasp : made.grasps) {
    if (++count[grasp.type] > 8) {
      kept_back.push_back(grasp.pose_v);
      continue;
    }
    test_support::GraspType type{grasp.type, {}};
    for (Eigen::Index i = 0; i < grasp.pose_v.size(); ++i)
      type.closed_rad.emplace_back(made.dof_names[static_cast<size_t>(i)], grasp.pose_v[i]);
    trained.push_back(std::move(type));
  }
  ASSERT_EQ(trained.size(), 48u);
  ASSERT_EQ(kept_back.size(), 24u);
  const test_support::HandMotion motion = test_support::Grasps(hand, trained, 0.4, 50);
  const test_support::HandTake take =
      test_support::Record(hand, motion, {.noise_m = 1e-4, .occlusion = 0.0, .seed = 3});
  PoseFitOptions options;
  options.method = PoseMethod::kFast;
  const auto fit = FitPose(take.clip, hand, options);
  ASSERT_TRUE(fit) << fit.error().message;
  HandPoses poses;
  ASSERT_TRUE(AddPoses(hand, fit->track, {}, "", {.most_per_span = 2000}, &poses).has_value());
  EXPECT_GT(poses.shapes_v.cols(), 200);
  const auto space =
      FitGraspSpace(poses, {.dims = 8, .mixture = {.max_components = 4, .restarts = 2}});
  ASSERT_TRUE(space) << space.error().message;
  Eigen::MatrixXd held(21, 24);
  for (int i = 0; i < 24; ++i) held.col(i) = kept_back[static_cast<size_t>(i)];
  const double rms = ReconstructionRms(*space, held);
  const double without =
      std::sqrt((held.colwise() - space->mean).squaredNorm() / static_cast<double>(held.size()));
  // The same from the planted poses: what the markers' noise costs.
  HandPoses planted;
  planted.dof_names = poses.dof_names;
  planted.shapes_v.resize(21, static_cast<Eigen::Index>(take.q.size()));
  for (size_t i = 0; i < take.q.size(); ++i)
    planted.shapes_v.col(static_cast<Eigen::Index>(i)) = take.q[i].tail(21);
  planted.types.assign(take.q.size(), "");
  const auto truth = FitGraspSpace(planted, {.dims = 8, .mixture = {.max_components = 1}});
  std::printf(
      "%ld poses fitted; held-out grasps: RMS %.2f deg of 21 angles with 8 dimensions "
      "(planted poses %.2f, mean alone %.2f)\n",
      static_cast<long>(poses.shapes_v.cols()), rms * 180 / M_PI,
      ReconstructionRms(*truth, held) * 180 / M_PI, without * 180 / M_PI);
  EXPECT_LT(rms, 0.09);  // 5 degrees
  EXPECT_LT(rms, 0.3 * without);
  EXPECT_LT(rms, ReconstructionRms(*truth, held) + 0.01);
}

}  // namespace
}  // namespace handhold::fitting::subject_test
