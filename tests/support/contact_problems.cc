#include "tests/support/contact_problems.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "database/base/check.h"
#include "database/geometry/inertia.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "tools/lab/random.h"

namespace handhold::testing {
namespace {

using geometry::Vec3;

constexpr double kStep_s = 0.002;
constexpr double kRootCompliance_m_per_N = 1e-4;
constexpr double kSkin_m_per_N = 1e-4;

/// A point of the hand that touches the object.
struct Touch {
  int body = 0;
  Vec3 p_W, normal_W;  // normal out of the object, into the hand
  double friction = 0.5;
};

Vec3 Direction(lab::Random* random) {
  const double z = random->Uniform(-1, 1), angle = random->Uniform(0, 2 * std::numbers::pi);
  const double r = std::sqrt(1 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

/// Wrist-side joints soft in translation (the root), fingers 0.2 to 1.2 rad/Nm, the roll of bones
/// about themselves a tenth of that.
Eigen::VectorXd DrawCompliance(const model::Skeleton& hand, lab::Random* random) {
  Eigen::VectorXd C(hand.nv());
  for (int d = 0; d < hand.nv(); ++d) {
    const std::string& name = hand.dof_names()[static_cast<size_t>(d)];
    C[d] = random->Uniform(0.2, 1.2);
    if (name.ends_with(".rot")) C[d] *= 0.1;
    if (name.find("cmc") != std::string::npos) C[d] = 0.35;
  }
  return C;
}

/// Flexed between straight and 60 degrees, spread by up to 15: as if round something.
Eigen::VectorXd DrawPosture(const model::Skeleton& hand, lab::Random* random) {
  Eigen::VectorXd v(hand.nv());
  for (int d = 0; d < hand.nv(); ++d) {
    const std::string& name = hand.dof_names()[static_cast<size_t>(d)];
    v[d] = name.ends_with(".flex")  ? random->Uniform(0.0, 1.05)
           : name.ends_with(".abd") ? random->Uniform(-0.26, 0.26)
                                    : random->Uniform(-0.1, 0.1);
  }
  return hand.Integrate(hand.ZeroConfiguration(), v);
}

/// Touches on the palmar side of random bones, their normals leaning by up to 35 degrees; every
/// seventh or so repeats an earlier one.
std::vector<Touch> DrawTouches(const model::Skeleton& hand, const model::KinematicsData& data,
                               int count, lab::Random* random, ContactProblem* problem) {
  std::vector<Touch> touches;
  while (static_cast<int>(touches.size()) < count) {
    if (!touches.empty() && random->Uniform(0, 1) < 0.2) {
      Touch again = touches[static_cast<size_t>(random->Index(static_cast<int>(touches.size())))];
      if (random->Uniform(0, 1) < 0.5) {
        ++problem->same_point;
      } else {
        const Vec3 side = Direction(random);
        again.p_W += random->Uniform(5e-4, 4e-3) *
                     (side - side.dot(again.normal_W) * again.normal_W).normalized();
      }
      ++problem->redundant;
      touches.push_back(again);
      continue;
    }
    Touch touch;
    touch.body = 2 + random->Index(hand.body_count() - 2);
    const auto& capsule = std::get<geometry::Capsule>(hand.body(touch.body).shapes.front().shape);
    const geometry::RigidTransform X_WS =
        data.X_WB[static_cast<size_t>(touch.body)] * hand.body(touch.body).shapes.front().X_BS;
    const Vec3 palmar_W = -(data.X_WB[static_cast<size_t>(touch.body)].R.col(2));
    touch.normal_W = -(palmar_W + random->Uniform(0.0, 0.7) * Direction(random)).normalized();
    // A capsule's axis is the shape's z.
    const double along = random->Uniform(-0.5, 0.5) * capsule.length_m;
    touch.p_W = X_WS * Vec3(0, 0, along) - capsule.radius_m * touch.normal_W;
    touch.friction = random->Uniform(0.3, 1.0);
    touches.push_back(touch);
  }
  return touches;
}

/// What the object does in the step: U_phi of eq. 10 and its free motion, into G and u.
void AddObject(const std::vector<Touch>& touches, double mass_kg, lab::Random* random,
               Eigen::MatrixXd* G, Eigen::VectorXd* u) {
  Vec3 middle = Vec3::Zero();
  for (const Touch& t : touches) middle += t.p_W - 0.02 * t.normal_W;
  middle /= static_cast<double>(touches.size());
  // A ball's inertia; 12 g has a radius of 20 mm, 300 g of 40 mm.
  const double radius = mass_kg < 0.1 ? 0.020 : 0.040;
  const double inertia = 0.4 * mass_kg * radius * radius;
  const Vec3 v = random->Uniform(0.0, 0.2) * Direction(random) + kStep_s * Vec3(0, 0, -9.81);
  const Vec3 omega = random->Uniform(0.0, 3.0) * Direction(random);
  const auto cross = [](const Vec3& a) {
    geometry::Mat3 m;
    m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
    return m;
  };
  for (size_t i = 0; i < touches.size(); ++i) {
    const auto ii = static_cast<Eigen::Index>(3 * i);
    const Vec3 ri = touches[i].p_W - middle;
    u->segment<3>(ii) -= kStep_s * (v + omega.cross(ri));
    for (size_t j = 0; j < touches.size(); ++j) {
      const Vec3 rj = touches[j].p_W - middle;
      G->block<3, 3>(ii, static_cast<Eigen::Index>(3 * j)) +=
          kStep_s * kStep_s *
          (geometry::Mat3::Identity() / mass_kg - cross(ri) * cross(rj) / inertia);
    }
  }
}

/// Rows and columns of 7.1.3 from G, u and the touches.
void Assemble(const std::vector<Touch>& touches, const Eigen::MatrixXd& G, const Eigen::VectorXd& u,
              lab::Random* random, ContactProblem* problem) {
  const int sides = problem->sides, per = sides + 1;
  const auto n = static_cast<Eigen::Index>(touches.size());
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(3 * n, n * per);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vec3& normal = touches[static_cast<size_t>(i)].normal_W;
    const Vec3 t1 =
        normal.cross(std::abs(normal.z()) < 0.9 ? Vec3::UnitZ() : Vec3::UnitX()).normalized();
    const Vec3 t2 = normal.cross(t1);
    D.block<3, 1>(3 * i, i * per) = normal;
    for (int j = 0; j < sides; j += 2) {
      const double angle = std::numbers::pi * j / sides;
      D.block<3, 1>(3 * i, i * per + 1 + j) = std::cos(angle) * t1 + std::sin(angle) * t2;
      D.block<3, 1>(3 * i, i * per + 2 + j) = -D.block<3, 1>(3 * i, i * per + 1 + j);
    }
  }
  problem->M.setZero(n * (per + 1), n * (per + 1));
  problem->q.setZero(n * (per + 1));
  problem->M.topLeftCorner(n * per, n * per) = D.transpose() * G * D;
  problem->q.head(n * per) = D.transpose() * u;
  problem->friction.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Touch& touch = touches[static_cast<size_t>(i)];
    if (problem->surface_compliance) problem->M(i * per, i * per) += kSkin_m_per_N;
    problem->q[i * per] += random->Uniform(-2e-4, 3e-4);  // the gap
    problem->friction[i] = touch.friction;
    problem->M(n * per + i, i * per) = touch.friction;
    problem->M.block(n * per + i, i * per + 1, 1, sides).setConstant(-1.0);
    problem->M.block(i * per + 1, n * per + i, sides, 1).setConstant(1.0);
  }
}

ContactProblem MakeProblem(const model::Skeleton& hand, int index, lab::Random* random) {
  ContactProblem problem;
  problem.contacts = 1 + index % 10;
  problem.sides = index / 10 % 2 == 0 ? 4 : 8;
  problem.object_kg = index / 20 % 2 == 0 ? 0.012 : 0.300;
  problem.surface_compliance = index / 40 % 2 == 1;
  model::KinematicsData data(hand);
  model::ComputeJacobian<double>(hand, DrawPosture(hand, random), &data);
  const std::vector<Touch> touches = DrawTouches(hand, data, problem.contacts, random, &problem);
  const auto n = static_cast<Eigen::Index>(touches.size());
  Eigen::MatrixXd J(3 * n, hand.nv());
  for (Eigen::Index i = 0; i < n; ++i) {
    const Touch& t = touches[static_cast<size_t>(i)];
    model::PointJacobian<double>(hand, data, t.body, t.p_W, J.middleRows(3 * i, 3));
  }
  const Eigen::VectorXd C = DrawCompliance(hand, random);
  Eigen::MatrixXd G = J * C.asDiagonal() * J.transpose();  // eq. 5
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j)
      G.block<3, 3>(3 * i, 3 * j).diagonal().array() += kRootCompliance_m_per_N;
  }
  // The hand's intention: by so much would it press (0.2 to 4 N) and drag, were the object fixed.
  // The object's own motion makes about half of the loaded contacts slide all the same.
  Eigen::VectorXd wish(3 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Touch& t = touches[static_cast<size_t>(i)];
    const double press = random->Uniform(0.2, 4.0);
    const Vec3 side = Direction(random);
    const Vec3 tangent = (side - side.dot(t.normal_W) * t.normal_W).normalized();
    wish.segment<3>(3 * i) =
        press * (t.normal_W + random->Uniform(0.0, 0.8) * t.friction * tangent);
  }
  Eigen::VectorXd u = -(G * wish);
  AddObject(touches, problem.object_kg, random, &G, &u);
  Assemble(touches, G, u, random, &problem);
  return problem;
}

}  // namespace

std::vector<ContactProblem> MakeContactProblems(int count) {
  const model::Skeleton hand = model::LoadHand("hand57").value();
  lab::Random random(57, "contact problems");
  std::vector<ContactProblem> problems;
  problems.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) problems.push_back(MakeProblem(hand, i, &random));
  return problems;
}

ContactCount CountContacts(const ContactProblem& problem, const Eigen::VectorXd& z) {
  ContactCount count;
  const int per = problem.sides + 1;
  for (int i = 0; i < problem.contacts; ++i) {
    if (z[i * per] <= 1e-6) continue;
    ++count.loaded;
    count.sliding += z[problem.contacts * per + i] > 1e-9;
  }
  return count;
}

uint64_t SuiteHash(const std::vector<ContactProblem>& problems) {
  uint64_t hash = 1469598103934665603ull;
  const auto add = [&](int64_t value) {
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ (static_cast<uint64_t>(value) >> (8 * byte) & 0xff)) * 1099511628211ull;
  };
  for (const ContactProblem& p : problems) {
    add(p.contacts), add(p.sides);
    const Eigen::Index rows = p.contacts * (p.sides + 1);
    const double g = p.M.diagonal().sum() / static_cast<double>(rows);
    const double u = p.q.cwiseAbs().maxCoeff();
    for (Eigen::Index i = 0; i < p.M.rows(); ++i) {
      for (Eigen::Index j = 0; j < p.M.cols(); ++j) {
        const bool cone = i >= rows || j >= rows;
        add(std::llround(p.M(i, j) / (cone ? 1.0 : g) * 0x1p20));
      }
      add(std::llround(p.q[i] / u * 0x1p20));
    }
  }
  return hash;
}

}  // namespace handhold::testing
