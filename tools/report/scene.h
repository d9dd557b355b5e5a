/// A scene: everything a page plays, as values, and its JSON. The one thing between what a library
/// holds and tools/viewer, which draws it.
///
/// Built up by scene_fill.h, found in a library by scene_load.h. SI and radians, Z up, forces act
/// on the hand. Nothing of it is stored for good: the JSON's form is tools/viewer/README.md, and a
/// page carries the program that reads it. Tests: tests/tools/report/scene_test.cc.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/shape.h"
#include "database/geometry/transform.h"
#include "database/text/json.h"

namespace handhold::report {

/// Steps that numbers are told in: what no eye and no plot tells apart.
struct SceneSteps {
  double place_m = 1e-5;
  double marker_m = 1e-4;
  double quaternion = 5e-5;  ///< 0.1 mrad
  double force_N = 1e-3;
  double time_s = 1e-6;
};

/// Poses of a node after its fixed one, frame by frame; p or q may be empty.
struct SceneTrack {
  int time = -1;  ///< index into Scene::times_s; -1: does not move
  std::vector<geometry::Vec3> p = {};
  std::vector<Eigen::Vector4d> q = {};  ///< w x y z, each nearer to the one before than its
                                        ///< negative
};

struct SceneShape {
  int shape = 0;  ///< index into Scene::shapes
  geometry::RigidTransform X_NS = {};
};

/// A frame that shapes hang on.
struct SceneNode {
  std::string name = {};
  int parent = -1;  ///< an earlier node; -1: the world
  int thing = 0;
  geometry::RigidTransform X_PN = {};  ///< before the track
  SceneTrack track = {};
  std::vector<SceneShape> shapes = {};
};

struct SceneThing {
  std::string name = {};
  std::string role = {};  ///< "hand", "prop", "lab", "sensor"
};

struct SceneMarkers {
  int time = -1;  ///< -1: there are none
  std::vector<std::string> names = {};
  std::vector<std::vector<geometry::Vec3>> p_WM = {};  ///< per marker, per frame; NaN: missing
};

/// Contacts row by row, by frame.
struct SceneContacts {
  int time = -1;  ///< -1: there are none
  std::vector<int> frame = {}, touch = {};
  std::vector<geometry::Vec3> p_W = {}, normal_W = {}, f_onHand_W = {};  ///< NaN: not known
  std::vector<double> friction = {}, slip_m_per_s = {};                  ///< NaN: not known
  std::vector<std::string> touches = {};                                 ///< "R.index.pad on plate"
};

struct SceneMotion {
  std::string name = {};
  std::string source = "fitted";  ///< "captured", "fitted", "synthesised", "reference"
  std::string hash = {}, verdict = {}, note = {};
  std::vector<SceneThing> things = {};
  std::vector<SceneNode> nodes = {};
  SceneMarkers markers = {};
  SceneContacts contacts = {};
};

/// A curve of one number over time.
struct SceneChannel {
  std::string name = {}, group = {}, unit = {};
  int motion = -1;  ///< index into Scene::motions; -1: of the recording
  int time = 0;
  std::vector<double> y = {}, sd = {};  ///< NaN: missing; sd may be empty
  double step = 0.0;                    ///< told in these; 0: 1e-5 of its range
  std::vector<std::string> parts = {};  ///< nodes, markers or things that it is of, by name
};

struct SceneEvent {
  std::string kind = {};  ///< "touch", "gap", "mark", "note"
  double begin_s = 0.0, end_s = 0.0;
  std::string label = {}, lane = {};
};

struct Scene {
  std::string title, subtitle;
  std::vector<std::array<std::string, 2>> facts;  ///< what it is made of, for people
  std::vector<std::vector<double>> times_s;
  std::vector<geometry::Shape> shapes;
  std::vector<SceneMotion> motions;  ///< the first one is solid, others are its ghosts
  std::vector<SceneChannel> channels;
  std::vector<SceneEvent> events;
  std::vector<std::vector<int>> plots;  ///< channels that are plotted first
  bool beside = false;                  ///< the page opens with its motions side by side
  std::optional<double> open_s;         ///< where the page opens; not said: where it begins

  /// Index of these times; equal ones are kept once. Precondition: ascending.
  int AddTimes(const std::vector<double>& times_s);
  /// Index of this shape; equal ones are kept once.
  int AddShape(const geometry::Shape& shape);
  /// From the first time of anything to the last; {0, 0} when there is none.
  std::array<double, 2> Extent() const;
};

/// kInvalid, naming the place, when parts do not fit together: a track of another length than its
/// times, an index that leads nowhere, a number where none may be missing.
Status CheckScene(const Scene& scene);

/// Precondition: CheckScene(scene).
text::Json SceneToJson(const Scene& scene, const SceneSteps& steps = {});

/// Numbers as whole multiples of `step`, each told as the difference to the last one that was not
/// NaN: {"scale", "offset", "d": [3, -1, null, ...]}.
text::Json CodedNumbers(const std::vector<double>& values, double step);

}  // namespace handhold::report
