#include "tests/support/grip_problems.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "database/base/check.h"

namespace handhold::testing {

using geometry::RigidTransform;
using geometry::Vec3;
using namespace synthesis;

namespace {

Vec3 Direction(lab::Random* random) {
  const double z = random->Uniform(-1, 1), angle = random->Uniform(0, 2 * std::numbers::pi);
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

Vec3 Across(const Vec3& n, lab::Random* random) {
  const Vec3 side = Direction(random);
  return (side - side.dot(n) * n).normalized();
}

MovingBody BoxOf(double mass_kg, const Vec3& size_m, const Vec3& p_W) {
  MovingBody body;
  body.mass.mass_kg = mass_kg;
  const Vec3 s = size_m.cwiseProduct(size_m);
  body.mass.I_BCom_B =
      (mass_kg / 12 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal();
  body.X_WB.p = p_W;
  return body;
}

bool EndsWith(const std::string& name, const char* end) { return name.ends_with(end); }

}  // namespace

Eigen::VectorXd GripCompliance(const model::Skeleton& hand) {
  Eigen::VectorXd C(hand.nv());
  for (int d = 0; d < hand.nv(); ++d) {
    const std::string& name = hand.dof_names()[static_cast<size_t>(d)];
    C[d] = 0.7;
    if (name.find(".mcp.flex") != std::string::npos) C[d] = 0.99;
    if (EndsWith(name, ".abd")) C[d] = 0.6;
    if (name.find(".dip.") != std::string::npos) C[d] = 2.0;
    if (name.find("rot_") != std::string::npos) C[d] = 0.35;
    if (name.find("lin_") != std::string::npos) C[d] = 1e-3;
  }
  return C;
}

DrawnProblem DrawProblem(const model::Skeleton& hand, int hand_contacts, lab::Random* random,
                         double stiffness_N_per_m) {
  DrawnProblem out;
  Eigen::VectorXd v = Eigen::VectorXd::Zero(hand.nv());
  for (int d = 0; d < hand.nv(); ++d) {
    const std::string& name = hand.dof_names()[static_cast<size_t>(d)];
    if (EndsWith(name, ".flex")) v[d] = random->Uniform(0.0, 1.0);
    if (EndsWith(name, ".abd")) v[d] = random->Uniform(-0.2, 0.2);
  }
  out.q = hand.Integrate(hand.ZeroConfiguration(), v);
  model::KinematicsData data(hand);
  model::ComputeJacobian<double>(hand, out.q, &data);
  const double friction = random->Uniform(0.2, 1.0);
  constexpr double kMasses[] = {0.0012, 0.012, 0.3};
  const double mass = kMasses[random->Index(3)];
  Vec3 middle = Vec3::Zero();
  std::vector<int> usable;
  for (int b = 1; b < hand.body_count(); ++b) {
    const auto& shapes = hand.body(b).shapes;
    if (!shapes.empty() && std::holds_alternative<geometry::Capsule>(shapes.front().shape))
      usable.push_back(b);
  }
  for (int i = 0; i < hand_contacts; ++i) {
    const int b = usable[static_cast<size_t>(random->Index(static_cast<int>(usable.size())))];
    const model::BodyShape& shape = hand.body(b).shapes.front();
    const auto& capsule = std::get<geometry::Capsule>(shape.shape);
    const RigidTransform X_WS = data.X_WB[static_cast<size_t>(b)] * shape.X_BS;
    const Vec3 palmar_W = -(data.X_WB[static_cast<size_t>(b)].R.col(2));
    Contact c;
    c.a = ContactSide::Link(0, b);
    c.b = ContactSide::Body(0);
    c.feature = static_cast<std::uint64_t>(i) + 1;
    c.normal_W = -(palmar_W + random->Uniform(0.0, 0.7) * Direction(random)).normalized();
    c.p_W = X_WS * Vec3(0, 0, random->Uniform(-0.5, 0.5) * capsule.length_m) -
            capsule.radius_m * c.normal_W;
    c.separation_m = random->Uniform(-1e-3, 3e-4);
    c.law = {.friction = friction, .stiffness_N_per_m = stiffness_N_per_m, .damping_Ns_per_m = 0.0};
    middle += c.p_W - 0.02 * c.normal_W;
    out.contacts.push_back(c);
  }
  middle /= std::max(1, hand_contacts);
  const Vec3 size(0.03, 0.05, 0.07);
  out.object = BoxOf(mass, size, middle);
  out.object.V_B.tail<3>() = random->Uniform(0.0, 0.2) * Direction(random);
  out.object.V_B.head<3>() = random->Uniform(0.0, 3.0) * Direction(random);
  for (int i = 0; i < 4; ++i) {
    Contact c;
    c.a = ContactSide::Body(0);
    c.b = ContactSide::Fixed();
    c.feature = static_cast<std::uint64_t>(100 + i);
    c.p_W = middle + 0.5 * size.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, -1));
    c.separation_m = random->Uniform(-2e-4, 3e-4);
    c.law = {.friction = friction, .stiffness_N_per_m = stiffness_N_per_m, .damping_Ns_per_m = 0.0};
    out.contacts.push_back(c);
  }
  out.step.q_reference = out.q;
  Eigen::VectorXd pull(hand.nv());
  for (int d = 0; d < hand.nv(); ++d) {
    const std::string& name = hand.dof_names()[static_cast<size_t>(d)];
    pull[d] = EndsWith(name, ".flex")                  ? random->Uniform(0.0, 0.15)
              : name.find("lin_") != std::string::npos ? random->Uniform(-1e-3, 1e-3)
                                                       : random->Uniform(-0.02, 0.02);
  }
  out.step.q_reference_next = hand.Integrate(out.q, pull);
  out.step.compliance_rad_per_Nm = GripCompliance(hand);
  if (random->Uniform(0, 1) < 0.5)
    out.step.time_constant_s = Eigen::VectorXd::Constant(hand.nv(), 0.014);
  if (random->Uniform(0, 1) < 0.5) {
    for (const Contact& c : out.contacts) {
      Remembered r;
      const double push = random->Uniform(0.0, 3.0);
      const Vec3 t = Across(c.normal_W, random);
      const Vec3 friction_W = random->Uniform(0.0, 1.0) * friction * push * t;
      r.f_onA_W = push * c.normal_W + friction_W;
      r.stretch_W = std::isfinite(stiffness_N_per_m) ? Vec3(-friction_W / stiffness_N_per_m)
                                                     : Vec3(Vec3::Zero());
      r.slip_W = random->Uniform(0.0, 1e-4) * Across(c.normal_W, random);
      out.memory.push_back(r);
    }
  }
  return out;
}

GripRig::GripRig(const model::Skeleton& hand)
    : tree(hand, 0, {.step_s = kGripStep_s}),
      object(BoxOf(0.1, Vec3(0.03, 0.05, 0.07), Vec3::Zero()), 0, {.step_s = kGripStep_s}),
      models_{&tree, &object} {
  poses.trees = {tree.X_WB()};
  poses.bodies = {&object.X_WB()};
}

void GripRig::Load(const DrawnProblem& drawn) {
  drawn_ = &drawn;
  tree.SetConfiguration(drawn.q);
  object.SetState(drawn.object);
  memory.Clear();
  if (!drawn.memory.empty()) memory.Store(drawn.contacts, drawn.memory, poses);
}

ContactSummary GripRig::AssembleAndSolve(const SolveOptions& options) {
  CHECK(tree.Prepare(drawn_->step));
  object.Prepare();
  problem.Assemble(models_, drawn_->contacts, memory, poses, kGripStep_s);
  return problem.Solve(options);
}

ContactSummary GripRig::Solve(const DrawnProblem& drawn, const SolveOptions& options) {
  Load(drawn);
  return AssembleAndSolve(options);
}

Grip::Grip(const model::Skeleton& hand, lab::Random* random)
    : hand_(hand), tree_(hand, 0, {.step_s = kGripStep_s}) {
  constexpr double kMasses[] = {0.0012, 0.012, 0.06, 0.3};
  const double mass = kMasses[random->Index(4)], friction = random->Uniform(0.2, 1.0);
  const SurfaceLaw law{.friction = friction};
  // A block under the palm, with room for its thickness; the table under the block.
  const Vec3 size(0.05, 0.08, 0.04);
  const Vec3 at(0.105 + random->Uniform(-0.01, 0.01), random->Uniform(-0.01, 0.01), -0.042);
  object_ = std::make_unique<FreeBody>(BoxOf(mass, size, at), 0, BodyOptions{kGripStep_s});
  CHECK(finder_.AddSkeleton(hand, 0));
  CHECK(finder_.Add({.side = ContactSide::Body(0), .shape = geometry::Box{size}, .law = law}));
  CHECK(finder_.Add(
      {.side = ContactSide::Fixed(),
       .shape = geometry::Box{Vec3(1, 1, 0.1)},
       .X_BS = RigidTransform::Translation(Vec3(0.1, 0, at.z() - 0.5 * size.z() - 0.05)),
       .law = law}));
  // The table is for the block: the fingers go through it.
  for (int b = 1; b < hand.body_count(); ++b)
    finder_.Ignore(ContactSide::Link(0, b), ContactSide::Fixed());
  poses.trees = {tree_.X_WB()};
  poses.bodies = {&object_->X_WB()};
  models = {&tree_, object_.get()};
  open_ = close_ = Eigen::VectorXd::Zero(hand.nv());
  for (int d = 0; d < hand.nv(); ++d) {
    const std::string& name = hand.dof_names()[static_cast<size_t>(d)];
    if (EndsWith(name, ".flex")) close_[d] = random->Uniform(0.9, 1.4);
  }
  step_.compliance_rad_per_Nm = GripCompliance(hand);
  step_.time_constant_s = Eigen::VectorXd::Constant(hand.nv(), 0.014);
  step_.q_reference = Reference(0);
  tree_.SetConfiguration(step_.q_reference);
}

Eigen::VectorXd Grip::Reference(int k) const {
  const double s = std::min(1.0, k / 300.0);
  return hand_.Integrate(hand_.ZeroConfiguration(), open_ + s * s * (3 - 2 * s) * (close_ - open_));
}

ContactSummary Grip::Step(const SolveOptions& options) {
  ++k_;
  step_.q_reference_next = Reference(k_);
  CHECK(tree_.Prepare(step_));
  object_->Prepare();
  CHECK(finder_.Find(poses, 4e-3, &contacts));
  problem.Assemble(models, contacts, memory, poses, kGripStep_s);
  const ContactSummary summary = problem.Solve(options);
  step_.q_reference = step_.q_reference_next;
  return summary;
}

int Grip::hand_contacts() const {
  return static_cast<int>(std::count_if(contacts.begin(), contacts.end(), [](const Contact& c) {
    return c.a.kind == ContactSide::Kind::kLink;
  }));
}

}  // namespace handhold::testing
