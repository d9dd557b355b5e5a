/// Puts hands, props, markers, contacts and curves into a scene, each from the values that the
/// library keeps.
///
/// Long takes are thinned: a scene shows every n-th frame, so that a page of a minute stays small
/// and quick; curves keep the least and the greatest of what they leave out. Tests:
/// tests/tools/report/scene_fill_test.cc.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "database/artefact/motion.h"
#include "database/base/time.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/recording/clip.h"
#include "tools/report/scene.h"

namespace handhold::report {

struct SceneLimits {
  int frames = 6000;  ///< of a hand, a prop, markers: 100 Hz for a minute
  int points = 4000;  ///< of a curve
};

/// Which of `count` frames are shown: every n-th, n the least that keeps within `most`.
std::vector<int> ShownFrames(size_t count, int most);
std::vector<double> SecondsOf(const std::vector<Timestamp>& times, std::span<const int> frames);

/// The skeleton as nodes that follow q (nq x frames; columns `frames`, told at `time`). Bodies keep
/// their names.
void AddHand(const std::string& name, const model::Skeleton& skeleton, const Eigen::MatrixXd& q,
             std::span<const int> frames, int time, Scene* scene, SceneMotion* motion);

/// A prop that stands still (one pose; time is not used) or moves (one pose per frame shown).
void AddProp(const std::string& name, const std::string& role, const model::Prop& prop,
             const std::vector<geometry::RigidTransform>& X_WP, int time, Scene* scene,
             SceneMotion* motion);

/// All hands and things of a motion whose models were looked up, at the frames shown.
Status AddMotionNodes(const artefact::Motion& from, std::span<const int> frames, int time,
                      Scene* scene, SceneMotion* motion);

/// A force sensor: a small set of axes where it sits; nothing of one whose place is not known.
void AddSensor(const recording::ClipInfo& info, const recording::ForceSensor& sensor, Scene* scene,
               SceneMotion* motion);

/// The labelled markers of a stream.
Status AddMarkers(const recording::ClipSource& clip, const recording::StreamInfo& stream,
                  const SceneLimits& limits, Scene* scene, SceneMotion* motion);

/// A curve of many samples: of every stretch the least and the greatest, where they were. NaN
/// breaks it.
void AddCurve(std::string name, std::string group, std::string unit, int motion,
              const std::vector<double>& times_s, const std::vector<double>& y, int points,
              Scene* scene);

/// Forces of every sensor (normal force, and along the axes of W where it does not move), how many
/// markers were seen, and analog channels; gaps, touches the indexer found, marks.
Status AddRecording(const recording::ClipSource& clip, const SceneLimits& limits, Scene* scene);

/// Channels whose names these are, one plot each: what is plotted first. Missing ones are left out.
void PlotFirst(const std::vector<std::vector<std::string>>& plots, Scene* scene);

}  // namespace handhold::report
