#include "tests/support/hand_take.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <Eigen/Geometry>

#include "database/base/check.h"
#include "tests/support/mujoco_tree.h"

namespace handhold::test_support {
namespace {

using model::JointType;
using model::Skeleton;

constexpr int kOccludedFrames = 20;

/// A body's q: hinge and universal angles as they are, a ball's as a rotation vector.
void SetJoint(const model::Joint& joint, const Eigen::Vector3d& angles, double* q) {
  if (joint.type == JointType::kBall) {
    const Eigen::Quaterniond x(
        Eigen::AngleAxisd(angles.norm(), angles.norm() > 0 ? Eigen::Vector3d(angles.normalized())
                                                           : Eigen::Vector3d::UnitX()));
    q[0] = x.w(), q[1] = x.x(), q[2] = x.y(), q[3] = x.z();
    return;
  }
  for (int k = 0; k < joint.nv(); ++k) q[k] = angles[k];
}

void SetRoot(const Skeleton& hand, const RootOptions& root, double t, Eigen::VectorXd* q) {
  const auto wave = [t](double f, double phase) { return std::sin(2 * M_PI * f * t + phase); };
  for (int b = 1; b < hand.body_count(); ++b) {
    if (hand.body(b).joint.type != JointType::kFree) continue;
    const Eigen::Vector3d p =
        root.middle_W + root.reach_m * Eigen::Vector3d(wave(0.31, 0), wave(0.23, 1), wave(0.4, 2));
    const Eigen::Vector3d w =
        root.turn_rad * Eigen::Vector3d(wave(0.27, 3), wave(0.37, 1), wave(0.19, 2));
    const auto turn = [](const Eigen::Vector3d& v) {
      return Eigen::Quaterniond(Eigen::AngleAxisd(
          v.norm(), v.norm() > 0 ? Eigen::Vector3d(v.normalized()) : Eigen::Vector3d::UnitX()));
    };
    const Eigen::Quaterniond x = turn(root.heading_rad) * turn(w);
    q->segment<7>(hand.q_index(b)) << p, x.w(), x.x(), x.y(), x.z();
  }
}

/// MuJoCo needs masses and we need places only: every body weighs the same.
Skeleton WithAnyMass(const Skeleton& hand) {
  model::SkeletonDraft draft = hand.draft();
  for (model::Body& body : draft.bodies) {
    body.mass = {};
    body.mass.mass_kg = 0.1;
    body.mass.I_BCom_B = 1e-4 * geometry::Mat3::Identity();
  }
  return *Skeleton::Build(std::move(draft));
}

/// How far a marker has slid on its bone: by a sine of the angles of its body's joint and of the
/// joints on it, in a direction of its own, mostly along the bone.
class Skin {
 public:
  Skin(const Skeleton& hand, double most_m, std::mt19937* random) : hand_(hand), most_m_(most_m) {
    std::uniform_real_distribution<double> u(-1, 1);
    for (const model::MarkerAttachment& m : hand.markers()) {
      Slide slide;
      slide.direction_B = Eigen::Vector3d(1, 0.5 * u(*random), 0.4 * u(*random)).normalized();
      slide.phase = M_PI * u(*random);
      for (int b = 1; b < hand.body_count(); ++b) {
        const JointType type = hand.body(b).joint.type;
        const bool near = b == m.body || hand.body(b).parent == m.body;
        if (near && (type == JointType::kHinge || type == JointType::kUniversal))
          slide.coordinates.push_back(hand.q_index(b));
      }
      slides_.push_back(std::move(slide));
    }
  }
  Eigen::Vector3d Slid_B(size_t marker, const Eigen::VectorXd& q) const {
    const Slide& slide = slides_[marker];
    double angle = slide.phase;
    for (const int i : slide.coordinates) angle += 1.5 * q[i];
    return most_m_ * std::sin(angle) * slide.direction_B;
  }

 private:
  struct Slide {
    Eigen::Vector3d direction_B;
    double phase = 0.0;
    std::vector<int> coordinates;
  };
  const Skeleton& hand_;
  double most_m_;
  std::vector<Slide> slides_;
};

recording::StreamInfo MarkerStream(const Skeleton& hand, double rate_hz,
                                   const HandTakeOptions& options) {
  recording::StreamInfo info;
  info.name = options.stream;
  info.kind = recording::StreamKind::kMarkers;
  info.rate = {static_cast<int64_t>(std::llround(rate_hz)), 1};
  info.frame = "W";
  for (size_t m = 0; m < hand.markers().size(); ++m) {
    const std::string& name = options.names.empty() ? hand.markers()[m].name : options.names[m];
    for (const char* c : {".x", ".y", ".z"})
      info.channels.push_back({options.prefix + name + c, "m", 0});
  }
  return info;
}

}  // namespace

HandMotion RangeOfMotion(const Skeleton& hand, int frames, unsigned seed, double rate_hz,
                         double share, const RootOptions& root) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  struct Wave {
    double middle, reach, f1, p1, f2, p2;
  };
  std::vector<Wave> waves(static_cast<size_t>(hand.nv()));
  for (int b = 1; b < hand.body_count(); ++b) {
    const model::Joint& joint = hand.body(b).joint;
    for (int k = 0; k < joint.nv(); ++k) {
      Wave& w = waves[static_cast<size_t>(hand.v_index(b) + k)];
      // A free root has no range; RootOptions move it.
      const bool ranged = joint.type != JointType::kFree;
      const double lower = ranged ? joint.lower_rad[k] : 0.0,
                   upper = ranged ? joint.upper_rad[k] : 0.0;
      const double narrow = joint.type == JointType::kBall ? 0.6 : 1.0;  // a ball's limits couple
      w = {0.5 * (lower + upper),     0.5 * narrow * share * (upper - lower),
           0.15 + 0.5 * unit(random), 6.28 * unit(random),
           0.6 + 0.6 * unit(random),  6.28 * unit(random)};
    }
  }
  HandMotion motion{rate_hz, {}};
  for (int i = 0; i < frames; ++i) {
    const double t = i / rate_hz;
    Eigen::VectorXd q = hand.ZeroConfiguration();
    SetRoot(hand, root, t, &q);
    std::vector<double> phase(waves.size(), 0.0);  // -1 .. 1 of each dof's range
    for (int b = 1; b < hand.body_count(); ++b) {
      const model::Joint& joint = hand.body(b).joint;
      if (joint.type == JointType::kFree || joint.nv() == 0) continue;
      Eigen::Vector3d angles = Eigen::Vector3d::Zero();
      for (int k = 0; k < joint.nv(); ++k) {
        const auto at = static_cast<size_t>(hand.v_index(b) + k);
        const Wave& w = waves[at];
        phase[at] = 0.65 * std::sin(2 * M_PI * w.f1 * t + w.p1) +
                    0.35 * std::sin(2 * M_PI * w.f2 * t + w.p2);
        if (joint.name.ends_with(".dip") && joint.type == JointType::kHinge) {
          const auto pip = static_cast<size_t>(hand.v_index(hand.body(b).parent));
          phase[at] = 0.6 * phase[pip] + 0.4 * phase[at];
        }
        angles[k] = w.middle + w.reach * phase[at];
      }
      SetJoint(joint, angles, q.data() + hand.q_index(b));
    }
    motion.q.push_back(std::move(q));
  }
  return motion;
}

std::vector<GraspType> FiveGrasps() {
  const auto fingers = [](double mcp, double pip, double dip, GraspType type) {
    for (const std::string f : {"index", "middle", "ring", "little"}) {
      type.closed_rad.emplace_back("R." + f + ".mcp.flex", mcp);
      type.closed_rad.emplace_back("R." + f + ".pip.flex", pip);
      type.closed_rad.emplace_back("R." + f + ".dip.flex", dip);
    }
    return type;
  };
  const auto thumb = [](double cmc, double abd, double mcp, double ip, GraspType type) {
    type.closed_rad.emplace_back("R.thumb.cmc.flex", cmc);
    type.closed_rad.emplace_back("R.thumb.cmc.abd", abd);
    type.closed_rad.emplace_back("R.thumb.mcp.flex", mcp);
    type.closed_rad.emplace_back("R.thumb.ip.flex", ip);
    return type;
  };
  GraspType pinch{
      "tip pinch",
      {{"R.index.mcp.flex", 0.8}, {"R.index.pip.flex", 0.7}, {"R.index.dip.flex", 0.4}}};
  GraspType tripod = pinch;
  tripod.name = "tripod";
  for (const auto& [dof, angle] : {std::pair{"R.middle.mcp.flex", 0.8},
                                   {"R.middle.pip.flex", 0.75},
                                   {"R.middle.dip.flex", 0.4}})
    tripod.closed_rad.emplace_back(dof, angle);
  return {thumb(0.3, 0.2, 0.4, 0.3, fingers(0.7, 1.0, 0.6, {"large wrap", {}})),
          thumb(0.2, 0.3, 0.3, 0.4, pinch), thumb(0.25, 0.2, 0.3, 0.35, tripod),
          fingers(0.1, 1.4, 0.9, {"hook", {}}),
          thumb(0.1, -0.3, 0.2, 0.5, fingers(0.9, 1.1, 0.5, {"lateral", {}}))};
}

HandMotion Grasps(const Skeleton& hand, const std::vector<GraspType>& types, double seconds,
                  double rate_hz, const RootOptions& root) {
  HandMotion motion{rate_hz, {}};
  const int each = static_cast<int>(std::lround(seconds * rate_hz));
  for (const GraspType& type : types) {
    for (int i = 0; i < each; ++i) {
      // Minimum jerk to closed and back.
      const double s = 1 - std::abs(2.0 * i / each - 1),
                   closed = s * s * s * (10 + s * (6 * s - 15));
      Eigen::VectorXd q = hand.ZeroConfiguration();
      SetRoot(hand, root, static_cast<double>(motion.q.size()) / rate_hz, &q);
      for (const auto& [dof, angle] : type.closed_rad) {
        const int at = hand.FindDof(dof);
        CHECK_GE(at, 0);
        for (int b = 1; b < hand.body_count(); ++b) {
          const int k = at - hand.v_index(b);
          const JointType joint = hand.body(b).joint.type;
          if (k >= 0 && k < hand.body(b).joint.nv() && joint != JointType::kBall)
            q[hand.q_index(b) + k] = closed * angle;
        }
      }
      motion.q.push_back(std::move(q));
    }
  }
  return motion;
}

HandTake Record(const Skeleton& hand, const HandMotion& motion, const HandTakeOptions& options) {
  HandTake take{recording::Clip(recording::ClipInfo{}), {}, motion.q, {}};
  const recording::StreamInfo info = MarkerStream(hand, motion.rate_hz, options);
  const int frames = static_cast<int>(motion.q.size());
  recording::SampleBlock block;
  block.stream_id = take.clip.AddStream(info, recording::ClockMap::Identity());
  block.count = frames;
  block.values.resize(info.channels.size() * static_cast<size_t>(frames));
  std::mt19937 random(options.seed);
  std::normal_distribution<double> white(0, 1);
  std::uniform_real_distribution<double> unit(0, 1);
  const Skin skin(hand, options.skin_m, &random);
  testing::MujocoTree tree(WithAnyMass(hand));
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(hand.nv());
  std::vector<int> hidden(hand.markers().size(), 0);  // frames still to come
  for (int i = 0; i < frames; ++i) {
    const Eigen::VectorXd& q = motion.q[static_cast<size_t>(i)];
    tree.SetState(q, still, {}, Eigen::Vector3d::Zero());
    tree.RunMassMatrix();  // places the bodies
    std::vector<Eigen::Vector3d> origins{Eigen::Vector3d::Zero()};
    for (int b = 1; b < hand.body_count(); ++b) origins.push_back(tree.BodyOrigin(b));
    for (size_t m = 0; m < hand.markers().size(); ++m) {
      const model::MarkerAttachment& marker = hand.markers()[m];
      const Eigen::Vector3d p_BM = marker.p_BM + skin.Slid_B(m, q);
      Eigen::Vector3d p_W = p_BM;
      if (marker.body > 0) {
        p_W = origins[static_cast<size_t>(marker.body)] + tree.BodyRotation(marker.body) * p_BM;
      }
      if (hidden[m] == 0 && unit(random) < options.occlusion / kOccludedFrames)
        hidden[m] = kOccludedFrames;
      for (int c = 0; c < 3; ++c) {
        const double seen = p_W[c] + options.noise_m * white(random);
        block.value(static_cast<int>(3 * m) + c, i) =
            hidden[m] > 0 ? std::numeric_limits<double>::quiet_NaN() : seen;
      }
      hidden[m] = std::max(0, hidden[m] - 1);
    }
    take.p_WJ.push_back(std::move(origins));
  }
  take.clip.Append(block);
  const recording::SampleWindow all =
      *take.clip.Read(block.stream_id, take.clip.Extent(block.stream_id));
  take.times = all.times;
  return take;
}

recording::Clip Together(const HandTake& a, const HandTake& b) {
  recording::StreamInfo info = a.clip.streams().front();
  const recording::StreamInfo& other = b.clip.streams().front();
  info.channels.insert(info.channels.end(), other.channels.begin(), other.channels.end());
  const recording::SampleWindow x = *a.clip.Read(info.id, a.clip.Extent(info.id)),
                                y = *b.clip.Read(other.id, b.clip.Extent(other.id));
  CHECK_EQ(x.count(), y.count());
  recording::Clip clip(recording::ClipInfo{});
  recording::SampleBlock block;
  block.stream_id = clip.AddStream(info, recording::ClockMap::Identity());
  block.count = x.count();
  block.values = x.values;
  block.values.insert(block.values.end(), y.values.begin(), y.values.end());
  clip.Append(block);
  return clip;
}

}  // namespace handhold::test_support
