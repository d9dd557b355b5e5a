#include "synthesis/grasp_control/contact_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include "database/model/site.h"

namespace handhold::synthesis {

using artefact::ContactRow;
using artefact::Side;
using geometry::Vec3;

double AddContactRows(const HandWorld& world, int frame, Timestamp now, artefact::Motion* motion) {
  const std::vector<artefact::StageThing>& things = motion->stage.things;
  const std::string& hand_name = motion->stage.hands.front().name;
  double normal_N = 0.0;
  std::vector<ContactRow> rows;
  const auto add = [&](const Side& a, const Side& b, ContactRow row) {
    row.frame = frame;
    row.touch = motion->TouchBetween(a, b, now);
    double& peak = motion->touches[static_cast<size_t>(row.touch)].peak_force_N;
    peak = std::max(peak, row.f_onA_W.norm());
    rows.push_back(row);
  };
  const model::Skeleton& hand = world.hand(0);
  for (const HandContact& c : world.Contacts()) {
    // Not of a hand with a hand.
    if (c.hand != 0 || c.prop < 0 || c.prop >= static_cast<int>(things.size())) continue;
    const int site = model::SiteAt(
        hand, c.body, -(world.hand_in_world(0).X_WB(c.body).R.transpose() * c.normal_W));
    const Side a{Side::Kind::kHand, hand_name,
                 site < 0 ? "" : hand.sites()[static_cast<size_t>(site)].name, c.body};
    const Side b{Side::Kind::kThing, things[static_cast<size_t>(c.prop)].name, "", 0};
    ContactRow row;
    row.f_onA_W = c.f_onHand_W;
    row.p_W = c.p_W;
    row.normal_W = c.normal_W;
    row.offset_m = -c.depth_m;
    row.slip_m_per_s = c.slip_W.norm();
    if (c.prop == 0) normal_N += c.f_onHand_W.dot(c.normal_W);
    add(a, b, row);
  }
  const auto ground =
      std::ranges::find(things, artefact::StageThing::Is::kFixed, &artefact::StageThing::is);
  if (ground != things.end()) {
    const Side a{Side::Kind::kThing, things.front().name, "", 0};
    const Side b{Side::Kind::kThing, ground->name, "", 0};
    const int prop = world.prop_body(0);
    for (const ContactReading& c : world.world().contacts()) {
      const bool is_a = c.body_a == prop && c.body_b == kFixedBody;
      if (!is_a && !(c.body_b == prop && c.body_a == kFixedBody)) continue;
      ContactRow row;
      row.f_onA_W = is_a ? c.f_onA_W : Vec3(-c.f_onA_W);
      row.p_W = c.p_W;
      row.normal_W = is_a ? c.normal_W : Vec3(-c.normal_W);
      row.offset_m = -c.depth_m;
      row.slip_m_per_s = c.slip_W.norm();
      add(a, b, row);
    }
  }
  std::ranges::stable_sort(rows, {}, &ContactRow::touch);
  motion->rows.insert(motion->rows.end(), rows.begin(), rows.end());
  return normal_N;
}

}  // namespace handhold::synthesis
