#include "fitting/skeleton/segment_lengths.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace handhold::fitting {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using model::JointType;
using model::Skeleton;

std::string Last(const std::string& name) {
  return name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
}

/// "index.mcp" of "R.index.mcp": without the side.
std::string Sideless(const std::string& name) {
  return name.starts_with("R.") || name.starts_with("L.") ? name.substr(2) : name;
}

/// The body that `body`'s parent moves as one with, and where body's joint sits in it.
int MovingParent(const Skeleton& skeleton, int body, RigidTransform* X_AJp) {
  *X_AJp = skeleton.body(body).joint.X_PJp;
  int at = skeleton.body(body).parent;
  while (at > 0 && skeleton.body(at).joint.type == JointType::kFixed) {
    *X_AJp = skeleton.body(at).joint.X_PJp * skeleton.X_JcB(at) * *X_AJp;
    at = skeleton.body(at).parent;
  }
  return at;
}

struct Item {
  std::string short_name, long_name, joint;
  std::function<double(const Skeleton&)> length;
};

std::vector<Item> BetweenJoints(const Skeleton& skeleton) {
  std::vector<Item> items;
  int before = -1;  // the joint on the free base that was listed last
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    if (joint.type == JointType::kFixed) continue;
    RigidTransform X_AJp;
    const int parent = MovingParent(skeleton, b, &X_AJp);
    if (parent == 0) continue;
    const std::string& from = skeleton.body(parent).joint.name;
    if (skeleton.body(parent).joint.type != JointType::kFree) {
      items.push_back({Last(from) + "-" + Last(joint.name), Sideless(from) + "-" + Last(joint.name),
                       joint.name, [b, parent](const Skeleton& s) {
                         RigidTransform X;
                         MovingParent(s, b, &X);
                         return AcrossAxis(s, parent, X.p);
                       }});
      continue;
    }
    if (before >= 0) {
      const std::string name =
          Sideless(skeleton.body(before).joint.name) + "-" + Sideless(joint.name);
      items.push_back({name, name, joint.name, [b, before](const Skeleton& s) {
                         RigidTransform X, Y;
                         MovingParent(s, b, &X);
                         MovingParent(s, before, &Y);
                         return (X.p - Y.p).norm();
                       }});
    }
    before = b;
  }
  return items;
}

}  // namespace

double AcrossAxis(const Skeleton& skeleton, int body, const Vec3& p_B) {
  const model::Joint& joint = skeleton.body(body).joint;
  const Vec3 from = p_B - joint.X_BJc.p;
  if (joint.type != JointType::kHinge) return from.norm();
  const Vec3 axis = joint.X_BJc.R * joint.axes[0];
  return (from - axis * axis.dot(from)).norm();
}

std::vector<SegmentLength> ListLengths(const CalibrationModel& calibration,
                                       const Skeleton& original, int tip, bool tip_seen,
                                       const Eigen::MatrixXd& covariance,
                                       const std::vector<std::string>& undetermined) {
  std::vector<Item> items = BetweenJoints(original);
  const size_t between = items.size();
  std::vector<char> seen(between, 1);
  for (size_t i = 0; i < original.frames().size(); ++i) {
    const model::NamedFrame& frame = original.frames()[i];
    const bool named = static_cast<int>(i) == tip;
    if (!named && !(frame.name.ends_with("tip") && frame.body > 0)) continue;
    const std::string& joint = original.body(frame.body).joint.name;
    items.push_back({Last(joint) + "-" + Last(frame.name), Sideless(joint) + "-" + Last(frame.name),
                     joint, [i](const Skeleton& s) {
                       return AcrossAxis(s, s.frames()[i].body, s.frames()[i].X_BF.p);
                     }});
    seen.push_back(static_cast<char>(named && tip_seen));
  }
  // A finger's joints have names of their own; a hand's fingers share theirs.
  std::map<std::string, int> uses;
  for (const Item& item : items) ++uses[item.short_name];
  const bool shared =
      std::any_of(uses.begin(), uses.end(), [](const auto& u) { return u.second > 1; });

  // Their gradients by the parameters, numerically: each hand is built once for all lengths.
  const auto count = static_cast<Eigen::Index>(items.size());
  Eigen::MatrixXd gradient = Eigen::MatrixXd::Zero(covariance.rows(), count);
  const auto lengths = [&](const Eigen::VectorXd& x) {
    Eigen::VectorXd out(count);
    for (Eigen::Index k = 0; k < count; ++k)
      out[k] = items[static_cast<size_t>(k)].length(calibration.At(x));
    return out;
  };
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(calibration.size());
  for (int i = 0; i < calibration.size(); ++i) {
    if (calibration.kind(i) == 'm') continue;  // markers move no joint
    gradient.row(i) = (lengths(1e-5 * Eigen::VectorXd::Unit(zero.size(), i)) -
                       lengths(-1e-5 * Eigen::VectorXd::Unit(zero.size(), i))) /
                      2e-5;
  }
  const Eigen::VectorXd fitted = lengths(zero);
  std::vector<SegmentLength> out;
  for (size_t k = 0; k < items.size(); ++k) {
    const Item& item = items[k];
    const auto at = static_cast<Eigen::Index>(k);
    const double variance = gradient.col(at).dot(covariance * gradient.col(at));
    const bool open = std::any_of(undetermined.begin(), undetermined.end(), [&](const auto& u) {
      return u.find(item.joint + ".centre") != std::string::npos;
    });
    const bool known = seen[k] != 0;
    out.push_back({shared ? item.long_name : item.short_name, fitted[at],
                   known ? std::sqrt(std::max(0.0, variance)) : 0.0, item.length(original),
                   k >= between ? (known ? "contact" : "template") : (open ? "prior" : "markers")});
  }
  return out;
}

}  // namespace handhold::fitting
