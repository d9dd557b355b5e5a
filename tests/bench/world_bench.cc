// The engine under a whole hand: hand57 with implicit ball drives at 2 ms, times faster than real
// time, alone and closed on a capsule, against MuJoCo with the same tree, shapes, gains and step.
//
// MuJoCo: implicitfast, its joint springs and dampers, elliptic cones, Newton; of two capsules it
// finds fewer points than ODE, and its contacts are as soft as ours only in kind, so that the
// numbers of contacts are stated and forces not compared. Its tree has 57 coordinates where ODE has
// six per body and constraints.
#include <mujoco/mujoco.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/support/bench.h"
#include "tests/support/grip_scene.h"

namespace {

using namespace handhold;
using testing::GripPlan;
using testing::GripScene;

constexpr double kStep_s = 2e-3;

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
std::string Capsule(const geometry::Capsule& c, const geometry::RigidTransform& X_BS) {
  return "<geom type='capsule' size='" + Numbers({c.radius_m, c.length_m / 2}) + "'" + Place(X_BS) +
         "/>";
}

std::string BodyXml(const GripPlan& plan, int index) {
  const model::Body& body = plan.hand.body(index);
  const auto u = static_cast<size_t>(index);
  std::string out =
      "<body name='" + body.name + "'" + Place(body.joint.X_PJp * body.joint.X_BJc.Inverse()) + ">";
  if (body.joint.type == model::JointType::kBall) {
    out += "<joint type='ball' stiffness='" + Numbers({plan.stiffness[u]}) + "' damping='" +
           Numbers({plan.damping[u]}) + "'/>";
  }
  out += Inertial(body.mass);
  for (const model::BodyShape& shape : body.shapes)
    out += Capsule(std::get<geometry::Capsule>(shape.shape), shape.X_BS);
  for (int child = index + 1; child < plan.hand.body_count(); ++child) {
    if (plan.hand.body(child).parent == index) out += BodyXml(plan, child);
  }
  return out + "</body>";
}

/// Runs the same grip in MuJoCo.
class Peer {
 public:
  explicit Peer(const GripScene& scene) : plan_(scene.plan) {
    std::string xml =
        "<mujoco><compiler angle='radian' inertiafromgeom='false'/>"
        "<option timestep='" +
        Numbers({kStep_s}) +
        "' gravity='0 0 0' integrator='implicitfast' cone='elliptic'/>"
        "<default><geom friction='" +
        Numbers({plan_.friction, 0, 0}) + "' condim='3' solref='-5000 -5'/></default><worldbody>" +
        BodyXml(plan_, 1);
    if (scene.object >= 0) {
      const geometry::Capsule shape{plan_.object_radius_m, plan_.object_length_m};
      const geometry::RigidTransform X_BS{
          geometry::AxisAngle<double>(geometry::Vec3::UnitX(), M_PI / 2), geometry::Vec3::Zero()};
      const geometry::MassProperties mass = geometry::WithTotalMass(
          geometry::Transformed(X_BS, geometry::MassOf(shape, 1000.0).value()),
          plan_.object_mass_kg);
      xml += "<body name='object'" + Place(geometry::RigidTransform::Translation(plan_.p_WObject)) +
             "><freejoint/>" + Inertial(mass) + Capsule(shape, X_BS) + "</body>";
    }
    xml += "</worldbody><contact>";
    // The pairs that our world leaves out; parent and child MuJoCo leaves out by itself.
    for (const auto& [a, b] : Apart(scene)) xml += "<exclude body1='" + a + "' body2='" + b + "'/>";
    xml += "</contact></mujoco>";
    char error[1000] = "";
    mjSpec* spec = mj_parseXMLString(xml.c_str(), nullptr, error, sizeof error);
    if (spec == nullptr) throw std::runtime_error(std::string("MuJoCo: ") + error);
    m_ = mj_compile(spec, nullptr);
    if (m_ == nullptr) throw std::runtime_error(std::string("MuJoCo: ") + mjs_getError(spec));
    mj_deleteSpec(spec);
    d_ = mj_makeData(m_);
    for (int b = 1; b < plan_.hand.body_count(); ++b) {
      if (plan_.hand.body(b).joint.type != model::JointType::kBall) continue;
      const int body = mj_name2id(m_, mjOBJ_BODY, plan_.hand.body(b).name.c_str());
      const int at = m_->jnt_qposadr[m_->body_jntadr[body]];
      at_.push_back({b, at});
      for (int k = 0; k < 4; ++k)
        m_->qpos_spring[at + k] = plan_.q_target[plan_.hand.q_index(b) + k];
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
  Eigen::VectorXd q() const {
    Eigen::VectorXd q = plan_.hand.ZeroConfiguration();
    for (const auto& [b, at] : at_) {
      for (int k = 0; k < 4; ++k) q[plan_.hand.q_index(b) + k] = d_->qpos[at + k];
    }
    return q;
  }

 private:
  /// Bodies of the hand whose shapes overlap at rest, by our engine's own test.
  static std::vector<std::pair<std::string, std::string>> Apart(const GripScene& scene) {
    struct Placed {
      int collider, body;
    };
    std::vector<Placed> placed;
    const model::Skeleton& hand = scene.plan.hand;
    for (int b = 1, collider = 0; b < hand.body_count(); ++b) {
      for (size_t s = 0; s < hand.body(b).shapes.size(); ++s) placed.push_back({collider++, b});
    }
    std::vector<std::pair<std::string, std::string>> out;
    for (size_t i = 0; i < placed.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (placed[i].body != placed[j].body &&
            scene.world->Overlap(placed[i].collider, placed[j].collider)) {
          const std::pair names{hand.body(placed[j].body).name, hand.body(placed[i].body).name};
          if (std::find(out.begin(), out.end(), names) == out.end()) out.push_back(names);
        }
      }
    }
    return out;
  }

  GripPlan plan_;
  mjModel* m_ = nullptr;
  mjData* d_ = nullptr;
  std::vector<std::pair<int, int>> at_;
};

void Must(const Status& status) {
  if (!status) throw std::runtime_error(status.error().message);
}

/// Times faster than real time over `steps` steps, after `before` of them.
void Measure(bench::Reporter& reporter, const std::string& mark,
             const testing::GripOptions& options, double at_least, int before, int steps) {
  if (!reporter.wants(mark)) return;
  int least_object = 1000, most_object = 0, least_self = 1000, most_self = 0, peer_contacts = 0;
  const auto ours = [&] {
    GripScene scene(options);
    for (int i = 0; i < before; ++i) Must(scene.Step(kStep_s));
    const double seconds = bench::Seconds([&] {
      for (int i = 0; i < steps; ++i) {
        Must(scene.Step(kStep_s));
        const auto [object, self] = scene.Contacts();
        least_object = std::min(least_object, object), most_object = std::max(most_object, object);
        least_self = std::min(least_self, self), most_self = std::max(most_self, self);
      }
    });
    return steps * kStep_s / seconds;
  };
  const auto theirs = [&] {
    GripScene scene(options);
    Peer peer(scene);
    for (int i = 0; i < before; ++i) peer.Step();
    const double seconds = bench::Seconds([&] {
      for (int i = 0; i < steps; ++i) peer.Step();
    });
    peer_contacts = peer.contacts();
    if (!options.object) {  // the same motion: two integrators of first order at 2 ms
      for (int i = 0; i < before + steps; ++i) Must(scene.Step(kStep_s));
      const double apart =
          scene.plan.hand.Difference(scene.hand->q(), peer.q()).cwiseAbs().maxCoeff();
      if (!(apart < 0.02)) {
        throw std::runtime_error("the two hands are " + std::to_string(apart) +
                                 " rad apart: nothing to time");
      }
    }
    return steps * kStep_s / seconds;
  };
  const auto [own, peer] = bench::RepeatBoth(7, ours, theirs);
  if (options.object && at_least > 0 &&
      (least_object < 8 || most_object > 10 || least_self < 2 || most_self > 6)) {
    throw std::runtime_error("contacts: " + std::to_string(least_object) + " to " +
                             std::to_string(most_object) + " with the object, " +
                             std::to_string(least_self) + " to " + std::to_string(most_self) +
                             " of the hand with itself; the mark is for 8-10 and 2-6");
  }
  std::string contacts;
  if (options.object) {
    contacts = ", " + std::to_string(peer_contacts) + " contacts (ours " +
               std::to_string(most_object) + " + " + std::to_string(most_self) + ")";
    reporter.Note(mark + ": " + std::to_string(least_object) + "-" + std::to_string(most_object) +
                  " contacts with the object and " + std::to_string(least_self) + "-" +
                  std::to_string(most_self) + " of the hand with itself; MuJoCo " +
                  std::to_string(peer_contacts));
  }
  reporter.Report(
      mark, {.value = own,
             .unit = "x real time",
             .better = bench::Better::kHigher,
             .peer = "MuJoCo 4.0.0 implicitfast" + contacts,
             .peer_value = peer,
             .goal = at_least > 0 ? bench::Goal::SpeedAtLeast(at_least) : bench::Goal::None()});
}

}  // namespace

int main(int argc, char** argv) {
  using synthesis::Stepper;
  return bench::Main(argc, argv, HANDHOLD_BENCH_MARKS, [](bench::Reporter& reporter) {
    Measure(reporter, "world.hand57.free", {.object = false, .closing = 0.5}, 8.0, 50, 500);
    Measure(reporter, "world.hand57.grip", {}, 2.5, 400, 500);
    Measure(reporter, "world.hand57.grip.quick", {.stepper = Stepper::kQuick}, 6.0, 400, 500);
    Measure(reporter, "world.hand57.grip.limits", {.limits = true}, 0.0, 400, 500);
  });
}
