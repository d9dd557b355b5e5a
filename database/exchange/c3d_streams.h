/// Which streams a C3D file becomes, and from which of its points and channels each is made.
#pragma once

#include <vector>

#include "database/exchange/c3d_contents.h"
#include "database/exchange/c3d_frames.h"
#include "database/recording/force_sensor.h"

namespace handhold::exchange {

/// What a stream is made of.
enum class C3dContent {
  kMarkers,
  kOutputs,     ///< points that are no positions
  kCameras,     ///< masks
  kPlate,       ///< raw channels of a platform
  kPlateType1,  ///< six components computed from a platform's channels
  kAnalog,      ///< all other channels
  kRotations
};

struct C3dStreamPlan {
  C3dContent content = C3dContent::kMarkers;
  std::vector<int> points;            ///< of the first three
  std::vector<AnalogColumn> columns;  ///< of what is analog
  int platform = -1;                  ///< of a plate: which of the file's
};

struct C3dStreams {
  std::vector<recording::StreamInfo> infos;  ///< ids 1, 2, ...
  std::vector<C3dStreamPlan> plans;          ///< parallel to infos
  std::vector<recording::ForceSensor> sensors;
};

/// `any_mask`: some point's fourth word names a camera.
C3dStreams PlanC3dStreams(const C3dContents& contents, bool any_mask, Issues& issues);

}  // namespace handhold::exchange
