/// Motor programs: what the virtual subject is told to do, as joint trajectories at 1 kHz, before
/// any physics.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "tools/lab/chain.h"
#include "tools/lab/subject.h"

namespace handhold::lab {

inline constexpr double kProgramRate_Hz = 1000.0;

/// The share of a minimum-jerk path that is done at share s of its time; 0 before it, 1 after.
double MinimumJerk(double s);

/// A take's worth of program under one impedance. It begins and ends at rest, where the take before
/// it ended, so that takes join without a seam.
struct ProgramSegment {
  TruthTake take;
  int impedance = 0;  ///< index into Truth::impedances
  int first_stroke = 0, stroke_count = 0;
  Eigen::MatrixXd q;  ///< rows at 1 kHz from take.begin_s to take.end_s, both included; what the
                      ///< subject intends
  Eigen::MatrixXd command;  ///< q + C g(q): with the spring's sag under gravity taken up
};

struct MotorProgram {
  std::vector<ProgramSegment> segments;
  std::vector<TruthStroke> strokes;
  std::map<std::string, int> redrawn;  ///< draws thrown away, by reason
  double length_s() const { return segments.back().take.end_s; }
};

/// The plate's top and the fingertip's radius, which the program must know.
struct PlateGeometry {
  double top_z_m = 0.0;
  double tip_radius_m = 0.0;
  double compliance_m_per_N = 0.0;
};

/// Plans a whole session. kInvalid when a posture cannot be reached at all.
Result<MotorProgram> PlanSession(const SubjectOptions& options, const Chain& chain,
                                 const PlateGeometry& plate,
                                 const std::vector<PlantedImpedance>& impedances);

/// The command of a segment as a smooth function of time: cubic Hermite through the 1 kHz rows.
class CommandCurve {
 public:
  explicit CommandCurve(const Eigen::MatrixXd& rows);
  /// Value and rate at `t_s` from the segment's begin, clamped to it.
  void Evaluate(double t_s, Eigen::VectorXd* value, Eigen::VectorXd* rate) const;

 private:
  Eigen::MatrixXd rows_, rates_;
};

}  // namespace handhold::lab
