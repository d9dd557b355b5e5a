/// Definitions of dynamics.h, for scalars other than double.
///
/// Everything is computed in the joints' own child frames: a node is a joint that moves, with all
/// that is fixed to it, described in its frame Jc. Motion subspaces are then constant: the identity
/// for a ball and a free joint, the axis for a hinge. Velocities and accelerations are those of the
/// node's origin; gravity is an acceleration of the world, -g.
/// Longer than our headers are: the three algorithms share their node, and templates must be seen
/// whole.
#pragma once

#include <utility>
#include <vector>

#include "database/base/check.h"
#include "database/model/dynamics.h"
#include "database/model/joint_math.h"
#include "database/model/kinematics_inl.h"

namespace handhold::model {
namespace internal {

/// Mass, first moment and inertia about the node's origin.
template <typename S>
struct NodeInertia {
  S mass = S(0);
  geometry::Vec3T<S> moment = geometry::Vec3T<S>::Zero();
  geometry::Mat3T<S> about_origin = geometry::Mat3T<S>::Zero();
};

template <typename S>
struct Node {
  using V3 = geometry::Vec3T<S>;
  using M3 = geometry::Mat3T<S>;

  int parent = -1;  ///< node, or -1: the world
  JointType type = JointType::kHinge;
  int iq = 0, iv = 0, nv = 0;
  M3 R_PJp;  ///< joint frame in the parent node
  V3 p_PJp;
  bool turned = false;  ///< R_PJp is not the identity
  V3 axes[2];
  M3 cross[2];   ///< [axis]
  M3 cross2[2];  ///< [axis]^2
  NodeInertia<S> body;

  M3 R;  ///< of the node in its parent, at q
  V3 p;
  V3 first_axis;  ///< universal: axis 1 as the node sees it, at q
  V3 w, dw, acc;  ///< angular velocity, its rate, acceleration of the origin, in the node's frame
  V3 n, f;        ///< moment about the origin and force that the joint passes on
  NodeInertia<S> composite;
};

/// What only forward dynamics needs of a node, kept apart so that the nodes stay in the first
/// cache. Rows and columns (angular, linear).
template <typename S>
struct Articulated {
  geometry::Vec6T<S> V, c, pA, u;
  geometry::Vec6T<S> A;  ///< acceleration
  geometry::Mat6T<S> IA, U, D_inverse;
};

template <typename S>
geometry::Mat3T<S> RotationFromSkew(const geometry::Mat3T<S>& cross,
                                    const geometry::Mat3T<S>& cross2, const S& angle) {
  using std::cos;
  using std::sin;
  const S half = sin(angle * S(0.5));
  return geometry::Mat3T<S>::Identity() + sin(angle) * cross + (S(2) * half * half) * cross2;
}

template <typename S>
void PlaceNode(const S* all_q, Node<S>* node) {
  const S* q = all_q + node->iq;
  geometry::Mat3T<S> R;
  node->p = node->p_PJp;
  switch (node->type) {
    case JointType::kFixed:
      return;
    case JointType::kHinge:
      R = RotationFromSkew<S>(node->cross[0], node->cross2[0], q[0]);
      break;
    case JointType::kUniversal: {
      const geometry::Mat3T<S> second = RotationFromSkew<S>(node->cross[1], node->cross2[1], q[1]);
      R = RotationFromSkew<S>(node->cross[0], node->cross2[0], q[0]) * second;
      node->first_axis = second.transpose() * node->axes[0];
      break;
    }
    case JointType::kBall:
      R = geometry::FromQuaternion<S>(q[0], q[1], q[2], q[3]);
      break;
    case JointType::kFree:
      R = geometry::FromQuaternion<S>(q[3], q[4], q[5], q[6]);
      node->p += node->R_PJp * geometry::Vec3T<S>(q[0], q[1], q[2]);
      break;
  }
  if (node->turned) {
    node->R.noalias() = node->R_PJp * R;
  } else {
    node->R = R;
  }
}

/// Angular velocity of the joint, in the node, and the acceleration it has by itself when the
/// parent rests.
template <typename S>
void JointRates(const Node<S>& node, const S* v, geometry::Vec3T<S>* wj, geometry::Vec3T<S>* own) {
  using V3 = geometry::Vec3T<S>;
  own->setZero();
  if (node.type == JointType::kHinge) {
    *wj = node.axes[0] * v[0];
  } else if (node.type == JointType::kUniversal) {
    *wj = node.first_axis * v[0] + node.axes[1] * v[1];
    *own = node.first_axis.cross(node.axes[1]) * (v[0] * v[1]);
  } else {
    *wj = V3(v[0], v[1], v[2]);
  }
}

/// S a: angular part.
template <typename S>
geometry::Vec3T<S> JointAngular(const Node<S>& node, const S* a) {
  if (node.type == JointType::kHinge) return node.axes[0] * a[0];
  if (node.type == JointType::kUniversal) return node.first_axis * a[0] + node.axes[1] * a[1];
  return geometry::Vec3T<S>(a[0], a[1], a[2]);
}

/// S^T (n, f).
template <typename S>
void Project(const Node<S>& node, const geometry::Vec3T<S>& n, const geometry::Vec3T<S>& f,
             S* out) {
  switch (node.type) {
    case JointType::kFixed:
      break;
    case JointType::kHinge:
      out[0] = node.axes[0].dot(n);
      break;
    case JointType::kUniversal:
      out[0] = node.first_axis.dot(n);
      out[1] = node.axes[1].dot(n);
      break;
    case JointType::kFree:
      out[3] = f.x(), out[4] = f.y(), out[5] = f.z();
      [[fallthrough]];
    case JointType::kBall:
      out[0] = n.x(), out[1] = n.y(), out[2] = n.z();
      break;
  }
}

/// The motion subspace as a 6 x C matrix; C is the joint's nv.
template <int C, typename S>
Eigen::Matrix<S, 6, C> Subspace(const Node<S>& node) {
  Eigen::Matrix<S, 6, C> s = Eigen::Matrix<S, 6, C>::Zero();
  if constexpr (C == 1) {
    s.template topRows<3>() = node.axes[0];
  } else if constexpr (C == 2) {
    s.template topLeftCorner<3, 1>() = node.first_axis;
    s.template topRightCorner<3, 1>() = node.axes[1];
  } else {
    s.setIdentity();
  }
  return s;
}

/// Calls fn with the joint's nv as a compile-time number.
template <typename S, typename Fn>
void WithColumns(const Node<S>& node, Fn&& fn) {
  switch (node.type) {
    case JointType::kFixed:
      break;
    case JointType::kHinge:
      fn(std::integral_constant<int, 1>());
      break;
    case JointType::kUniversal:
      fn(std::integral_constant<int, 2>());
      break;
    case JointType::kBall:
      fn(std::integral_constant<int, 3>());
      break;
    case JointType::kFree:
      fn(std::integral_constant<int, 6>());
      break;
  }
}

/// Below this share of what the joint would carry with everything outboard welded together, a pivot
/// is what rounding left of zero (a few 1e-16 per body), and no inertia.
inline constexpr double kLeastPivot = 1e-13;

/// The inverse of a small symmetric positive definite matrix, by LDL^T. False, `inverse` untouched,
/// when a pivot does not exceed `least` (NaN does not).
template <int C, typename S>
bool InvertSymmetric(Eigen::Matrix<S, C, C> A, const Eigen::Matrix<S, C, 1>& least,
                     Eigen::Matrix<S, C, C>* inverse) {
  Eigen::Matrix<S, C, C> out = Eigen::Matrix<S, C, C>::Identity();
  for (int j = 0; j < C; ++j) {  // A <- L below the diagonal, D on it
    for (int k = 0; k < j; ++k) A(j, j) -= A(j, k) * A(j, k) * A(k, k);
    if (!(A(j, j) > least[j])) return false;
    for (int i = j + 1; i < C; ++i) {
      for (int k = 0; k < j; ++k) A(i, j) -= A(i, k) * A(j, k) * A(k, k);
      A(i, j) = A(i, j) / A(j, j);
    }
  }
  for (int column = 0; column < C; ++column) {
    for (int i = 0; i < C; ++i) {
      for (int k = 0; k < i; ++k) out(i, column) -= A(i, k) * out(k, column);
    }
    for (int i = C - 1; i >= 0; --i) {
      out(i, column) = out(i, column) / A(i, i);
      for (int k = i + 1; k < C; ++k) out(i, column) -= A(k, i) * out(k, column);
    }
  }
  *inverse = out;
  return true;
}

}  // namespace internal

template <typename S>
struct DynamicsDataT<S>::Impl {
  using V3 = geometry::Vec3T<S>;
  using M3 = geometry::Mat3T<S>;
  using Node = internal::Node<S>;

  explicit Impl(const Skeleton& skeleton);

  void Place(const S* q) {
    for (Node& node : nodes) internal::PlaceNode<S>(q, &node);
  }
  void PassForces(const V3& gravity, const S* v, const S* a, S* tau);
  void Composites();
  /// The block of M on its diagonal; halves are made equal, so that M is symmetric to the bit.
  template <int C>
  static void ProjectOnItself(const Node& node, const Eigen::Matrix<S, 3, C>& n,
                              const Eigen::Matrix<S, 3, C>& f,
                              Eigen::Ref<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>& M) {
    if constexpr (C == 3) {
      const M3 symmetric = S(0.5) * (n + n.transpose());
      M.template block<3, 3>(node.iv, node.iv) = symmetric;
      return;
    }
    for (int k = 0; k < C; ++k) {
      S projected[6];
      internal::Project<S>(node, n.col(k), f.col(k), projected);
      for (int r = 0; r <= k; ++r) {
        M(node.iv + r, node.iv + k) = projected[r];
        M(node.iv + k, node.iv + r) = projected[r];
      }
    }
  }
  template <int C>
  void Columns(size_t i, Eigen::Ref<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>& M);
  void ArticulatedVelocities(const S* v);
  /// False where the joint carries no inertia at this q. Needs Composites.
  template <int C>
  bool ArticulatedInertia(size_t i, const S* tau);
  template <int C>
  void ArticulatedAcceleration(size_t i, const geometry::Vec6T<S>& a_root, S* a);

  std::vector<Node> nodes;  ///< parents first
  int nq = 0, nv = 0, body_count = 0;
  std::vector<internal::Articulated<S>> articulated;  ///< by node
  KinematicsDataT<S> kinematics;                      ///< OutboardMass
  std::vector<char> outboard;
};

template <typename S>
DynamicsDataT<S>::Impl::Impl(const Skeleton& skeleton)
    : nq(skeleton.nq()),
      nv(skeleton.nv()),
      body_count(skeleton.body_count()),
      kinematics(skeleton),
      outboard(static_cast<size_t>(skeleton.body_count())) {
  const size_t bodies = static_cast<size_t>(skeleton.body_count());
  std::vector<int> node_of(bodies, -1);
  std::vector<geometry::RigidTransform> X_NB(bodies);  // body in its node (or in the world)
  std::vector<std::vector<geometry::MassProperties>> parts;
  for (size_t b = 1; b < bodies; ++b) {
    const Body& body = skeleton.body(static_cast<int>(b));
    const Joint& joint = body.joint;
    const size_t parent = static_cast<size_t>(body.parent);
    const geometry::RigidTransform X_NJp = X_NB[parent] * joint.X_PJp;
    node_of[b] = node_of[parent];
    X_NB[b] = X_NJp * skeleton.X_JcB(static_cast<int>(b));
    if (joint.type != JointType::kFixed) {
      Node node;
      node.parent = node_of[parent];
      node.type = joint.type;
      node.iq = skeleton.q_index(static_cast<int>(b));
      node.iv = skeleton.v_index(static_cast<int>(b));
      node.nv = joint.nv();
      node.R_PJp = X_NJp.R.template cast<S>();
      node.p_PJp = X_NJp.p.template cast<S>();
      node.turned = X_NJp.R != geometry::Mat3::Identity();
      for (int k = 0; k < 2; ++k) {
        const geometry::Mat3 cross = geometry::Skew<double>(joint.axes[k]);
        node.axes[k] = joint.axes[k].template cast<S>();
        node.cross[k] = cross.template cast<S>();
        node.cross2[k] = (cross * cross).template cast<S>();
      }
      node_of[b] = static_cast<int>(nodes.size());
      X_NB[b] = skeleton.X_JcB(static_cast<int>(b));
      nodes.push_back(node);
      parts.emplace_back();
    }
    if (node_of[b] >= 0) {
      parts[static_cast<size_t>(node_of[b])].push_back(geometry::Transformed(X_NB[b], body.mass));
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const geometry::MassProperties m = geometry::Composed(parts[i]);
    const geometry::Mat3 c = geometry::Skew<double>(m.p_BCom);
    const geometry::Mat3 about_origin = m.I_BCom_B - m.mass_kg * c * c;
    nodes[i].body.mass = S(m.mass_kg);
    nodes[i].body.moment = (m.mass_kg * m.p_BCom).template cast<S>();
    nodes[i].body.about_origin = about_origin.template cast<S>();
  }
  articulated.resize(nodes.size());
}

/// RNEA. v or a may be null: zero.
template <typename S>
void DynamicsDataT<S>::Impl::PassForces(const V3& gravity, const S* v, const S* a, S* tau) {
  const V3 zero = V3::Zero(), lift = -gravity;
  for (Node& node : nodes) {
    const bool root = node.parent < 0;
    const Node* parent = root ? nullptr : &nodes[static_cast<size_t>(node.parent)];
    const V3& w_p = root ? zero : parent->w;
    const V3& dw_p = root ? zero : parent->dw;
    V3 acc_p = root ? lift : parent->acc;
    if (!root) acc_p += dw_p.cross(node.p) + w_p.cross(w_p.cross(node.p));
    node.w.noalias() = node.R.transpose() * w_p;
    node.dw.noalias() = node.R.transpose() * dw_p;
    node.acc.noalias() = node.R.transpose() * acc_p;
    if (v != nullptr) {
      V3 wj, own;
      internal::JointRates<S>(node, v + node.iv, &wj, &own);
      node.dw += own + node.w.cross(wj);
      if (node.type == JointType::kFree) {
        const V3 vj(v[node.iv + 3], v[node.iv + 4], v[node.iv + 5]);
        node.acc += S(2) * node.w.cross(vj) + wj.cross(vj);
      }
      node.w += wj;
    }
    if (a != nullptr) {
      node.dw += internal::JointAngular<S>(node, a + node.iv);
      if (node.type == JointType::kFree) {
        node.acc += V3(a[node.iv + 3], a[node.iv + 4], a[node.iv + 5]);
      }
    }
    const V3 spin = node.body.about_origin * node.w;
    node.f = node.body.mass * node.acc + node.dw.cross(node.body.moment) +
             node.w.cross(node.w.cross(node.body.moment));
    node.n =
        node.body.about_origin * node.dw + node.w.cross(spin) + node.body.moment.cross(node.acc);
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    Node& node = nodes[i];
    internal::Project<S>(node, node.n, node.f, tau + node.iv);
    if (node.parent < 0) continue;
    Node& parent = nodes[static_cast<size_t>(node.parent)];
    const V3 f = node.R * node.f;
    parent.f += f;
    parent.n += node.R * node.n + node.p.cross(f);
  }
}

template <typename S>
void DynamicsDataT<S>::Impl::Composites() {
  for (Node& node : nodes) node.composite = node.body;
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node& node = nodes[i];
    if (node.parent < 0) continue;
    auto& up = nodes[static_cast<size_t>(node.parent)].composite;
    const auto& c = node.composite;
    const V3& p = node.p;
    const V3 h = node.R * c.moment;
    // Moved from the child's to the parent's origin: -[h][p] - [p][h] - m [p][p], written out.
    const V3 hp = h + S(0.5) * c.mass * p;
    const S trace = S(2) * hp.dot(p);
    const M3 RI = node.R * c.about_origin;
    up.about_origin.noalias() += RI * node.R.transpose();
    up.about_origin.noalias() -= p * hp.transpose();
    up.about_origin.noalias() -= hp * p.transpose();
    up.about_origin.diagonal().array() += trace;
    up.moment += h + c.mass * p;
    up.mass += c.mass;
  }
}

/// Columns of M of node i: the forces of unit accelerations of its joint, felt by it and by all
/// joints inboard.
template <typename S>
template <int C>
void DynamicsDataT<S>::Impl::Columns(
    size_t i, Eigen::Ref<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>& M) {
  const Node& node = nodes[i];
  const auto& c = node.composite;
  Eigen::Matrix<S, 3, C> n, f;
  if constexpr (C <= 2) {
    const auto s = internal::Subspace<C, S>(node);
    n.noalias() = c.about_origin * s.template topRows<3>();
    for (int k = 0; k < C; ++k) f.col(k) = s.col(k).template head<3>().cross(c.moment);
  } else {
    n.template leftCols<3>() = c.about_origin;
    f.template leftCols<3>() = -geometry::Skew<S>(c.moment);
    if constexpr (C == 6) {
      n.template rightCols<3>() = geometry::Skew<S>(c.moment);
      f.template rightCols<3>() = c.mass * M3::Identity();
    }
  }
  const Node* at = &node;
  while (true) {
    if (at == &node) {
      ProjectOnItself<C>(node, n, f, M);
    } else if (at->type == JointType::kBall) {
      M.template block<3, C>(at->iv, node.iv) = n;
      M.template block<C, 3>(node.iv, at->iv) = n.transpose();
    } else {
      for (int k = 0; k < C; ++k) {
        S projected[6];
        internal::Project<S>(*at, n.col(k), f.col(k), projected);
        for (int r = 0; r < at->nv; ++r) {
          M(at->iv + r, node.iv + k) = projected[r];
          M(node.iv + k, at->iv + r) = projected[r];
        }
      }
    }
    if (at->parent < 0) break;
    const Eigen::Matrix<S, 3, C> f_up = at->R.lazyProduct(f), n_up = at->R.lazyProduct(n);
    f = f_up;
    n = n_up;
    n.row(0) += at->p.y() * f_up.row(2) - at->p.z() * f_up.row(1);
    n.row(1) += at->p.z() * f_up.row(0) - at->p.x() * f_up.row(2);
    n.row(2) += at->p.x() * f_up.row(1) - at->p.y() * f_up.row(0);
    at = &nodes[static_cast<size_t>(at->parent)];
  }
}

template <typename S>
void DynamicsDataT<S>::Impl::ArticulatedVelocities(const S* v) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    internal::Articulated<S>& art = articulated[i];
    V3 w = V3::Zero(), lin = V3::Zero(), wj, own, vj = V3::Zero();
    if (node.parent >= 0) {
      const internal::Articulated<S>& parent = articulated[static_cast<size_t>(node.parent)];
      const V3 w_p = parent.V.template head<3>(), v_p = parent.V.template tail<3>();
      w = node.R.transpose() * w_p;
      lin = node.R.transpose() * (v_p + w_p.cross(node.p));
    }
    internal::JointRates<S>(node, v + node.iv, &wj, &own);
    if (node.type == JointType::kFree) vj = V3(v[node.iv + 3], v[node.iv + 4], v[node.iv + 5]);
    art.V << w + wj, lin + vj;
    // [V] S v, plus the joint's own.
    const V3 w_all = w + wj, v_all = lin + vj;
    art.c << own + w_all.cross(wj), w_all.cross(vj) + v_all.cross(wj);
    const auto& I = node.body;
    const M3 hx = geometry::Skew<S>(I.moment);
    art.IA.template topLeftCorner<3, 3>() = I.about_origin;
    art.IA.template topRightCorner<3, 3>() = hx;
    art.IA.template bottomLeftCorner<3, 3>() = -hx;
    art.IA.template bottomRightCorner<3, 3>() = I.mass * M3::Identity();
    const V3 n = I.about_origin * w_all + I.moment.cross(v_all);
    const V3 f = I.mass * v_all - I.moment.cross(w_all);
    art.pA << w_all.cross(n) + v_all.cross(f), w_all.cross(f);
  }
}

template <typename S>
template <int C>
bool DynamicsDataT<S>::Impl::ArticulatedInertia(size_t i, const S* tau) {
  const Node& node = nodes[i];
  internal::Articulated<S>& art = articulated[i];
  const Eigen::Matrix<S, 6, C> s = internal::Subspace<C, S>(node);
  const Eigen::Matrix<S, 6, C> U = art.IA * s;
  const Eigen::Matrix<S, C, C> D = s.transpose() * U;
  Eigen::Matrix<S, C, 1> least;
  for (int k = 0; k < C; ++k) {
    least[k] = S(internal::kLeastPivot) *
               (k < 3 ? S(node.composite.about_origin.trace()) : node.composite.mass);
  }
  Eigen::Matrix<S, C, C> D_inverse;
  if (!internal::InvertSymmetric<C, S>(D, least, &D_inverse)) return false;
  Eigen::Matrix<S, C, 1> u;
  for (int k = 0; k < C; ++k) u[k] = tau[node.iv + k];
  u -= s.transpose() * art.pA;
  art.U.template leftCols<C>() = U;
  art.D_inverse.template topLeftCorner<C, C>() = D_inverse;
  art.u.template head<C>() = u;
  if (node.parent < 0) return true;
  internal::Articulated<S>& parent = articulated[static_cast<size_t>(node.parent)];
  const Eigen::Matrix<S, 6, C> UD = U * D_inverse;
  const geometry::Mat6T<S> Ia = art.IA - UD * U.transpose();
  const geometry::Vec6T<S> pa = art.pA + Ia * art.c + UD * u;
  const M3& R = node.R;
  const M3 P = geometry::Skew<S>(node.p);
  const M3 a = R * Ia.template topLeftCorner<3, 3>() * R.transpose();
  const M3 b = R * Ia.template topRightCorner<3, 3>() * R.transpose();
  const M3 m = R * Ia.template bottomRightCorner<3, 3>() * R.transpose();
  const M3 bm = b + P * m;
  parent.IA.template topLeftCorner<3, 3>() += a + P * b.transpose() - bm * P;
  parent.IA.template topRightCorner<3, 3>() += bm;
  parent.IA.template bottomLeftCorner<3, 3>() += bm.transpose();
  parent.IA.template bottomRightCorner<3, 3>() += m;
  const V3 f = R * pa.template tail<3>();
  const V3 n = R * pa.template head<3>();
  parent.pA.template head<3>() += n + node.p.cross(f);
  parent.pA.template tail<3>() += f;
  return true;
}

template <typename S>
template <int C>
void DynamicsDataT<S>::Impl::ArticulatedAcceleration(size_t i, const geometry::Vec6T<S>& a_root,
                                                     S* a) {
  const Node& node = nodes[i];
  internal::Articulated<S>& art = articulated[i];
  const geometry::Vec6T<S>& a_p =
      node.parent < 0 ? a_root : articulated[static_cast<size_t>(node.parent)].A;
  const V3 w = a_p.template head<3>(), lin = a_p.template tail<3>();
  geometry::Vec6T<S> a_i;
  a_i.template head<3>() = node.R.transpose() * w;
  a_i.template tail<3>() = node.R.transpose() * (lin + w.cross(node.p));
  a_i += art.c;
  const Eigen::Matrix<S, C, 1> rest =
      art.u.template head<C>() - art.U.template leftCols<C>().transpose() * a_i;
  const Eigen::Matrix<S, C, 1> dv = art.D_inverse.template topLeftCorner<C, C>() * rest;
  for (int k = 0; k < C; ++k) a[node.iv + k] = dv[k];
  art.A = a_i + internal::Subspace<C, S>(node) * dv;
}

template <typename S>
DynamicsDataT<S>::DynamicsDataT(const Skeleton& skeleton)
    : impl(std::make_unique<Impl>(skeleton)) {}
template <typename S>
DynamicsDataT<S>::~DynamicsDataT() = default;
template <typename S>
DynamicsDataT<S>::DynamicsDataT(DynamicsDataT&&) noexcept = default;
template <typename S>
DynamicsDataT<S>& DynamicsDataT<S>::operator=(DynamicsDataT&&) noexcept = default;

namespace internal {

template <typename S>
void CheckSizes(const Skeleton& skeleton, Eigen::Index q, Eigen::Index v,
                const typename DynamicsDataT<S>::Impl& impl) {
  CHECK_EQ(skeleton.nq(), impl.nq);
  CHECK_EQ(skeleton.nv(), impl.nv);
  CHECK_EQ(skeleton.body_count(), impl.body_count);
  CHECK_EQ(q, impl.nq);
  CHECK_EQ(v, impl.nv);
}

}  // namespace internal

template <typename S>
void InverseDynamics(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                     const ConstVectorRef<S>& v, const ConstVectorRef<S>& a,
                     const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> tau) {
  internal::CheckSizes<S>(skeleton, q.size(), v.size(), *data->impl);
  CHECK_EQ(a.size(), skeleton.nv());
  CHECK_EQ(tau.size(), skeleton.nv());
  data->impl->Place(q.data());
  data->impl->PassForces(gravity_W.template cast<S>(), v.data(), a.data(), tau.data());
}

template <typename S>
void BiasForces(const Skeleton& skeleton, const ConstVectorRef<S>& q, const ConstVectorRef<S>& v,
                const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> tau) {
  internal::CheckSizes<S>(skeleton, q.size(), v.size(), *data->impl);
  CHECK_EQ(tau.size(), skeleton.nv());
  data->impl->Place(q.data());
  data->impl->PassForces(gravity_W.template cast<S>(), v.data(), nullptr, tau.data());
}

template <typename S>
void GravityTorque(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                   const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> tau) {
  internal::CheckSizes<S>(skeleton, q.size(), tau.size(), *data->impl);
  data->impl->Place(q.data());
  data->impl->PassForces(gravity_W.template cast<S>(), nullptr, nullptr, tau.data());
}

template <typename S>
void MassMatrix(
    const Skeleton& skeleton, const ConstVectorRef<S>& q, DynamicsDataT<S>* data,
    std::type_identity_t<Eigen::Ref<Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>> M) {
  typename DynamicsDataT<S>::Impl& impl = *data->impl;
  internal::CheckSizes<S>(skeleton, q.size(), M.rows(), impl);
  CHECK_EQ(M.cols(), skeleton.nv());
  impl.Place(q.data());
  impl.Composites();
  M.setZero();
  for (size_t i = 0; i < impl.nodes.size(); ++i) {
    internal::WithColumns(impl.nodes[i], [&](auto c) { impl.template Columns<c()>(i, M); });
  }
}

namespace internal {

/// The error of a joint that a torque would turn infinitely fast: velocity `iv` is its first.
inline Error CarriesNoInertia(const Skeleton& skeleton, int iv) {
  int body = 1;
  while (skeleton.v_index(body) != iv || skeleton.body(body).joint.nv() == 0) ++body;
  return {ErrorCode::kInvalid,
          "skeleton '" + skeleton.name() + "': joint '" + skeleton.body(body).joint.name +
              "' of body '" + skeleton.body(body).name +
              "' carries no inertia of its own at these coordinates (or they "
              "are not finite): give the bodies from there outwards their mass, "
              "or make the joint fixed"};
}

}  // namespace internal

template <typename S>
Status ForwardDynamics(const Skeleton& skeleton, const ConstVectorRef<S>& q,
                       const ConstVectorRef<S>& v, const ConstVectorRef<S>& tau,
                       const geometry::Vec3& gravity_W, DynamicsDataT<S>* data, VectorRef<S> a) {
  typename DynamicsDataT<S>::Impl& impl = *data->impl;
  internal::CheckSizes<S>(skeleton, q.size(), v.size(), impl);
  CHECK_EQ(tau.size(), skeleton.nv());
  CHECK_EQ(a.size(), skeleton.nv());
  impl.Place(q.data());
  impl.Composites();
  impl.ArticulatedVelocities(v.data());
  for (size_t i = impl.nodes.size(); i-- > 0;) {
    bool movable = true;
    internal::WithColumns(impl.nodes[i], [&](auto c) {
      movable = impl.template ArticulatedInertia<c()>(i, tau.data());
    });
    if (!movable) return internal::CarriesNoInertia(skeleton, impl.nodes[i].iv);
  }
  geometry::Vec6T<S> root = geometry::Vec6T<S>::Zero();
  root.template tail<3>() = -gravity_W.template cast<S>();
  for (size_t i = 0; i < impl.nodes.size(); ++i) {
    internal::WithColumns(impl.nodes[i], [&](auto c) {
      impl.template ArticulatedAcceleration<c()>(i, root, a.data());
    });
  }
  return {};
}

}  // namespace handhold::model
