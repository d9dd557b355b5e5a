// The tables behind the checks: the house's plan, written down once. Changing one is changing the
// architecture: say why in the README of the module concerned, under Decisions.
#include <string_view>
#include <vector>

#include "tests/house/rules.h"

namespace handhold::house {

const std::vector<Layer>& Layers() {
  static const std::vector<Layer> layers = {
      {"database/base", {}},
      {"database/text", {"database/base"}},
      {"database/geometry", {"database/base", "database/text"}},
      {"database/model", {"database/base", "database/text", "database/geometry"}},
      {"database/skin", {"database/base", "database/geometry", "database/model"}},
      // Recordings need frames, not shapes: of geometry only rotations and transforms.
      {"database/recording",
       {"database/base", "database/geometry/rotation.h", "database/geometry/transform.h"}},
      {"database/artefact",
       {"database/base", "database/text", "database/geometry", "database/model",
        "database/recording"}},
      {"database/step",
       {"database/base", "database/text", "database/model", "database/recording",
        "database/artefact"}},
      {"database/store",
       {"database/base", "database/text", "database/geometry", "database/model",
        "database/recording", "database/artefact"}},
      {"database/exchange",
       {"database/base", "database/text", "database/geometry", "database/model", "database/skin",
        "database/recording", "database/artefact"}},

      {"capture/wire", {"database/base"}},
      {"capture/source",
       {"capture/wire", "database/base", "database/text", "database/geometry",
        "database/recording"}},
      // Never capture/source: a simulator and its driver share constants, not encoders and
      // decoders.
      {"capture/simulator",
       {"capture/wire", "database/base", "database/recording", "database/geometry/rotation.h",
        "database/geometry/transform.h"}},
      {"capture/clock", {"database/base", "database/recording"}},
      {"capture/session",
       {"capture/wire", "capture/source", "capture/clock", "database/base", "database/text",
        "database/geometry", "database/model", "database/recording", "database/artefact",
        "database/store", "database/exchange"}},

      {"fitting",
       {"database/base", "database/text", "database/geometry", "database/model",
        "database/recording", "database/artefact", "database/step"}},
      {"synthesis",
       {"database/base", "database/text", "database/geometry", "database/model",
        "database/recording", "database/artefact", "database/step"}},
      // Contacts for replay come from geometry, never from ODE.
      {"synthesis/contact",
       {"database/base", "database/text", "database/geometry", "database/model",
        "database/artefact"}},
      {"synthesis/world",
       {"database/base", "database/text", "database/geometry", "database/model/skeleton.h",
        "database/model/prop.h"}},

      {"tools/lab",
       {"synthesis/world", "capture/simulator", "database/base", "database/text",
        "database/geometry", "database/model", "database/recording"}},
      {"tools/live", {"tools/lab", "database", "capture"}},
      {"tools/pipeline", {"database", "capture", "fitting", "synthesis"}},
      {"tools/report",
       {"tools/pipeline", "tools/lab/session_begin.h", "tools/lab/truth.h", "database", "fitting",
        "synthesis"}},
      {"tools/handhold", {"tools", "database", "capture", "fitting", "synthesis"}},
      {"tools/viewer",
       {"tools/pipeline", "tools/report", "tools/live/publish.h", "capture/wire", "database"}},
      {"tools/python", {"tools/pipeline", "database", "fitting", "synthesis"}},
  };
  return layers;
}

const std::vector<Fence>& Fences() {
  static const std::vector<Fence> fences = {
      {"SQLite", {"sqlite3.h", "sqlite3ext.h"}, {"database/store"}},
      {"zstd", {"zstd.h", "zdict.h", "zstd_errors.h"}, {"database/store"}},
      {"zlib", {"zlib.h"}, {"tools/report"}},
      {"ezc3d", {"ezc3d", "ezc3d.h"}, {"database/exchange"}},
      {"JSON and TOML libraries", {"nlohmann", "toml++", "valijson"}, {"database/text"}},
      {"Eigen",
       {"Eigen", "unsupported"},
       {"database/geometry", "database/model", "database/skin", "database/recording",
        "database/artefact", "database/store", "database/exchange", "capture/source",
        "capture/simulator", "capture/clock", "capture/session", "fitting", "synthesis", "tools"}},
      {"ODE", {"ode"}, {"synthesis/world"}},
      {"Boost", {"boost"}, {"capture/source"}},
      {"the Vicon SDK",
       {"DataStreamClient.h", "DataStreamRetimingClient.h", "IDataStreamClientBase.h"},
       {"capture/source"}},
      {"Ceres", {"ceres"}, {"fitting", "synthesis/contact_sampling"}},
      {"threads",
       {"thread", "future", "mutex", "shared_mutex", "condition_variable", "semaphore", "latch",
        "barrier", "stop_token", "pthread.h"},
       // The engine only asks which thread it is on, to refuse a second one.
       {"database/base", "database/store", "capture", "tools", "synthesis/world/engine.cc"}},
      {"MuJoCo", {"mujoco"}, {}},
      {"Pinocchio", {"pinocchio"}, {}},
      {"Embree", {"embree3", "embree4"}, {}},
      {"FCL", {"fcl", "ccd"}, {}},
      {"coal", {"coal", "hpp"}, {}},
      {"Siconos", {"siconos", "SiconosNumerics.h", "NonSmoothDrivers.h", "LCP_Solvers.h"}, {}},
      {"HDF5", {"hdf5.h", "hdf5_hl.h", "H5Cpp.h"}, {}},
      {"Google Test and Benchmark", {"gtest", "gmock", "benchmark"}, {}},
      {"planted truth", {"tools/lab/truth.h"}, {"tools/lab", "tools/report", "tools/handhold"}},
  };
  return fences;
}

const std::vector<Independence>& Independences() {
  static const std::vector<Independence> independences = {
      {"the lab's truth shares no code with what is tested against it",
       {"tools/lab"},
       {"database/model/kinematics", "database/model/dynamics", "fitting", "synthesis/contact",
        "synthesis/interaction", "synthesis/grasp_control"}},
      {"the engine composes the skeleton by itself",
       {"synthesis/world"},
       {"database/model/kinematics", "database/model/dynamics", "synthesis/contact"}},
      {"replay contacts never come from ODE", {"synthesis/contact"}, {"synthesis/world"}},
      {"fitting meets the others in values",
       {"fitting"},
       {"capture", "synthesis", "database/store", "database/exchange", "tools"}},
      {"synthesis meets the others in values",
       {"synthesis"},
       {"capture", "fitting", "database/store", "database/exchange", "tools"}},
      {"two methods propose grasps and know nothing of each other",
       {"synthesis/grasp_search"},
       {"synthesis/grasp_control"}},
      {"two methods propose grasps and know nothing of each other",
       {"synthesis/grasp_control"},
       {"synthesis/grasp_search"}},
      {"capture meets the others in values", {"capture"}, {"fitting", "synthesis", "tools"}},
      {"a simulator shares no encoder with its driver",
       {"capture/simulator"},
       {"capture/source", "capture/session", "database/store"}},
      {"the database knows nobody", {"database"}, {"capture", "fitting", "synthesis", "tools"}},
      {"the product does not use the tests",
       {"database", "capture", "fitting", "synthesis", "tools"},
       {"tests"}},
  };
  return independences;
}

}  // namespace handhold::house
