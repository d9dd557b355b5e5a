/// The thing in a captured hand, as the primitive that a search begins from: sphere, cylinder, disk
/// or box with its size, taken from the prop that the clip touched.
///
/// Touches come from contact tracks, the props' places from where the things stood or from their
/// tracks. Pinned by tests/fitting/grasp_space/touched_primitive_test.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "database/artefact/contact_track.h"
#include "database/artefact/grasp_space.h"
#include "database/artefact/pose_track.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::fitting {

/// The nearest primitive of a shape.
struct Primitive {
  std::string kind;            ///< "sphere", "cylinder", "disk" (a cylinder wider than long), "box"
  geometry::Vec3 half_size_m;  ///< of a cylinder or disk: radius, radius, half length
  geometry::RigidTransform X_SO;  ///< z along a cylinder's axis
  double off_m = 0.0;  ///< mean distance of the shape's surface from the primitive's; 0: it is one
};

/// Spheres, cylinders and boxes are their own, a capsule is a cylinder of the same length over all;
/// of a hull or mesh the one that its triangles lie nearest to, by area, of the bounding box, a
/// cylinder along each axis of its frame and a sphere, each of the bounds' size.
Primitive PrimitiveOf(const geometry::Shape& shape);

/// Where a thing of a take was.
struct PlacedThing {
  model::Prop prop;
  std::vector<Timestamp> times;                ///< ascending; empty: it stood still
  std::vector<geometry::RigidTransform> X_WT;  ///< one where it stood still, else per time
};

/// What the hand of one pose track touched.
struct TakeTouches {
  std::vector<artefact::ContactTrack> contacts;  ///< any number: one per sensor
  std::map<std::string, PlacedThing> things;     ///< by the names that touches give
};

enum class Touched {
  kNothing,  ///< no touch at that time
  kUnknown,  ///< a thing without a prop, or whose place at that time is not known (20 ms)
  kThing
};

/// Fills the primitive, its place in the hand, and the opposition of `grasp` from the shape that is
/// touched at the frame's time (of several things the one with most force): the opposition goes
/// from what presses on one side (the palm, else the thumb) to the fingers. `precision`: the palm
/// does not touch and the type (Feix; may be empty) is no power grasp. Else leaves it alone.
Touched TakePrimitive(const model::Skeleton& skeleton, const artefact::PoseTrack& track, int frame,
                      const TakeTouches& touches, artefact::GraspTemplate* grasp);

}  // namespace handhold::fitting
