#include "synthesis/interaction/grip_adjustment.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "database/base/check.h"

namespace handhold::synthesis {

Status CheckGrip(const GripOptions& o) {
  const auto bad = [](const char* name) {
    return Error{ErrorCode::kInvalid,
                 std::string("grip adjustment: ") + name +
                     " does not fit: factors and floor lie in (0, 1], all else is finite and >= 0"};
  };
  // Not the negation: NaN is refused too.
  const auto share = [](double v) { return v > 0.0 && v <= 1.0; };
  const auto amount = [](double v) { return v >= 0.0 && std::isfinite(v); };
  if (!amount(o.force_N)) return bad("force_N");
  if (!amount(o.ratio_share)) return bad("ratio_share");
  if (!share(o.anticipate_factor)) return bad("anticipate_factor");
  if (!amount(o.slip_m_per_s)) return bad("slip_m_per_s");
  if (!amount(o.reaction_s) || o.reaction_s > 60.0) return bad("reaction_s");
  if (!share(o.reflex_factor)) return bad("reflex_factor");
  if (!share(o.smallest_scale)) return bad("smallest_scale");
  return {};
}

std::vector<char> FingerDofs(const model::Skeleton& skeleton) {
  // The palm: the last body through which every branch's end hangs. Bodies come parents first.
  const auto count = static_cast<size_t>(skeleton.body_count());
  std::vector<int> ends(count, 0);  // of branches, at or beyond each body
  std::vector<char> has_child(count, 0);
  for (size_t b = count; b-- > 1;) {
    if (!has_child[b]) ends[b] = 1;
    const auto parent = static_cast<size_t>(skeleton.body(static_cast<int>(b)).parent);
    ends[parent] += ends[b];
    has_child[parent] = 1;
  }
  size_t palm = 0;
  if (ends[0] > 1) {
    for (size_t b = 1; b < count; ++b)
      if (ends[b] == ends[0]) palm = b;
  }
  std::vector<char> beyond(count, 0), dofs(static_cast<size_t>(skeleton.nv()), 0);
  for (size_t b = 1; b < count; ++b) {
    const model::Body& body = skeleton.body(static_cast<int>(b));
    const auto parent = static_cast<size_t>(body.parent);
    beyond[b] = parent == palm || beyond[parent];
    if (!beyond[b] || body.joint.type == model::JointType::kFree) continue;
    const auto first = static_cast<size_t>(skeleton.v_index(static_cast<int>(b)));
    for (size_t d = 0; d < static_cast<size_t>(body.joint.nv()); ++d) dofs[first + d] = 1;
  }
  return dofs;
}

GripAdjuster::GripAdjuster(const model::Skeleton& skeleton, int tree, const GripOptions& options,
                           double step_s)
    : options_(options),
      tree_(tree),
      fingers_(FingerDofs(skeleton)),
      scale_(Eigen::VectorXd::Ones(skeleton.nv())) {
  CHECK(CheckGrip(options).has_value());
  CHECK_GT(step_s, 0.0);
  factor_ = std::pow(
      options.kind == GripKind::kReflex ? options.reflex_factor : options.anticipate_factor,
      step_s / kGripPace_s);
  if (options.kind == GripKind::kReflex)
    slipped_.assign(static_cast<size_t>(std::llround(options.reaction_s / step_s)) + 1, 0);
}

void GripAdjuster::Observe(std::span<const Contact> contacts, std::span<const HandForce> forces) {
  CHECK_EQ(contacts.size(), forces.size());
  if (options_.kind == GripKind::kNone) return;
  bool tighten = false;
  for (size_t i = 0; i < contacts.size(); ++i) {
    const Contact& c = contacts[i];
    const auto is_hand = [&](const ContactSide& side) {
      return side.kind == ContactSide::Kind::kLink && side.tree == tree_;
    };
    const bool holds = (is_hand(c.a) && c.b.kind == ContactSide::Kind::kBody) ||
                       (is_hand(c.b) && c.a.kind == ContactSide::Kind::kBody);
    const geometry::Vec3& f_W = forces[i].f_onHand_W;
    if (!holds || !(f_W.norm() > options_.force_N)) continue;
    if (options_.kind == GripKind::kReflex) {
      tighten |= forces[i].slip_m_per_s > options_.slip_m_per_s;
    } else {
      const double normal_N = f_W.dot(c.normal_W);
      const double friction_N = (f_W - normal_N * c.normal_W).norm();
      tighten |= friction_N > options_.ratio_share * c.law.friction * normal_N;
    }
  }
  if (options_.kind == GripKind::kReflex) {
    slipped_[next_] = tighten ? 1 : 0;
    next_ = (next_ + 1) % slipped_.size();
    tighten = slipped_[next_] != 0;  // what was felt a reaction time ago
  }
  if (!tighten) return;
  finger_scale_ = std::max(options_.smallest_scale, finger_scale_ * factor_);
  for (size_t d = 0; d < fingers_.size(); ++d)
    if (fingers_[d]) scale_[static_cast<Eigen::Index>(d)] = finger_scale_;
}

void GripAdjuster::Apply(HandStep* hand) const {
  hand->compliance_rad_per_Nm.array() *= scale_.array();
  if (hand->time_constant_s.size() > 0) hand->time_constant_s.array() *= scale_.array();
}

}  // namespace handhold::synthesis
