#include "fitting/grasp_space/grasp_space_fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "database/artefact/space_density.h"
#include "database/model/hand_library.h"
#include "tests/fitting/grasp_space/planted_mixture.h"

namespace handhold::fitting::grasp_space_fit_test {
namespace {

using test_support::Draw;
using test_support::Plant;
using test_support::PlantedMixture;

HandPoses PosesOf(const PlantedMixture& m, const Eigen::MatrixXd& points) {
  HandPoses poses;
  poses.shapes_v = (m.directions * points).colwise() + m.offset;
  for (Eigen::Index i = 0; i < m.offset.size(); ++i)
    poses.dof_names.push_back("d" + std::to_string(i));
  poses.types.assign(static_cast<size_t>(points.cols()), "tripod");
  return poses;
}

TEST(GraspSpaceFit, ThePlantedRankMixtureAndLikelihoodComeBack) {
  const PlantedMixture planted = Plant(21, 3, 3, 7);
  const Eigen::MatrixXd points = Draw(planted, 1500, 8);
  const HandPoses poses = PosesOf(planted, points);
  const artefact::GraspSpace space =
      *FitGraspSpace(poses, {.dims = 0,
                             .variance = 0.99999,
                             .mixture = {.max_components = 4, .restarts = 3, .ridge = 1e-9}});
  ASSERT_EQ(space.dimensions(), 3);  // planted: the rest is rounding
  EXPECT_LT(space.variance.tail(18).maxCoeff(), 1e-12);
  // The same subspace: planted directions lie in it.
  EXPECT_LT(
      (planted.directions - space.basis * (space.basis.transpose() * planted.directions)).norm(),
      1e-9);
  EXPECT_EQ(space.mixture.size(), 3u);
  EXPECT_EQ(space.poses_by_type.at("tripod"), 1500);
  EXPECT_LT(ReconstructionRms(space, poses.shapes_v), 1e-12);
  // Likelihood: against the planted density at 200 of the points. An orthonormal change of
  // coordinates leaves it alone.
  const artefact::SpaceDensity density = *artefact::SpaceDensity::Build(space);
  double off = 0;
  for (int i = 0; i < 200; ++i) {
    const Eigen::VectorXd a = density.Project(poses.shapes_v.col(i));
    off += std::abs(density.LogLikelihood(a) - std::log(planted.Density(points.col(i)))) / 200;
  }
  EXPECT_LT(off, 0.1);
  // The quantile: 2 % of 1500 lie below the threshold.
  int below = 0;
  for (int i = 0; i < 1500; ++i)
    below += density.LogLikelihood(density.Project(poses.shapes_v.col(i))) < space.log_threshold;
  EXPECT_EQ(below, 30);
}

TEST(GraspSpaceFit, PrincipalComponentsAreThoseOfTheCovariance) {
  const PlantedMixture planted = Plant(6, 6, 1, 2);
  const Eigen::MatrixXd x = Draw(planted, 500, 3);
  const PrincipalComponents p = FindPrincipalComponents(x);
  EXPECT_LT((p.basis.transpose() * p.basis - Eigen::MatrixXd::Identity(6, 6)).norm(), 1e-12);
  for (int k = 0; k < 6; ++k) {
    // Variance along it, written out.
    double sum = 0;
    for (int i = 0; i < 500; ++i) sum += std::pow(p.basis.col(k).dot(x.col(i) - p.mean), 2);
    EXPECT_NEAR(p.variance[k], sum / 499, 1e-12);
    if (k > 0) {
      EXPECT_LE(p.variance[k], p.variance[k - 1]);
    }
    EXPECT_GT(p.basis.col(k).maxCoeff(), -p.basis.col(k).minCoeff());
  }
}

// One pose again and again, or with rounding about it, is no space; and a span of many poses is
// thinned along its whole length.
TEST(GraspSpaceFit, OneShapeIsNoSpace) {
  HandPoses same;
  same.shapes_v = Eigen::MatrixXd::Constant(4, 60, 0.3);
  same.dof_names = {"a", "b", "c", "d"};
  same.types.assign(60, "");
  for (const int dims : {0, 1}) {
    const auto refused = FitGraspSpace(same, {.dims = dims});
    ASSERT_FALSE(refused) << dims;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnidentifiable);
  }
  same.shapes_v += 1e-9 * Eigen::MatrixXd::Random(4, 60);
  EXPECT_EQ(FitGraspSpace(same, {.dims = 1}).error().code, ErrorCode::kUnidentifiable);
}

TEST(GraspSpaceFit, ManyPosesOfASpanAreThinnedAlongIt) {
  const model::Skeleton hand = *model::LoadHand("hand27");
  artefact::PoseTrack track;
  track.dof_names = hand.dof_names();
  const int frames = 500;
  track.q.resize(hand.nq(), frames);
  for (int k = 0; k < frames; ++k) {
    track.times.push_back(Timestamp::FromSeconds(k / 100.0));
    track.q.col(k) = hand.ZeroConfiguration();
    track.q(hand.nq() - 1, k) = 0.1 * k;  // a new pose in each
  }
  track.information_diagonal = Eigen::MatrixXd::Ones(hand.nv(), frames);
  track.information_diagonal(hand.nv() - 2, 7) = 0;  // open
  HandPoses poses;
  ASSERT_TRUE(AddPoses(hand, track, {}, "", {.most_per_span = 100}, &poses).has_value());
  EXPECT_EQ(poses.shapes_v.cols(), 100);
  EXPECT_EQ(poses.undetermined, 1);
  EXPECT_EQ(poses.thinned, 399);
  const Eigen::Index last = poses.shapes_v.rows() - 1;
  EXPECT_EQ(poses.shapes_v(last, 0), 0.0);
  EXPECT_GT(poses.shapes_v(last, 99), 0.1 * 490);  // to the span's end
}

TEST(GraspSpaceFit, RefusesTooFewPosesAndTooFlatOnes) {
  const PlantedMixture planted = Plant(21, 2, 1, 3);
  const HandPoses few = PosesOf(planted, Draw(planted, 39, 4));
  const auto refused = FitGraspSpace(few, {.dims = 8});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnidentifiable);
  EXPECT_NE(refused.error().message.find("1 are missing"), std::string::npos);
  // Of none, one and few alike: what is missing is counted to what is needed.
  for (const int have : {0, 1, 4}) {
    const auto none = FitGraspSpace(PosesOf(planted, Draw(planted, have, 4)), {.dims = 8});
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find(std::to_string(40 - have) + " are missing"),
              std::string::npos)
        << none.error().message;
  }
  const auto any = FitGraspSpace(PosesOf(planted, Draw(planted, 1, 4)), {.dims = 0});
  ASSERT_FALSE(any);
  EXPECT_NE(any.error().message.find("4 are missing"), std::string::npos);
  // Enough poses, but they vary along two dimensions only.
  const auto flat = FitGraspSpace(PosesOf(planted, Draw(planted, 400, 4)), {.dims = 3});
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code, ErrorCode::kUnidentifiable);
  EXPECT_NE(flat.error().message.find("along 2 dimensions"), std::string::npos);
  EXPECT_TRUE(FitGraspSpace(PosesOf(planted, Draw(planted, 400, 4)), {.dims = 2}).has_value());
}

artefact::PoseTrack TrackOf(const model::Skeleton& hand, const std::vector<double>& angle) {
  artefact::PoseTrack track;
  track.dof_names = hand.dof_names();
  track.q.resize(hand.nq(), static_cast<Eigen::Index>(angle.size()));
  for (size_t i = 0; i < angle.size(); ++i) {
    track.times.push_back(Timestamp::FromNanoseconds(static_cast<int64_t>(i) * 1'000'000));
    Eigen::VectorXd q = hand.ZeroConfiguration();
    q[hand.q_index(hand.FindBody("index.prx"))] = angle[i];
    track.q.col(static_cast<Eigen::Index>(i)) = q;
  }
  return track;
}

TEST(GraspSpaceFit, PosesAreThinnedBySpacingAndCutToSpans) {
  const model::Skeleton hand = *model::LoadHand("hand27");
  std::vector<double> angle;
  for (int i = 0; i < 100; ++i) angle.push_back(0.01 * i);
  const artefact::PoseTrack track = TrackOf(hand, angle);
  HandPoses poses;
  ASSERT_TRUE(AddPoses(hand, track, {}, "tripod", {.spacing_rad = 0.0999}, &poses).has_value());
  EXPECT_EQ(poses.shapes_v.cols(), 10);  // 0, 0.1 .. 0.9
  EXPECT_EQ(poses.thinned, 90);
  EXPECT_EQ(poses.shapes_v.rows(), 21);
  ASSERT_TRUE(AddPoses(hand, track,
                       TimeRange{Timestamp::FromNanoseconds(50'000'000),
                                 Timestamp::FromNanoseconds(60'000'000)},
                       "lateral", {.spacing_rad = 0.0999}, &poses)
                  .has_value());
  EXPECT_EQ(poses.shapes_v.cols(), 12);  // 0.50, 0.60
  EXPECT_NEAR(poses.shapes_v.col(10).maxCoeff(), 0.5, 1e-12);
  EXPECT_EQ(poses.types[11], "lateral");
  // Never mixed with scripted ones.
  EXPECT_EQ(AddTemplates(poses.dof_names, {}, &poses).error().code, ErrorCode::kInvalid);
  // Nor with another hand's.
  EXPECT_EQ(AddPoses(*model::LoadHand("hand29"), track, {}, "", {}, &poses).error().code,
            ErrorCode::kInvalid);
}

TEST(GraspSpaceFit, BallJointsComeAsRotationVectors) {
  const model::Skeleton hand = *model::WithFreeBase(*model::LoadHand("hand57"));
  Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
  v.tail(hand.nv() - 6).setLinSpaced(-0.3, 0.4);
  artefact::PoseTrack track;
  track.dof_names = hand.dof_names();
  track.times = {Timestamp::FromNanoseconds(0)};
  track.q = hand.Integrate(hand.ZeroConfiguration(), v);
  HandPoses poses;
  ASSERT_TRUE(AddPoses(hand, track, {}, "", {}, &poses).has_value());
  EXPECT_LT((poses.shapes_v.col(0) - v.tail(hand.nv() - 6)).norm(), 1e-12);
}

}  // namespace
}  // namespace handhold::fitting::grasp_space_fit_test
