/// A stage: some hands and some things, where they are over time, what they weigh, how they touch,
/// and for how long they are held.
///
/// The one description of all this. A take, a scene file (stage_file.h), a grasp with its prop and
/// a motion's beginning are read as a stage; a motion stores its own; each mover
/// (synthesis/interaction, synthesis/grasp_control) is made from one by one adapter. Pinned by
/// tests/database/artefact/stage_test.cc, which builds a stage of every kind that there is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/artefact/stage_parts.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/recording/clip.h"

namespace handhold::artefact {

/// What is the same on every stage where nobody says otherwise: the one home of each.
inline constexpr double kGravity_m_per_s2 = 9.81;
/// Of a thing that yields and whose prop says no mass.
inline constexpr double kUnweighed_kg = 0.1;
/// Length, width and thickness of the table: so thick that nothing falls through it.
inline constexpr double kTableSide_m = 1.0;

struct Stage {
  std::string name = {};
  std::vector<StageHand> hands = {};
  std::vector<StageThing> things = {};
  std::vector<StageSensor> sensors = {};
  geometry::Vec3 gravity_W = geometry::Vec3(0, 0, -kGravity_m_per_s2);  ///< m/s^2
  bool touches_itself = false;         ///< whether parts of a hand meet: thumb against finger
  std::string judged = {};             ///< thing whose hold is judged; empty: the first free one
  std::optional<TimeRange> hold = {};  ///< when hands alone should carry it

  const StageThing* FindThing(std::string_view name) const;  ///< null: there is none
  const StageHand* FindHand(std::string_view name) const;
  /// `judged`, else the first free thing; null: nothing can be held or dropped.
  const StageThing* Judged() const;
  /// Adds it under its name, its prop's where it has none, "NAME.2" where that is taken.
  StageThing& Add(StageThing thing);
  StageHand& Add(StageHand hand);
};

/// What can be said without models: names there and unique, numbers finite and possible, axes unit,
/// poses rotations, references within the stage, and of every way to move what it needs. kInvalid
/// names hand, thing or sensor.
Status CheckStage(const Stage& stage);
/// CheckStage, and what a mover needs besides: models and tracks there and fitting, places known,
/// everything that yields weighed (geometry::CheckMass). kInvalid names what is missing.
Status CheckPlayable(const Stage& stage);

/// Every length times `factor`; the mass stays.
Result<model::Prop> ScaledProp(model::Prop prop, double factor);
/// Puts a prop, scaled already, on the stage as the thing says: with the mass, friction and
/// compliance said, else its own, else kUnweighed_kg for what yields; a prop without inertia is
/// solid. Afterwards all three stand in the thing (of what does not yield the mass stays as it
/// was). kInvalid: it yields and has no volume. The one rule, for every mover and page.
Status Dress(model::Prop prop, StageThing* thing);
/// A dressed thing of the prop's name, its mass and friction the prop's own where not said.
/// Precondition: it can be dressed (a volume, where it yields).
StageThing Placed(const model::Prop& prop, const geometry::RigidTransform& X_WP,
                  StageThing::Is is = StageThing::Is::kFixed, std::optional<double> mass_kg = {},
                  std::optional<double> friction = {});

/// The one table; T is the middle of its top, z up.
model::Prop TableProp();
/// "table", fixed and dressed, its top's middle at p_W.
StageThing TableAt(const geometry::Vec3& p_W);
/// Just below a dressed thing that has a place.
StageThing TableUnder(const StageThing& thing);

/// A pivot's line in the world as its thing begins.
struct BearingInWorld {
  geometry::Vec3 p_W = geometry::Vec3::Zero(), axis_W = geometry::Vec3::UnitZ();
};
/// Precondition: the thing has a place.
BearingInWorld BearingOf(const StageThing& thing);

/// Of a thing that stands or follows a track: between two frames along the shortest turn, before
/// the first and after the last where it was then. kInvalid: nobody knows where it is then.
Result<geometry::RigidTransform> PoseAt(const StageThing& thing, Timestamp t);
/// X_WS, where the thing that the sensor sits on has a pose at that time.
Result<geometry::RigidTransform> SensorPoseAt(const Stage& stage, const StageSensor& sensor,
                                              Timestamp t);

/// A take: its things as it says where they were, hands among them, and its force sensors. A thing
/// whose pose is measured is so here; its track is a fit's.
Stage StageOfTake(const recording::ClipInfo& info,
                  const std::vector<recording::ForceSensor>& sensors);
/// A grasp with its prop, free and at rest in W = P; the hand in contact, pulled to its squeeze. No
/// weight: a grasp says nothing of it.
Stage StageOfGrasp(const Grasp& grasp);

template <typename A>
void Visit(A& a, Stage& s) {
  a.Field("name", s.name);
  a.Field("hands", s.hands);
  a.Field("things", s.things);
  a.Field("sensors", s.sensors);
  a.Field("gravity_W", s.gravity_W);
  a.Field("touches_itself", s.touches_itself);
  a.Field("judged", s.judged);
  a.Field("hold_ns", s.hold);
}

}  // namespace handhold::artefact
