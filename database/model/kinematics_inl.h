/// Definitions of kinematics.h, for scalars other than double.
#pragma once

#include <vector>

#include "database/base/check.h"
#include "database/model/joint_math.h"
#include "database/model/kinematics.h"

namespace handhold::model {

template <typename S>
KinematicsDataT<S>::KinematicsDataT(const Skeleton& skeleton)
    : X_WB(static_cast<size_t>(skeleton.body_count())),
      J_W(Eigen::Matrix<S, 6, Eigen::Dynamic>::Zero(6, skeleton.nv())),
      V_WB(static_cast<size_t>(skeleton.body_count()), geometry::Vec6T<S>::Zero()),
      A_WB(static_cast<size_t>(skeleton.body_count()), geometry::Vec6T<S>::Zero()) {}

namespace internal {

/// [a] b without forming the 6x6 matrix (geometry::SpatialCross).
template <typename S>
geometry::Vec6T<S> CrossTwists(const geometry::Vec6T<S>& a, const geometry::Vec6T<S>& b) {
  const geometry::Vec3T<S> aw = a.template head<3>(), av = a.template tail<3>();
  const geometry::Vec3T<S> bw = b.template head<3>(), bv = b.template tail<3>();
  geometry::Vec6T<S> c;
  c.template head<3>() = aw.cross(bw);
  c.template tail<3>() = aw.cross(bv) + av.cross(bw);
  return c;
}

/// The twist, in world coordinates at the world's origin, of a unit rotation about the axis `w_W`
/// through `p_W`.
template <typename S, typename Column>
void RotationColumn(const geometry::Vec3T<S>& w_W, const geometry::Vec3T<S>& p_W, Column&& column) {
  column.template head<3>() = w_W;
  column.template tail<3>() = p_W.cross(w_W);
}

/// Columns of J_W that belong to one joint.
template <typename S>
void JointColumns(const Joint& joint, int v_index, const geometry::RigidTransformT<S>& X_WJp,
                  const geometry::RigidTransformT<S>& X_WJc,
                  Eigen::Matrix<S, 6, Eigen::Dynamic>* J_W) {
  using Vec3S = geometry::Vec3T<S>;
  switch (joint.type) {
    case JointType::kFixed:
      break;
    case JointType::kUniversal: {
      const Vec3S second = X_WJc.R * joint.axes[1].template cast<S>();
      RotationColumn<S>(second, X_WJc.p, J_W->col(v_index + 1));
      [[fallthrough]];
    }
    case JointType::kHinge: {
      const Vec3S first = X_WJp.R * joint.axes[0].template cast<S>();
      RotationColumn<S>(first, X_WJc.p, J_W->col(v_index));
      break;
    }
    case JointType::kFree:
      J_W->template block<3, 3>(0, v_index + 3).setZero();
      J_W->template block<3, 3>(3, v_index + 3) = X_WJc.R;
      [[fallthrough]];
    case JointType::kBall:
      for (int k = 0; k < 3; ++k) {
        const Vec3S axis = X_WJc.R.col(k);
        RotationColumn<S>(axis, X_WJc.p, J_W->col(v_index + k));
      }
      break;
  }
}

template <typename S, bool kWithJacobian>
void PosePass(const Skeleton& skeleton, const Eigen::Ref<const VectorT<S>>& q,
              KinematicsDataT<S>* data) {
  CHECK_EQ(q.size(), skeleton.nq());
  CHECK_EQ(static_cast<int>(data->X_WB.size()), skeleton.body_count());
  data->X_WB[0] = geometry::RigidTransformT<S>::Identity();
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const Body& body = skeleton.body(b);
    const geometry::RigidTransformT<S> X_WJp =
        data->X_WB[static_cast<size_t>(body.parent)] * body.joint.X_PJp.template Cast<S>();
    const geometry::RigidTransformT<S> X_WJc =
        X_WJp * JointPose<S>(body.joint, q.data() + skeleton.q_index(b));
    data->X_WB[static_cast<size_t>(b)] =
        skeleton.joint_at_origin(b) ? X_WJc : X_WJc * skeleton.X_JcB(b).template Cast<S>();
    if constexpr (kWithJacobian) {
      JointColumns<S>(body.joint, skeleton.v_index(b), X_WJp, X_WJc, &data->J_W);
    }
  }
}

}  // namespace internal

template <typename S>
void ComputePoses(const Skeleton& skeleton, const ConstVectorRef<S>& q, KinematicsDataT<S>* data) {
  internal::PosePass<S, false>(skeleton, q, data);
}

template <typename S>
void ComputeJacobian(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                     KinematicsDataT<S>* data) {
  internal::PosePass<S, true>(skeleton, q, data);
}

template <typename S>
void ComputeVelocities(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                       const ConstVectorRef<S>& v, const ConstVectorRef<S>& a,
                       KinematicsDataT<S>* data) {
  CHECK_EQ(v.size(), skeleton.nv());
  CHECK_EQ(a.size(), skeleton.nv());
  internal::PosePass<S, true>(skeleton, q, data);
  data->V_WB[0].setZero();
  data->A_WB[0].setZero();
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const Body& body = skeleton.body(b);
    geometry::Vec6T<S> V = data->V_WB[static_cast<size_t>(body.parent)];
    geometry::Vec6T<S> A = data->A_WB[static_cast<size_t>(body.parent)];
    const int first = skeleton.v_index(b);
    if (body.joint.type == JointType::kUniversal) {
      // Axis 1 is carried by the parent, axis 2 by what axis 1 turns.
      for (int k = first; k < first + 2; ++k) {
        const geometry::Vec6T<S> rate = data->J_W.col(k) * v[k];
        A += data->J_W.col(k) * a[k] + internal::CrossTwists<S>(V, rate);
        V += rate;
      }
    } else {
      geometry::Vec6T<S> rate = geometry::Vec6T<S>::Zero();
      for (int k = first; k < first + body.joint.nv(); ++k) {
        rate += data->J_W.col(k) * v[k];
        A += data->J_W.col(k) * a[k];
      }
      // The columns are fixed in the child; [V_child] rate = [V_parent] rate, since [rate] rate =
      // 0.
      A += internal::CrossTwists<S>(V, rate);
      V += rate;
    }
    data->V_WB[static_cast<size_t>(b)] = V;
    data->A_WB[static_cast<size_t>(b)] = A;
  }
}

template <typename S>
void PointJacobian(const Skeleton& skeleton, const KinematicsDataT<S>& data, int body,
                   const std::type_identity_t<geometry::Vec3T<S>>& p_W,
                   std::type_identity_t<Eigen::Ref<Eigen::Matrix<S, 3, Eigen::Dynamic>>> J) {
  CHECK_EQ(J.cols(), skeleton.nv());
  for (int k = 0; k < skeleton.nv(); ++k) {
    if (!skeleton.DofMovesBody(k, body)) {
      J.col(k).setZero();
      continue;
    }
    const geometry::Vec3T<S> w = data.J_W.template block<3, 1>(0, k);
    const geometry::Vec3T<S> v = data.J_W.template block<3, 1>(3, k);
    J.col(k) = v + w.cross(p_W);
  }
}

template <typename S>
void AddForceTorques(const Skeleton& skeleton, const KinematicsDataT<S>& data, int body,
                     const std::type_identity_t<geometry::Vec3T<S>>& p_W,
                     const std::type_identity_t<geometry::Vec3T<S>>& f_onHand_W, VectorRef<S> tau) {
  CHECK_EQ(tau.size(), skeleton.nv());
  const geometry::Vec3T<S> moment = p_W.cross(f_onHand_W);  // about the world's origin
  for (int k = 0; k < skeleton.nv(); ++k) {
    if (!skeleton.DofMovesBody(k, body)) continue;
    tau[k] += data.J_W.template block<3, 1>(0, k).dot(moment) +
              data.J_W.template block<3, 1>(3, k).dot(f_onHand_W);
  }
}

template <typename S>
void MarkerPositions(const Skeleton& skeleton, const KinematicsDataT<S>& data,
                     std::vector<geometry::Vec3T<S>>* p_WM) {
  const std::vector<MarkerAttachment>& markers = skeleton.markers();
  p_WM->resize(markers.size());
  for (size_t i = 0; i < markers.size(); ++i) {
    (*p_WM)[i] = data.X_WB[static_cast<size_t>(markers[i].body)] *
                 geometry::Vec3T<S>(markers[i].p_BM.template cast<S>());
  }
}

template <typename S>
geometry::RigidTransformT<S> FramePose(const Skeleton& skeleton, const KinematicsDataT<S>& data,
                                       int frame) {
  const NamedFrame& f = skeleton.frames()[static_cast<size_t>(frame)];
  return data.X_WB[static_cast<size_t>(f.body)] * f.X_BF.template Cast<S>();
}

}  // namespace handhold::model
