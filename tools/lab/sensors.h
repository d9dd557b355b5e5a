/// What the devices of the laboratory make of a captured run: noise, occlusion, drift, clocks.
#pragma once

#include "tools/lab/engine_run.h"
#include "tools/lab/subject.h"

namespace handhold::lab {

/// The force sensor under the plate.
recording::ForceSensor MakeForceSensor(const geometry::RigidTransform& X_WPlate);

/// Precondition: `captured` was run with sensors.
SensorFeed Sense(const Laboratory& laboratory, const EngineRecord& captured,
                 const std::vector<TruthTake>& takes, const std::vector<TruthKnock>& knocks);

}  // namespace handhold::lab
