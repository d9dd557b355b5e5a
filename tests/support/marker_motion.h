/// A hand that moves and is seen by cameras: joint trajectories and marker positions by their own
/// composition of rotations.
///
/// Takes a skeleton as data only (its draft) and composes poses with Eigen's quaternions, sharing
/// no code with model/kinematics or with fits.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Geometry>

#include "database/model/skeleton.h"
#include "database/recording/clip.h"

namespace handhold::test_support {

/// X_WB of every body (0: the world) at q.
inline std::vector<Eigen::Isometry3d> BodyPoses(const model::Skeleton& skeleton,
                                                const Eigen::VectorXd& q) {
  auto isometry = [](const geometry::RigidTransform& x) {
    Eigen::Isometry3d m = Eigen::Isometry3d::Identity();
    m.linear() = x.R;
    m.translation() = x.p;
    return m;
  };
  std::vector<Eigen::Isometry3d> poses{Eigen::Isometry3d::Identity()};
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Body& body = skeleton.body(b);
    const double* x = q.data() + skeleton.q_index(b);
    Eigen::Isometry3d joint = Eigen::Isometry3d::Identity();
    switch (body.joint.type) {
      case model::JointType::kFixed:
        break;
      case model::JointType::kHinge:
        joint.rotate(Eigen::AngleAxisd(x[0], body.joint.axes[0]));
        break;
      case model::JointType::kUniversal:
        joint.rotate(Eigen::AngleAxisd(x[0], body.joint.axes[0]));
        joint.rotate(Eigen::AngleAxisd(x[1], body.joint.axes[1]));
        break;
      case model::JointType::kBall:
        joint.rotate(Eigen::Quaterniond(x[0], x[1], x[2], x[3]));
        break;
      case model::JointType::kFree:
        joint.translate(Eigen::Vector3d(x[0], x[1], x[2]));
        joint.rotate(Eigen::Quaterniond(x[3], x[4], x[5], x[6]));
        break;
    }
    poses.push_back(poses[static_cast<size_t>(body.parent)] * isometry(body.joint.X_PJp) * joint *
                    isometry(body.joint.X_BJc).inverse());
  }
  return poses;
}

inline Eigen::Matrix3Xd MarkerPlaces(const model::Skeleton& skeleton, const Eigen::VectorXd& q) {
  const auto poses = BodyPoses(skeleton, q);
  Eigen::Matrix3Xd p(3, static_cast<Eigen::Index>(skeleton.markers().size()));
  for (Eigen::Index m = 0; m < p.cols(); ++m) {
    const auto& marker = skeleton.markers()[static_cast<size_t>(m)];
    p.col(m) = poses[static_cast<size_t>(marker.body)] * marker.p_BM;
  }
  return p;
}

/// Smooth motion of every coordinate: two sines each, angles within +-`range_rad` about
/// `centre_rad` (and inside 90 % of finite limits), a free root within 50 mm.
class SmoothMotion {
 public:
  SmoothMotion(const model::Skeleton& skeleton, double range_rad, unsigned seed)
      : skeleton_(skeleton) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    for (int i = 0; i < skeleton.nv(); ++i) {
      waves_.push_back({0.3 + 0.9 * unit(random), 6.3 * unit(random), 0.9 + 0.9 * unit(random),
                        6.3 * unit(random)});
      centre_.push_back(0.0);
      range_.push_back(range_rad);
    }
    for (int b = 1; b < skeleton.body_count(); ++b) {
      const model::Joint& joint = skeleton.body(b).joint;
      for (int k = 0; k < joint.nv(); ++k) {
        const auto i = static_cast<size_t>(skeleton.v_index(b) + k);
        if (joint.type == model::JointType::kFree) {
          range_[i] = k < 3 ? range_rad : 0.05;
        } else if (std::isfinite(joint.lower_rad[k]) && std::isfinite(joint.upper_rad[k])) {
          const double narrow = joint.type == model::JointType::kBall ? 0.5 : 0.9;  // a ball's
                                                                                    // limits couple
          centre_[i] = 0.5 * (joint.lower_rad[k] + joint.upper_rad[k]);
          range_[i] = std::min(range_rad, narrow * 0.5 * (joint.upper_rad[k] - joint.lower_rad[k]));
          if (joint.type == model::JointType::kBall) centre_[i] *= 0.5;
        }
      }
    }
  }

  Eigen::VectorXd At(double t) const {
    Eigen::VectorXd q = skeleton_.ZeroConfiguration();
    for (int b = 1; b < skeleton_.body_count(); ++b) {
      const model::Joint& joint = skeleton_.body(b).joint;
      const int iq = skeleton_.q_index(b), iv = skeleton_.v_index(b);
      auto value = [&](int k) {
        const auto i = static_cast<size_t>(iv + k);
        const Wave& w = waves_[i];
        return centre_[i] + range_[i] * (0.65 * std::sin(6.283 * w.f1 * t + w.p1) +
                                         0.35 * std::sin(6.283 * w.f2 * t + w.p2));
      };
      auto turn = [&](int at, int first) {
        const Eigen::Vector3d w(value(first), value(first + 1), value(first + 2));
        const Eigen::Quaterniond x(Eigen::AngleAxisd(w.norm(), w.normalized()));
        q.segment<4>(at) << x.w(), x.x(), x.y(), x.z();
      };
      if (joint.type == model::JointType::kHinge || joint.type == model::JointType::kUniversal) {
        for (int k = 0; k < joint.nv(); ++k) q[iq + k] = value(k);
      } else if (joint.type == model::JointType::kBall) {
        turn(iq, 0);
      } else if (joint.type == model::JointType::kFree) {
        q.segment<3>(iq) << value(3), value(4), value(5);
        turn(iq + 3, 0);
      }
    }
    return q;
  }

 private:
  struct Wave {
    double f1, p1, f2, p2;
  };
  const model::Skeleton& skeleton_;
  std::vector<Wave> waves_;
  std::vector<double> centre_, range_;
};

/// A clip of the skeleton's markers at 500 Hz, with white noise; `missing(frame, marker)` says what
/// is occluded.
template <typename Pose, typename Missing>
recording::Clip MarkerClip(const model::Skeleton& skeleton, const Pose& pose, int frames,
                           double noise_m, unsigned seed, const Missing& missing) {
  recording::Clip clip(recording::ClipInfo{});
  recording::StreamInfo info;
  info.name = "vicon/markers";
  info.kind = recording::StreamKind::kMarkers;
  info.rate = {500, 1};
  for (const auto& marker : skeleton.markers()) {
    for (const char* c : {".x", ".y", ".z"}) info.channels.push_back({marker.name + c, "m", 0});
  }
  const int id = clip.AddStream(info, recording::ClockMap::Identity());
  std::mt19937 random(seed);
  std::normal_distribution<double> white(0, noise_m);
  recording::SampleBlock block;
  block.stream_id = id;
  block.count = frames;
  block.values.resize(info.channels.size() * static_cast<size_t>(frames));
  for (int i = 0; i < frames; ++i) {
    const Eigen::Matrix3Xd p = MarkerPlaces(skeleton, pose(i / 500.0));
    for (int m = 0; m < p.cols(); ++m) {
      for (int c = 0; c < 3; ++c) {
        const double noise = white(random);
        block.value(3 * m + c, i) =
            missing(i, m) ? std::numeric_limits<double>::quiet_NaN() : p(c, m) + noise;
      }
    }
  }
  clip.Append(block);
  return clip;
}

}  // namespace handhold::test_support
