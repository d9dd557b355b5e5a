#include "synthesis/grasp_control/outboard.h"

#include "database/base/check.h"
#include "database/geometry/inertia.h"

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

namespace {

/// Inertia of a point mass about the origin.
Mat3 PointInertia(double mass_kg, const Vec3& r) {
  return mass_kg * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
}

}  // namespace

Mat3 Outboard::AboutJoint_W() const { return I_com_W + PointInertia(mass_kg, com_W - joint_W); }
Mat3 Outboard::AboutJoint_Jc() const { return R_WJc.transpose() * AboutJoint_W() * R_WJc; }

void ComputeOutboard(const model::Skeleton& skeleton, std::span<const RigidTransform> X_WB,
                     std::vector<Outboard>* out) {
  const int n = skeleton.body_count();
  CHECK_EQ(X_WB.size(), static_cast<size_t>(n));
  out->resize(static_cast<size_t>(n));
  for (int b = n - 1; b > 0; --b) {
    const model::Body& body = skeleton.body(b);
    Outboard& o = (*out)[static_cast<size_t>(b)];
    const RigidTransform& X = X_WB[static_cast<size_t>(b)];
    o.mass_kg = body.mass.mass_kg;
    o.com_W = X * body.mass.p_BCom;
    o.I_com_W = X.R * body.mass.I_BCom_B * X.R.transpose();
    const RigidTransform X_WJc = X * body.joint.X_BJc;
    o.joint_W = X_WJc.p;
    o.R_WJc = X_WJc.R;
  }
  (*out)[0] = {};
  for (int b = n - 1; b > 0; --b) {
    const int parent = skeleton.body(b).parent;
    if (parent == 0) continue;
    const Outboard& c = (*out)[static_cast<size_t>(b)];
    Outboard& p = (*out)[static_cast<size_t>(parent)];
    const double mass = p.mass_kg + c.mass_kg;
    if (!(mass > 0)) continue;
    const Vec3 com = (p.mass_kg * p.com_W + c.mass_kg * c.com_W) / mass;
    p.I_com_W +=
        PointInertia(p.mass_kg, p.com_W - com) + c.I_com_W + PointInertia(c.mass_kg, c.com_W - com);
    p.mass_kg = mass;
    p.com_W = com;
  }
}

Vec3 CarryingTorque_W(const Outboard& o, const PalmMotion& palm, const Vec3& g_W) {
  const Vec3 r = o.com_W - palm.p_W;
  const Vec3 a_com = palm.a_W + palm.alpha_W.cross(r) + palm.omega_W.cross(palm.omega_W.cross(r));
  return (o.com_W - o.joint_W).cross(o.mass_kg * (a_com - g_W)) + o.I_com_W * palm.alpha_W +
         palm.omega_W.cross(o.I_com_W * palm.omega_W);
}

}  // namespace handhold::synthesis
