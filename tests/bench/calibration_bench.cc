// bench.calibration: how fast this machine is beside the one that absolute speeds are promised for.
#include "tests/support/bench.h"

int main(int argc, char** argv) {
  using namespace handhold::bench;
  return Main(argc, argv, HANDHOLD_BENCH_MARKS, [](Reporter& reporter) {
    Result result;
    result.value = Repeat(9, [] { return Calibrate_ns(); });
    result.unit = "ns/step";
    result.peer = kReferenceMachine;
    result.peer_value = {kReferenceCalibration_ns, 0};
    reporter.Report("bench.calibration", result);
  });
}
