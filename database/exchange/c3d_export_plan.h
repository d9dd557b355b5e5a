/// What of a clip goes where in a C3D file, decided before a sample is read. See c3d_writer.h.
#pragma once

#include <array>

#include "database/exchange/c3d_parameters.h"
#include "database/exchange/c3d_writer.h"

namespace handhold::exchange {

/// A marker of a stream: C3D's point, or part of what makes one.
struct PointPlan {
  int stream_id = 0;
  int channel = 0;  ///< of x; y and z follow
  int residual = -1;
  int camera_stream = 0, camera_channel = -1;  ///< mask; 0, -1: none
  std::string label;
  bool is_output = false;  ///< of a model, in its own unit; else a position in metres
};

/// Labels of a model's outputs of one kind: C3D has a parameter for each, and one for its unit.
struct OutputGroup {
  std::string labels_name, unit_name;  ///< "ANGLES", "ANGLE_UNITS"
  std::string unit;
  std::vector<std::string> labels;
};

/// One analog channel of the file.
struct AnalogPlan {
  int stream_id = 0;
  int channel = 0;                                 ///< or component of the sensor's wrench
  const recording::ForceSensor* sensor = nullptr;  ///< null: a plain channel
  std::string label, unit;
  float scale = 1.0f;  ///< of integers
};

struct BodyPlan {
  int stream_id = 0;
  int channel = 0;  ///< of x; y z qw qx qy qz follow
  std::string label;
};

/// A force platform of the file.
struct PlatformExport {
  const recording::ForceSensor* sensor = nullptr;
  std::array<geometry::Vec3, 4> corners_m{};
  geometry::Vec3 origin_m{0, 0, 0};  ///< C3D's ORIGIN: surface's centre from the sensor's origin,
                                     ///< in S
};

struct C3dExportPlan {
  int base_stream = 0;  ///< its samples are the frames
  recording::Rate rate;
  int ratio = 0;  ///< analog samples per frame; 0: none
  int body_ratio = 0;
  int64_t first_counter = 0, frames = 0;
  int64_t first_frame = 1;
  float scale = 0.01f;  ///< mm per count of residuals (and of coordinates in integer files)
  std::vector<PointPlan> points;
  std::vector<OutputGroup> outputs;
  std::vector<AnalogPlan> analog;
  std::vector<BodyPlan> bodies;
  std::vector<PlatformExport> platforms;
  std::vector<std::string> streams;  ///< that are held, by name
};

/// kInvalid when a wanted stream is not there or nothing is left to write.
Result<C3dExportPlan> PlanC3dExport(const recording::ClipSource& clip,
                                    const C3dWriteOptions& options, Issues& issues);

/// Clip time of frame `frame`.
Timestamp FrameTime(const recording::ClipSource& clip, const C3dExportPlan& plan, int64_t frame);

/// The parameters of the file; `data_block` and `rotation_block` from 1 (0: no rotations).
C3dParameters C3dExportParameters(const recording::ClipSource& clip, const C3dExportPlan& plan,
                                  const C3dWriteOptions& options, int data_block,
                                  int rotation_block, Issues* issues);

}  // namespace handhold::exchange
