#include "synthesis/interaction/grip_traces.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "database/base/check.h"

namespace handhold::synthesis {

using geometry::Vec3;

void AddGripTraces(std::span<const model::Skeleton* const> skeletons, artefact::Motion* motion) {
  CHECK_EQ(skeletons.size(), motion->hands.size());
  struct Trace {
    Eigen::VectorXd normal_N;
    Eigen::Matrix3Xd friction_W;
  };
  const auto frames = static_cast<Eigen::Index>(motion->times.size());
  std::map<std::pair<size_t, int>, Trace> traces;  // by hand and body
  for (const artefact::ContactRow& row : motion->rows) {
    const artefact::Touch& touch = motion->touches[static_cast<size_t>(row.touch)];
    if (!touch.a.is_hand() || touch.b.is_hand()) continue;
    const artefact::MotionObject* object = motion->FindObject(touch.b.name);
    if (object == nullptr || object->stands_still()) continue;
    size_t hand = 0;
    while (hand < motion->hands.size() && motion->hands[hand].name != touch.a.name) ++hand;
    if (hand == motion->hands.size()) continue;
    Trace& trace = traces[{hand, touch.a.body}];
    if (trace.normal_N.size() == 0) {
      trace.normal_N = Eigen::VectorXd::Zero(frames);
      trace.friction_W = Eigen::Matrix3Xd::Zero(3, frames);
    }
    const double normal_N = row.f_onA_W.dot(row.normal_W);
    trace.normal_N[row.frame] += normal_N;
    trace.friction_W.col(row.frame) += row.f_onA_W - normal_N * row.normal_W;
  }
  for (const auto& [whose, trace] : traces) {
    const Eigen::VectorXd friction_N = trace.friction_W.colwise().norm();
    Eigen::VectorXd ratio = Eigen::VectorXd::Zero(frames);
    bool any = false;
    for (Eigen::Index k = 0; k < frames; ++k) {
      if (!(std::hypot(trace.normal_N[k], friction_N[k]) >= kTraced_N)) continue;
      ratio[k] = friction_N[k] / trace.normal_N[k];
      any = true;
    }
    if (!any) continue;
    const std::string of = "." + motion->hands[whose.first].name + "." +
                           skeletons[whose.first]->body(whose.second).name;
    motion->series.push_back({kNormalForce + of, "N", trace.normal_N});
    motion->series.push_back({kFrictionRatio + of, "1", std::move(ratio)});
  }
}

}  // namespace handhold::synthesis
