#include "database/exchange/mjcf.h"

#include <charconv>
#include <cmath>
#include <variant>

namespace handhold::exchange {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using model::JointType;

/// Shortest digits that give the same double again.
std::string Number(double v) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, v).ptr;
  return std::string(text, end);
}
template <typename Derived>
std::string Numbers(const Eigen::MatrixBase<Derived>& v) {
  std::string out;
  for (Eigen::Index i = 0; i < v.size(); ++i) out += (i > 0 ? " " : "") + Number(v(i));
  return out;
}
std::string Pose(const RigidTransform& X) {
  const Eigen::Vector4d q = geometry::ToQuaternion(X.R);
  return " pos=\"" + Numbers(X.p) + "\" quat=\"" + Numbers(q) + "\"";
}
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}
std::string Inertial(const geometry::MassProperties& m) {
  const geometry::Mat3& I = m.I_BCom_B;
  Eigen::Matrix<double, 6, 1> full;
  full << I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2);
  return "<inertial pos=\"" + Numbers(m.p_BCom) + "\" mass=\"" + Number(m.mass_kg) +
         "\" fullinertia=\"" + Numbers(full) + "\"/>\n";
}

/// Attributes of a geom, or empty for one that needs a mesh asset.
std::string Primitive(const geometry::Shape& shape) {
  if (const auto* s = std::get_if<geometry::Sphere>(&shape))
    return "type=\"sphere\" size=\"" + Number(s->radius_m) + "\"";
  if (const auto* s = std::get_if<geometry::Capsule>(&shape)) {
    return "type=\"capsule\" size=\"" + Number(s->radius_m) + " " + Number(0.5 * s->length_m) +
           "\"";
  }
  if (const auto* s = std::get_if<geometry::Cylinder>(&shape)) {
    return "type=\"cylinder\" size=\"" + Number(s->radius_m) + " " + Number(0.5 * s->length_m) +
           "\"";
  }
  if (const auto* s = std::get_if<geometry::Box>(&shape))
    return "type=\"box\" size=\"" + Numbers(Vec3(0.5 * s->size_m)) + "\"";
  return "";
}

class MjcfWriter {
 public:
  explicit MjcfWriter(const MjcfGrasp& grasp) : g_(grasp), hand_(*grasp.hand) {}

  Result<std::string> Write() {
    HANDHOLD_TRY(Check());
    std::string bodies;
    for (int b = 1; b < hand_.body_count(); ++b) {
      if (hand_.body(b).parent != 0) continue;
      HANDHOLD_TRY(Body(b, &bodies));
    }
    bodies += PropBody();
    // Joints of the hand first, then the prop's free joint.
    keys_ += Numbers(g_.X_WP.p) + " " + Numbers(geometry::ToQuaternion(g_.X_WP.R));
    return "<mujoco model=\"" + Escaped(hand_.name() + " on " + g_.prop->name) +
           "\">\n<compiler angle=\"radian\" balanceinertia=\"true\"/>\n<option timestep=\"" +
           Number(g_.step_s) +
           "\" gravity=\"0 0 0\" integrator=\"implicitfast\" cone=\"elliptic\" impratio=\"10\" "
           "noslip_iterations=\"2\"/>\n<asset>\n" +
           assets_ + "</asset>\n<worldbody>\n" + bodies + "</worldbody>\n<actuator>\n" +
           actuators_ + "</actuator>\n<keyframe>\n<key name=\"grasp\" qpos=\"" + keys_ +
           "\" ctrl=\"" + controls_ + "\"/>\n</keyframe>\n</mujoco>\n";
  }

 private:
  Status Check() const {
    const auto invalid = [](const char* what) { return Error{ErrorCode::kInvalid, what}; };
    if (g_.q.size() != hand_.nq() || g_.q_squeeze.size() != hand_.nq())
      return invalid("a grasp's postures have a number per coordinate of its hand");
    if (g_.stiffness.size() != hand_.nv() || g_.damping.size() != hand_.nv())
      return invalid("a spring and a damper per velocity of the hand");
    if (!g_.q.allFinite() || !g_.q_squeeze.allFinite() || !g_.stiffness.allFinite() ||
        !g_.damping.allFinite())
      return invalid("postures and springs are finite");
    return geometry::CheckMass(g_.prop_mass);
  }

  Status Body(int b, std::string* out) {
    const model::Body& body = hand_.body(b);
    const bool root = body.parent == 0;
    // A MuJoCo body's frame is its joint's child frame.
    RigidTransform X =
        root ? g_.X_WH * body.joint.X_PJp : hand_.X_JcB(body.parent) * body.joint.X_PJp;
    const int q = hand_.q_index(b);
    if (body.joint.type == JointType::kFree) {
      if (!root) {
        return Error{ErrorCode::kUnsupported,
                     "body '" + body.name + "' is free below the root: MJCF knows no such joint"};
      }
      X = X * RigidTransform{
                  geometry::FromQuaternion(g_.q[q + 3], g_.q[q + 4], g_.q[q + 5], g_.q[q + 6]),
                  g_.q.segment<3>(q)};
    }
    *out += "<body name=\"" + Escaped(body.name) + "\"" + Pose(X) + ">\n";
    const std::string name = Escaped(body.joint.name);
    const int v = hand_.v_index(b);
    switch (body.joint.type) {
      case JointType::kFixed:
      case JointType::kFree:
        break;
      case JointType::kHinge:
      case JointType::kUniversal:
        for (int axis = 0; axis < body.joint.nv(); ++axis) {
          const std::string own = name + "." + Escaped(body.joint.dof_names[axis]);
          *out += "<joint name=\"" + own + "\" type=\"hinge\" axis=\"" +
                  Numbers(body.joint.axes[axis]) + "\"/>\n";
          Actuator(own, "1", v + axis, g_.q_squeeze[q + axis]);
          keys_ += Number(g_.q[q + axis]) + " ";
        }
        break;
      case JointType::kBall: {
        *out += "<joint name=\"" + name + "\" type=\"ball\"/>\n";
        const Vec3 target = geometry::Log(geometry::FromQuaternion(
            g_.q_squeeze[q], g_.q_squeeze[q + 1], g_.q_squeeze[q + 2], g_.q_squeeze[q + 3]));
        const char* gears[3] = {"1 0 0", "0 1 0", "0 0 1"};
        for (int axis = 0; axis < 3; ++axis) Actuator(name, gears[axis], v + axis, target[axis]);
        keys_ += Numbers(g_.q.segment<4>(q)) + " ";
        break;
      }
    }
    if (!root && body.mass.mass_kg > 0.0)
      *out += Inertial(geometry::Transformed(hand_.X_JcB(b), body.mass));
    for (const model::BodyShape& shape : body.shapes) {
      const std::string kind = Primitive(shape.shape);
      if (kind.empty()) continue;
      *out += "<geom " + kind + Pose(hand_.X_JcB(b) * shape.X_BS) +
              " contype=\"1\" conaffinity=\"" + (g_.self_contact ? "3" : "2") + "\"" + Contact() +
              "/>\n";
    }
    for (int child = b + 1; child < hand_.body_count(); ++child) {
      if (hand_.body(child).parent == b) HANDHOLD_TRY(Body(child, out));
    }
    *out += "</body>\n";
    return {};
  }

  void Actuator(const std::string& joint, const char* gear, int dof, double target) {
    actuators_ += "<position joint=\"" + joint + "\" gear=\"" + gear + "\" kp=\"" +
                  Number(g_.stiffness[dof]) + "\" kv=\"" + Number(g_.damping[dof]) + "\"/>\n";
    controls_ += (controls_.empty() ? "" : " ") + Number(target);
  }

  std::string Contact() const {
    return " condim=\"4\" friction=\"" + Number(g_.friction) +
           " 0.02 0.0001\" solref=\"0.005 1\" solimp=\"0.5 0.99 0.0001\"";
  }

  std::string Mesh(const std::vector<Vec3>& vertices) {
    const std::string name = "part" + std::to_string(meshes_++);
    assets_ += "<mesh name=\"" + name + "\" vertex=\"";
    for (const Vec3& v : vertices) assets_ += Numbers(v) + " ";
    assets_ += "\"/>\n";
    return "type=\"mesh\" mesh=\"" + name + "\"";
  }

  std::string PropBody() {
    std::string out = "<body name=\"prop\"" + Pose(g_.X_WP) + ">\n<freejoint name=\"prop\"/>\n" +
                      Inertial(g_.prop_mass);
    const std::string of_prop = " contype=\"2\" conaffinity=\"1\"" + Contact() + "/>\n";
    for (const model::PropShape& shape : g_.prop->shapes) {
      std::string kind = Primitive(shape.shape);
      if (kind.empty()) {
        if (!g_.convex_pieces.empty()) continue;
        const auto* hull = std::get_if<geometry::ConvexHull>(&shape.shape);
        kind = Mesh(hull != nullptr
                        ? hull->surface->mesh().vertices
                        : std::get<geometry::TriangleMesh>(shape.shape).surface->mesh().vertices);
      }
      out += "<geom " + kind + Pose(shape.X_PS) + of_prop;
    }
    for (const geometry::Mesh& piece : g_.convex_pieces)
      out += "<geom " + Mesh(piece.vertices) + of_prop;
    return out + "</body>\n";
  }

  const MjcfGrasp& g_;
  const model::Skeleton& hand_;
  std::string assets_, actuators_, controls_, keys_;
  int meshes_ = 0;
};

}  // namespace

Result<std::string> WriteMjcf(const MjcfGrasp& grasp) { return MjcfWriter(grasp).Write(); }

}  // namespace handhold::exchange
