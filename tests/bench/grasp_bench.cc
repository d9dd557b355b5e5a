// Grasp control on one core: hand57 holds its 60 mm cylinder (schemas/grasps) with ten times Table
// 1 and the floor, or closes with Table 1 explicitly; times faster than real time, whole steps
// (contacts, control, engine), beside MuJoCo with the same tree, shapes, gains and step.
//
// MuJoCo: implicitfast, its joint springs and dampers (of each joint the mean of our three axes),
// elliptic cones, Newton; the hand does not meet itself, as between its cylinder and our capsules
// it finds one point where we take three: contacts are stated.
#include <mujoco/mujoco.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/support/bench.h"
#include "tests/support/grasping_hand.h"

namespace {

using namespace handhold;
using namespace handhold::synthesis;
using testing::GraspingHand;

constexpr double kStep_s = 2e-3;

void Must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}
std::string Numbers(std::initializer_list<double> values) {
  std::string out;
  char text[40];
  for (const double v : values) {
    std::snprintf(text, sizeof text, "%.17g ", v);
    out += text;
  }
  return out;
}
std::string Place(const geometry::RigidTransform& X) {
  const Eigen::Quaterniond q(X.R);
  return " pos='" + Numbers({X.p.x(), X.p.y(), X.p.z()}) + "' quat='" +
         Numbers({q.w(), q.x(), q.y(), q.z()}) + "'";
}
std::string Inertial(const geometry::MassProperties& m) {
  const geometry::Mat3& I = m.I_BCom_B;
  return "<inertial pos='" + Numbers({m.p_BCom.x(), m.p_BCom.y(), m.p_BCom.z()}) + "' mass='" +
         Numbers({m.mass_kg}) + "' fullinertia='" +
         Numbers({I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)}) + "'/>";
}

/// The same hand where ours is, its palm fixed, its joints' springs at rest at `rest`.
class Peer {
 public:
  Peer(GraspingHand* g, double step_s, double stiffness, double damping) {
    HandWorld& w = *g->world;
    const model::Skeleton& hand = w.hand(0);
    const std::vector<Outboard> outboard = w.OutboardOf(0);
    const double floor = g->controller->options().inertia_floor_kgm2;
    const auto body_xml = [&](const auto& self, int b) -> std::string {
      const model::Body& body = hand.body(b);
      const bool ball = body.joint.type == model::JointType::kBall;
      std::string out = "<body name='" + body.name + "'" +
                        Place(ball ? body.joint.X_PJp * body.joint.X_BJc.Inverse() : w.X_WPalm(0)) +
                        ">";
      if (ball) {
        const double I = outboard[static_cast<size_t>(b)].AboutJoint_W().trace() / 3 + floor;
        out += "<joint type='ball' stiffness='" + Numbers({stiffness * I}) + "' damping='" +
               Numbers({damping * I}) + "'/>";
      }
      out += Inertial(body.mass);
      for (const model::BodyShape& shape : body.shapes) {
        const auto& c = std::get<geometry::Capsule>(shape.shape);
        out += "<geom type='capsule' contype='1' conaffinity='2' size='" +
               Numbers({c.radius_m, c.length_m / 2}) + "'" + Place(shape.X_BS) + "/>";
      }
      for (int child = b + 1; child < hand.body_count(); ++child)
        if (hand.body(child).parent == b) out += self(self, child);
      return out + "</body>";
    };
    const model::Prop prop = model::LoadLibraryProp(g->grasp.prop).value();
    const auto& cylinder = std::get<geometry::Cylinder>(prop.shapes.front().shape);
    const std::string xml =
        "<mujoco><compiler angle='radian' inertiafromgeom='false'/><option timestep='" +
        Numbers({step_s}) +
        "' gravity='0 0 0' integrator='implicitfast' cone='elliptic' impratio='10'/>"
        "<default><geom friction='0.6 0 0' condim='3' solref='-200000 "
        "-600'/></default><worldbody>" +
        body_xml(body_xml, w.palm_body(0)) + "<body name='object'" + Place(w.X_WP(0)) +
        "><freejoint/>" + Inertial(geometry::WithTotalMass(prop.mass, 0.1)) +
        "<geom type='cylinder' contype='2' conaffinity='1' size='" +
        Numbers({cylinder.radius_m, cylinder.length_m / 2}) + "'" +
        Place(prop.shapes.front().X_PS) + "/></body></worldbody></mujoco>";
    char error[1000] = "";
    mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
    if (spec == nullptr) throw std::runtime_error(std::string("MuJoCo: ") + error);
    m_ = mj_compile(spec, nullptr);
    if (m_ == nullptr) throw std::runtime_error(std::string("MuJoCo: ") + mjs_getError(spec));
    mj_deleteSpec(spec);
    d_ = mj_makeData(m_);
    const Eigen::VectorXd q = w.q(0), &rest = g->controller->rest();
    for (int b = 1; b < hand.body_count(); ++b) {
      if (hand.body(b).joint.type != model::JointType::kBall) continue;
      const int at =
          m_->jnt_qposadr[m_->body_jntadr[mj_name2id(m_, mjOBJ_BODY, hand.body(b).name.c_str())]];
      for (int k = 0; k < 4; ++k) {
        m_->qpos_spring[at + k] = rest[hand.q_index(b) + k];
        d_->qpos[at + k] = q[hand.q_index(b) + k];
      }
    }
  }
  ~Peer() {
    mj_deleteData(d_);
    mj_deleteModel(m_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void Step() { mj_step(m_, d_); }
  int contacts() const {
    int touching = 0;
    for (int i = 0; i < d_->ncon; ++i) touching += d_->contact[i].dist < 0;
    return touching;
  }

 private:
  mjModel* m_ = nullptr;
  mjData* d_ = nullptr;
};

struct Case {
  const char* mark;
  ControllerOptions options;
  bool quick;
  double step_s, alpha, at_least;
};

void Measure(bench::Reporter& reporter, const Case& c) {
  if (!reporter.wants(c.mark)) return;
  const int steps = static_cast<int>(1.0 / c.step_s);
  int least = 1000, most = 0, self_most = 0, peer_contacts = 0;
  HandWorldOptions world;
  world.stepper = c.quick ? Stepper::kQuick : Stepper::kExact;
  const auto held = [&] {
    auto g = std::make_unique<GraspingHand>("hand57_cylinder", c.options, world);
    Must(g->Hold(c.alpha, 0.1 + 1.125 / std::sqrt(c.options.gain_factor), 0.3, c.step_s));
    return g;
  };
  const auto ours = [&] {
    const auto g = held();
    const double seconds = bench::Seconds(
        [&] { Must(g->Run(GraspingHand::Gripping(c.alpha), steps * c.step_s, c.step_s)); });
    const int touching = g->world->GripOn(0, 0).contacts;
    least = std::min(least, touching), most = std::max(most, touching);
    self_most = std::max(self_most, static_cast<int>(g->world->Contacts().size()) - touching);
    if (touching < 3) throw std::runtime_error("the cylinder was lost: nothing to time");
    return steps * c.step_s / seconds;
  };
  const auto theirs = [&] {
    const auto g = held();
    Peer peer(g.get(), c.step_s, 2 * 200 * c.options.gain_factor,
              2 * 50 * std::sqrt(c.options.gain_factor));
    const double seconds = bench::Seconds([&] {
      for (int i = 0; i < steps; ++i) peer.Step();
    });
    peer_contacts = peer.contacts();
    return steps * c.step_s / seconds;
  };
  const auto [value, peer] = bench::RepeatBoth(5, ours, theirs);
  reporter.Report(
      c.mark,
      {.value = value,
       .unit = "x real time",
       .better = bench::Better::kHigher,
       .peer = "MuJoCo " + std::string(mj_versionString()) + ", " + std::to_string(peer_contacts) +
               " contacts; ours " + std::to_string(least) + " to " + std::to_string(most) +
               " and up to " + std::to_string(self_most) + " of the hand with itself",
       .peer_value = peer,
       .goal = bench::Goal::SpeedAtLeast(c.at_least)});
}

void Creep(bench::Reporter& reporter) {
  if (!reporter.wants("grasp.creep")) return;
  const auto creep = [] {
    GraspingHand g("hand57_cylinder", ControllerOptions::Strong());
    Must(g.Hold(1.0));
    g.world->SetGravity({.g_W = -9.81 * g.world->X_WPalm(0).R.col(2)});
    Must(g.Run(GraspingHand::Gripping(1.0), 1.0));
    const geometry::Vec3 first = g.world->X_WP(0).p;
    Must(g.Run(GraspingHand::Gripping(1.0), 2.0));
    return (g.world->X_WP(0).p - first).norm() * 1e3 / 2.0;
  };
  reporter.Report(
      "grasp.creep",
      {.value = bench::Repeat(3, creep), .unit = "mm/s", .goal = bench::Goal::AtMost(0.1)});
}

}  // namespace

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    ControllerOptions paper = ControllerOptions::Paper();
    Measure(reporter, {"grasp.implicit", ControllerOptions::Strong(), false, kStep_s, 1.0, 2.5});
    Measure(reporter, {"grasp.implicit.quick", ControllerOptions::Strong(), true, kStep_s, 1.0, 6});
    Measure(reporter, {"grasp.explicit", paper, false, 2e-4, 1.0, 0.9});
    Creep(reporter);
  });
}
