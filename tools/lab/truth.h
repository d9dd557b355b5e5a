/// What a virtual subject really did: the planted parameters and the engine's own record, for tests
/// and `lab report --truth` only.
///
/// Made by MakeSubject (subject.h), written to and read from a `truth/` directory that no fit and
/// no verb but `lab` and `lab report --truth` opens. Every number is either planted (given to the
/// engine) or read from the engine's bodies; nothing here comes from
/// database/model/{kinematics,dynamics}, fitting or synthesis/{contact,interaction}.
///
/// Times are seconds of session time: 0 is marker frame 0 and force sample 0 of the feed, on ideal
/// clocks. Joint angles are q of the planted skeleton (rad). Forces are f_onHand_W: the force the
/// surface exerts on the hand, world axes, N.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "tools/lab/faults.h"

namespace handhold::lab {

/// The joint impedance planted for one task: torque = -K (theta - c) - B (theta' - c'), where K(i,
/// i) = 1 / C_i, K(i, i + 1) = -coupling_i sqrt(K(i, i) K(i + 1, i + 1)) and B(i, j) = sqrt(T_i
/// T_j) K(i, j).
struct PlantedImpedance {
  std::string task;                       ///< "free", "exploring", "scratching"
  Eigen::VectorXd compliance_rad_per_Nm;  ///< nv
  Eigen::VectorXd time_constant_s;        ///< T = damping x compliance, nv
  Eigen::VectorXd coupling = {};  ///< elastic, of joints i and i + 1: nv - 1 shares within -1 .. 1;
                                  ///< empty: none
};

/// One stroke of the motor program, as commanded.
struct TruthStroke {
  int index = 0;         ///< position in Truth::strokes
  std::string task;      ///< "free", "exploring", "scratching"
  std::string posture;   ///< "exploring", "scratching", "curled", "straight", or the options' own
  double begin_s = 0.0;  ///< the finger leaves its rest above the touch point ...
  double end_s = 0.0;    ///< ... and is back at rest; strokes do not overlap
  double speed_m_per_s = 0.0;  ///< of the commanded dip at the surface
  double planned_force_N = 0.0;
  geometry::Vec3 p_W_touch = geometry::Vec3::Zero();  ///< commanded centre of the fingertip at
                                                      ///< touch
  Eigen::VectorXd q_touch;                            ///< commanded posture there
  geometry::Vec3 sweep_W = geometry::Vec3::Zero();    ///< commanded tangential travel, metres
};

/// One contact of the fingertip with the surface in one run. Chatter apart by less than 5 ms counts
/// as one contact.
struct TruthContact {
  int stroke = -1;         ///< index into Truth::strokes
  double onset_s = 0.0;    ///< first instant of non-zero force, to one engine step
  double release_s = 0.0;  ///< end of the last such step
  double peak_normal_force_N = 0.0;
};

/// Evenly sampled record of a run over a stretch of the session. Row i is the instant begin_s + i /
/// rate_hz.
struct TruthSeries {
  double begin_s = 0.0;
  double rate_hz = 0.0;
  Eigen::MatrixXd theta;    ///< rows x nv, rad
  Eigen::MatrixXd p_W_tip;  ///< rows x 3: centre of the fingertip sphere
  /// The following are empty (0 rows) where the series was kept without contact quantities.
  Eigen::MatrixXd theta_dot;   ///< rows x nv, rad/s
  Eigen::MatrixXd f_onHand_W;  ///< rows x 3, summed over contacts; the mean of the steps before and
                               ///< after the instant
  Eigen::MatrixXd p_W_contact;   ///< rows x 3: force-weighted mean of the points where the engine
                                 ///< applied it; NaN without contact
  Eigen::MatrixXd normal_W;      ///< rows x 3: outward normal of the surface, likewise; NaN without
                                 ///< contact
  Eigen::VectorXd slip_m_per_s;  ///< tangential speed of the finger's material at that point; NaN
                                 ///< without contact

  int64_t rows() const { return theta.rows(); }
  double time_s(int64_t i) const { return begin_s + static_cast<double>(i) / rate_hz; }
  double end_s() const { return time_s(rows()); }
  bool has_contact_columns() const { return f_onHand_W.rows() > 0; }
};

/// One pass of the engine through the motor program.
struct TruthRun {
  std::string name;     ///< "reference" (no surface), "captured", "friction_0.1", "friction_1.0",
                        ///< "bump"
  std::string surface;  ///< "none", "plate", "bumped_plate"
  double friction = 0.0;
  /// 500 Hz of session time (marker frame i of a feed whose clock runs true); whole session for
  /// "reference" and "captured", empty for the others.
  TruthSeries session;
  /// 1 kHz with contact columns, one per stroke in order of Truth::strokes, from begin_s to end_s;
  /// for free strokes, and for strokes this run does not contain, with no rows.
  std::vector<TruthSeries> strokes;
  std::vector<TruthContact> contacts;  ///< in order of time

  /// The contacts of one stroke, in order.
  std::vector<TruthContact> ContactsOf(int stroke) const;
};

/// A stretch of the session that an operator would record as one take.
struct TruthTake {
  std::string name;                   ///< "range_of_motion", "free", "exploring", "scratching"
  double begin_s = 0.0, end_s = 0.0;  ///< multiples of 2 ms
};

/// A knock on the plate by something other than the finger: a half sine of normal force seen by the
/// sensor only.
struct TruthKnock {
  double begin_s = 0.0, length_s = 0.0, peak_N = 0.0;
  geometry::Vec3 p_W = geometry::Vec3::Zero();
};

struct Truth {
  uint64_t seed = 0;
  std::string plan;  ///< "full", "brief", "one_stroke", each with "_no_air" or without
  /// The subject's true hand: planted lengths, axes, masses, marker attachments.
  std::shared_ptr<const model::Skeleton> skeleton;
  std::vector<PlantedImpedance> impedances;       ///< one per task
  double reflex_rad = 0.0, reflex_delay_s = 0.0;  ///< 0: none; else theta_r of "captured" departs
                                                  ///< from "reference" after contact
  SensorFaults faults;                            ///< of the sensors
  std::vector<TruthTake> takes;
  std::vector<TruthStroke> strokes;
  std::vector<TruthKnock> knocks;
  /// Strokes that were drawn and could not be done, drawn again: how many, by task, posture and
  /// why.
  std::map<std::string, int> redrawn;
  std::vector<TruthRun> runs;

  /// Where the flat plate's prop frame stood, and the bumped plate's for each posture's strokes
  /// (index as strokes; Identity for free strokes). Plate top is the plane z = plate_top_z_m.
  geometry::RigidTransform X_WPlate;
  std::vector<geometry::RigidTransform> X_WBumped;
  double plate_top_z_m = 0.0;
  double surface_stiffness_N_per_m = 0.0;
  double surface_damping_Ns_per_m = 0.0;
  double tip_radius_m = 0.0;  ///< of the sphere that touches

  const TruthRun* FindRun(std::string_view name) const;                ///< null: not made
  const PlantedImpedance* FindImpedance(std::string_view task) const;  ///< null: no such task
};

/// Linear interpolation of a column block of a series at any time inside it. Precondition: rows()
/// >= 2; `t_s` is clamped.
Eigen::VectorXd Interpolate(const TruthSeries& series, const Eigen::MatrixXd& columns, double t_s);

/// Writes `directory`/truth.json (everything but the series) and one .f64 file per run (README.md
/// says how); creates the directory.
Status WriteTruth(const Truth& truth, const std::string& directory);
Result<Truth> ReadTruth(const std::string& directory);
/// Whether `directory`/truth.json is what WriteTruth would write; kNotFound when there is none.
Result<bool> IsTruth(const Truth& truth, const std::string& directory);

}  // namespace handhold::lab
