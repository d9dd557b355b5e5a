#include "database/exchange/bvh_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "database/exchange/gltf_hand.h"
#include "database/model/kinematics.h"

namespace handhold::exchange {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kCm = 100.0, kTurn_deg = 360.0;

Mat3 YUpFromZUp() {
  Mat3 R;
  R << 1, 0, 0,  //
      0, 0, 1,   //
      0, -1, 0;
  return R;
}

void Write(double value, std::string* out) {
  std::array<char, 40> text;
  const double shown = std::abs(value) < 5e-7 ? 0.0 : value;  // no "-0.000000"
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), shown, std::chars_format::fixed, 6);
  *out += ' ';
  out->append(text.data(), end.ptr);
}

/// Degrees about Z, X, Y with R = Rz Rx Ry; of the two that there are, and of full turns, those
/// nearest to `last`.
Vec3 AnglesZxy(const Mat3& R, const Vec3& last) {
  const double to_deg = 0.5 * kTurn_deg / M_PI;
  const double x = to_deg * std::asin(std::clamp(R(2, 1), -1.0, 1.0));
  const double z = to_deg * std::atan2(-R(0, 1), R(1, 1));
  const double y = to_deg * std::atan2(-R(2, 0), R(2, 2));
  const auto near = [&](const Vec3& angles) {
    Vec3 out;
    for (int c = 0; c < 3; ++c)
      out[c] = angles[c] - kTurn_deg * std::round((angles[c] - last[c]) / kTurn_deg);
    return out;
  };
  const Vec3 one = near({z, x, y}), other = near({z + 180.0, 180.0 - x, y + 180.0});
  return (one - last).squaredNorm() <= (other - last).squaredNorm() ? one : other;
}

/// One hand: its joints depth first, as the file tells them, and their angles so far.
class HandTracks {
 public:
  explicit HandTracks(const BvhHand& hand)
      : hand_(hand), skeleton_(*hand.skeleton), data_(skeleton_) {
    model::ComputePoses<double>(skeleton_, skeleton_.ZeroConfiguration(), &data_);
    rest_ = data_.X_WB;
    angles_deg_.assign(rest_.size(), Vec3::Zero());
  }

  void Hierarchy(int body, bool root, int depth, std::string* out) {
    order_.push_back(body);
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    const model::Body& own = skeleton_.body(body);
    *out += indent + (root ? "ROOT " : "JOINT ") + hand_.prefix + GltfJointName(own.name) + "\n" +
            indent + "{\n" + indent + "  OFFSET";
    const Vec3 offset = Moves(body) ? Vec3(Vec3::Zero()) : Place(rest_, body) - Origin(body);
    for (int c = 0; c < 3; ++c) Write(kCm * offset[c], out);
    *out += "\n" + indent +
            (Moves(body) ? "  CHANNELS 6 Xposition Yposition Zposition" : "  CHANNELS 3") +
            " Zrotation Xrotation Yrotation\n";
    bool leaf = true;
    for (int b = body + 1; b < skeleton_.body_count(); ++b) {
      if (skeleton_.body(b).parent != body) continue;
      leaf = false;
      Hierarchy(b, false, depth + 1, out);
    }
    if (leaf) EndSite(body, indent, out);
    *out += indent + "}\n";
  }

  void Frame(const Eigen::VectorXd& q, std::string* out) {
    model::ComputePoses<double>(skeleton_, q, &data_);
    for (const int body : order_) {
      const auto b = static_cast<size_t>(body);
      const int parent = skeleton_.body(body).parent;
      if (Moves(body)) {
        const Vec3 p =
            Turned(parent).transpose() * (Place(data_.X_WB, body) - Place(data_.X_WB, parent));
        for (int c = 0; c < 3; ++c) Write(kCm * p[c], out);
      }
      angles_deg_[b] = AnglesZxy(Turned(parent).transpose() * Turned(body), angles_deg_[b]);
      for (int c = 0; c < 3; ++c) Write(angles_deg_[b][c], out);
    }
  }

 private:
  /// Joints that say where they are: those on the world, and free ones.
  bool Moves(int body) const {
    return skeleton_.body(body).parent == 0 ||
           skeleton_.body(body).joint.type == model::JointType::kFree;
  }
  /// Y up, metres; the world is the origin.
  Vec3 Place(const std::vector<RigidTransform>& X_WB, int body) const {
    if (body == 0) return Vec3::Zero();
    const auto b = static_cast<size_t>(body);
    return YUpFromZUp() * (X_WB[b] * skeleton_.body(body).joint.X_BJc.p);
  }
  Vec3 Origin(int body) const { return Place(rest_, skeleton_.body(body).parent); }
  /// How a body is turned from its rest, Y up.
  Mat3 Turned(int body) const {
    const auto b = static_cast<size_t>(body);
    return YUpFromZUp() * data_.X_WB[b].R * rest_[b].R.transpose() * YUpFromZUp().transpose();
  }

  void EndSite(int body, const std::string& indent, std::string* out) const {
    const model::Body& own = skeleton_.body(body);
    Vec3 p_B(own.length_m, 0, 0);
    for (const model::NamedFrame& frame : skeleton_.frames())
      if (frame.body == body && frame.name.ends_with(".end")) p_B = frame.X_BF.p;
    const Vec3 offset =
        YUpFromZUp() * (rest_[static_cast<size_t>(body)].R * (p_B - own.joint.X_BJc.p));
    *out += indent + "  End Site\n" + indent + "  {\n" + indent + "    OFFSET";
    for (int c = 0; c < 3; ++c) Write(kCm * offset[c], out);
    *out += "\n" + indent + "  }\n";
  }

  const BvhHand& hand_;
  const model::Skeleton& skeleton_;
  model::KinematicsData data_;
  std::vector<RigidTransform> rest_;
  std::vector<Vec3> angles_deg_;
  std::vector<int> order_;
};

Status CheckBvh(const std::vector<BvhHand>& hands, const std::vector<double>& times_s,
                const BvhOptions& options) {
  const auto wrong = [](const std::string& what) {
    return Error{ErrorCode::kInvalid, "BVH: " + what};
  };
  if (!(options.frames_per_s > 0.0) || !std::isfinite(options.frames_per_s))
    return wrong("frames per second must be positive");
  if (hands.empty() || times_s.empty()) return wrong("no hand, or no time");
  for (size_t i = 0; i < times_s.size(); ++i)
    if (!std::isfinite(times_s[i]) || (i > 0 && !(times_s[i] > times_s[i - 1])))
      return wrong("times must ascend");
  for (const BvhHand& hand : hands) {
    if (hand.q->rows() != hand.skeleton->nq() ||
        hand.q->cols() != static_cast<Eigen::Index>(times_s.size()))
      return wrong("a hand has another number of coordinates or frames");
    if (!hand.q->allFinite()) return wrong("a coordinate is not finite");
    int roots = 0;
    for (int b = 1; b < hand.skeleton->body_count(); ++b)
      roots += hand.skeleton->body(b).parent == 0 ? 1 : 0;
    if (roots != 1) return wrong("a hand must have one body on the world");
  }
  return {};
}

}  // namespace

Result<std::string> WriteBvh(const std::vector<BvhHand>& hands, const std::vector<double>& times_s,
                             const BvhOptions& options) {
  HANDHOLD_TRY(CheckBvh(hands, times_s, options));
  std::vector<HandTracks> tracks(hands.begin(), hands.end());
  const bool alone = hands.size() == 1;
  std::string out = "HIERARCHY\n";
  if (!alone)
    out +=
        "ROOT hands\n{\n  OFFSET 0.000000 0.000000 0.000000\n  CHANNELS 6 Xposition Yposition "
        "Zposition Zrotation Xrotation Yrotation\n";
  for (size_t i = 0; i < hands.size(); ++i) {
    int root = 1;
    while (hands[i].skeleton->body(root).parent != 0) ++root;
    tracks[i].Hierarchy(root, alone, alone ? 0 : 1, &out);
  }
  if (!alone) out += "}\n";
  const double span_s = times_s.back() - times_s.front();
  const auto frames = static_cast<size_t>(std::floor(span_s * options.frames_per_s + 1e-6)) + 1;
  out += "MOTION\nFrames: " + std::to_string(frames) + "\nFrame Time:";
  Write(1.0 / options.frames_per_s, &out);
  out += "\n";
  size_t at = 0;
  for (size_t k = 0; k < frames; ++k) {
    const double t = times_s.front() + static_cast<double>(k) / options.frames_per_s;
    while (at + 2 < times_s.size() && times_s[at + 1] <= t) ++at;
    std::string line;
    if (!alone)
      for (int c = 0; c < 6; ++c) Write(0.0, &line);
    for (size_t i = 0; i < hands.size(); ++i) {
      const Eigen::MatrixXd& q = *hands[i].q;
      const auto column = static_cast<Eigen::Index>(at);
      Eigen::VectorXd now = q.col(column);
      if (times_s.size() > 1) {
        const double share =
            std::clamp((t - times_s[at]) / (times_s[at + 1] - times_s[at]), 0.0, 1.0);
        now = hands[i].skeleton->Integrate(
            now, share * hands[i].skeleton->Difference(now, q.col(column + 1)));
      }
      tracks[i].Frame(now, &line);
    }
    out += line.substr(1) + "\n";
  }
  return out;
}

}  // namespace handhold::exchange
