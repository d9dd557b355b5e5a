#include "synthesis/contact/hand_contacts.h"

#include <algorithm>
#include <cmath>

#include "database/geometry/distance.h"

namespace handhold::synthesis {
namespace {

bool IsRound(const geometry::Shape& shape) {
  return std::holds_alternative<geometry::Sphere>(shape) ||
         std::holds_alternative<geometry::Capsule>(shape);
}

// True when p_W lies inside a shape of the prop other than `own`.
bool HiddenByAnother(const PlacedProp& placed, size_t own, const geometry::Vec3& p_W) {
  const auto& shapes = placed.prop->shapes;
  for (size_t s = 0; s < shapes.size(); ++s) {
    if (s == own) continue;
    const geometry::RigidTransform X_WS = placed.X_WP * shapes[s].X_PS;
    if (geometry::SignedDistance(shapes[s].shape, X_WS.Inverse() * p_W).distance_m < -1e-9)
      return true;
  }
  return false;
}

}  // namespace

Result<HandContactSet> GenerateContacts(const model::Skeleton& skeleton,
                                        const model::KinematicsData& data,
                                        std::span<const PlacedProp> props,
                                        const ContactOptions& options) {
  HandContactSet contacts;
  HandContactSet of_pair;
  std::vector<char> hidden;
  int feature = 0;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    for (const model::BodyShape& hand : skeleton.body(b).shapes) {
      if (!IsRound(hand.shape)) continue;
      const geometry::RigidTransform X_WH = data.X_WB[static_cast<size_t>(b)] * hand.X_BS;
      for (const PlacedProp& placed : props) {
        of_pair.clear();
        hidden.clear();
        for (size_t s = 0; s < placed.prop->shapes.size(); ++s, ++feature) {
          const model::PropShape& shape = placed.prop->shapes[s];
          HANDHOLD_ASSIGN(
              const geometry::ShapeDistance d,
              geometry::Distance(hand.shape, X_WH, shape.shape, placed.X_WP * shape.X_PS));
          if (!(d.distance_m < options.margin_m)) continue;
          HandContact contact;
          contact.body = b;
          contact.object = placed.object;
          contact.feature = feature;
          contact.p_W = d.p_WB;
          contact.normal_W = d.normal_W;
          contact.separation_m = d.distance_m;
          contact.friction = placed.friction >= 0 ? placed.friction : placed.prop->friction;
          contact.surface_compliance_m_per_N = placed.prop->surface_compliance_m_per_N;
          of_pair.push_back(contact);
          hidden.push_back(HiddenByAnother(placed, s, d.p_WB));
        }
        const bool any_shown = std::find(hidden.begin(), hidden.end(), 0) != hidden.end();
        if (!any_shown && !of_pair.empty()) {
          const auto shallowest = std::max_element(of_pair.begin(), of_pair.end(),
                                                   [](const HandContact& a, const HandContact& c) {
                                                     return a.separation_m < c.separation_m;
                                                   });
          if (shallowest->separation_m < 0) contacts.push_back(*shallowest);
          continue;
        }
        for (size_t i = 0; i < of_pair.size(); ++i) {
          if (!hidden[i]) contacts.push_back(of_pair[i]);
        }
      }
    }
  }
  return contacts;
}

std::vector<std::string> UnusableHandShapes(const model::Skeleton& skeleton) {
  std::vector<std::string> names;
  for (int b = 1; b < skeleton.body_count(); ++b) {
    for (const model::BodyShape& shape : skeleton.body(b).shapes) {
      if (!IsRound(shape.shape)) names.push_back(skeleton.body(b).name + "/" + shape.name);
    }
  }
  return names;
}

}  // namespace handhold::synthesis
