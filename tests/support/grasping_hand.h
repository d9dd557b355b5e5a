/// A grasp of ours in a HandWorld under the grasp controller: what tests, scenarios and marks run.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "database/artefact/grasp_file.h"
#include "database/base/check.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/grasp_control/controller.h"
#include "synthesis/grasp_control/posture.h"

namespace handhold::testing {

/// The grasp of the mirrored hand: everything reflected in the plane y = 0 of the hand's world,
/// then the prop (one that is its own mirror image) turned so that its z stays.
inline artefact::Grasp MirroredGrasp(const model::Skeleton& hand, artefact::Grasp grasp) {
  const geometry::Mat3 S = geometry::Vec3(1, -1, 1).asDiagonal();
  for (Eigen::VectorXd* q : {&grasp.q, &grasp.q_open, &grasp.q_squeeze})
    *q = model::MirrorConfiguration(hand, *q);
  // Of a prop that is symmetric in its plane y = 0.
  grasp.X_PH.R = S * grasp.X_PH.R * S;
  grasp.X_PH.p = S * grasp.X_PH.p;
  grasp.dof_names = model::Mirrored(hand).dof_names();
  return grasp;
}

struct GraspingHand {
  artefact::Grasp grasp;
  model::Skeleton skeleton;
  artefact::SetpointSet set;
  std::unique_ptr<synthesis::HandWorld> world;
  std::unique_ptr<synthesis::GraspController> controller;
  geometry::RigidTransform X_WPalm;  ///< at the start

  explicit GraspingHand(const std::string& name, const synthesis::ControllerOptions& options = {},
                        const synthesis::HandWorldOptions& world_options = {}, double mass_kg = 0.1)
      : GraspingHand(artefact::LoadLibraryGrasp(name).value(), options, world_options, mass_kg) {}
  GraspingHand(const artefact::Grasp& g, const synthesis::ControllerOptions& options,
               const synthesis::HandWorldOptions& world_options, double mass_kg)
      : GraspingHand(model::LoadHand(g.skeleton_name).value(), g, options, world_options, mass_kg) {
  }
  /// Open, at its place round the prop, whose P is W.
  GraspingHand(const model::Skeleton& hand, const artefact::Grasp& g,
               const synthesis::ControllerOptions& options,
               const synthesis::HandWorldOptions& world_options = {}, double mass_kg = 0.1)
      : grasp(g), skeleton(hand), set(synthesis::SetpointsOf(skeleton, grasp).value()) {
    world = synthesis::HandWorld::Create(world_options).value();
    CHECK_EQ(world->AddHand(skeleton).value(), 0);
    CHECK_EQ(world
                 ->AddProp(artefact::Placed(model::LoadLibraryProp(grasp.prop).value(), {},
                                            artefact::StageThing::Is::kFree, mass_kg, 0.6))
                 .value(),
             0);
    CHECK(world->SetHand(0, world->Placed(0, grasp.q_open, grasp.X_PH)));
    X_WPalm = world->X_WPalm(0);
    Control(options);
  }
  void Control(const synthesis::ControllerOptions& options) {
    controller = std::make_unique<synthesis::GraspController>(
        synthesis::GraspController::Create(world.get(), 0, skeleton, set, options).value());
  }
  Status Run(const synthesis::Blend& blend, double seconds, double h_s = 2e-3) {
    const int steps = static_cast<int>(std::lround(seconds / h_s));
    for (int i = 0; i < steps; ++i) {
      HANDHOLD_TRY(controller->Apply(blend));
      HANDHOLD_TRY(world->Step(h_s));
    }
    return {};
  }
  static synthesis::Blend Gripping(double alpha) { return {0, -alpha, 1 + alpha, 0, 0, 0}; }
  /// Closes on the held prop, lets it go, settles.
  Status Hold(double alpha, double close_s = 0.46, double settle_s = 0.4, double h_s = 2e-3) {
    HANDHOLD_TRY(world->HoldProp(0, true));
    HANDHOLD_TRY(Run(Gripping(alpha), close_s, h_s));
    HANDHOLD_TRY(world->HoldProp(0, false));
    return Run(Gripping(alpha), settle_s, h_s);
  }
};

}  // namespace handhold::testing
