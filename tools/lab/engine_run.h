/// One pass of the engine through a motor program: the maker of truth.
#pragma once

#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/model/prop.h"
#include "tools/lab/program.h"
#include "tools/lab/subject.h"

namespace handhold::lab {

/// Everything a run needs that does not change between runs.
struct Laboratory {
  SubjectOptions options;
  std::shared_ptr<const model::Skeleton> skeleton;
  int tip_frame = -1;
  Eigen::VectorXd flexion_sign;
  PlateGeometry plate;
  std::vector<PlantedImpedance> impedances;
  MotorProgram program;
  model::Prop flat, bumped;
  double surface_damping_Ns_per_m = 4.0;
  geometry::RigidTransform X_WPlate;
  std::vector<geometry::RigidTransform> X_WBumped;  ///< per stroke
};

struct RunRequest {
  std::string name, surface;  ///< as TruthRun
  double friction = 0.0;
  bool whole_session = true;  ///< else only the takes with contact
  bool sensors = false;       ///< keep what the devices need
  bool reflex = false;
};

/// The force on the plate at every engine step of a stroke, the sensor's input.
struct WrenchTrace {
  double begin_s = 0.0;  ///< row i holds over [begin_s + i h, begin_s + (i + 1) h)
  Eigen::MatrixXd rows;  ///< x 6: force on the plate in W, its torque about W's origin
};

struct EngineRecord {
  TruthRun run;
  std::vector<double> markers_W;  ///< frame-major, 3 per marker, true positions at the frames'
                                  ///< instants; sensors only
  std::vector<WrenchTrace> traces;
};

Result<EngineRecord> RunEngine(const Laboratory& laboratory, const RunRequest& request);

/// All runs, in order, shared out over `processes`; the result does not depend on it.
Result<std::vector<EngineRecord>> RunAll(const Laboratory& laboratory,
                                         const std::vector<RunRequest>& requests, int processes);

}  // namespace handhold::lab
