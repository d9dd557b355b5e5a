/// A virtual subject: a finger in forward dynamics that strokes a plate, what sensors saw of it,
/// and the truth behind it.
///
/// MakeSubject plans a motor program (a commanded joint trajectory), runs it in the engine once
/// without a surface (that run is the true reference trajectory, Kry & Pai section 3.4) and once on
/// the plate; further runs on other surfaces are the counterfactuals. The sensor side (SensorFeed)
/// holds no planted parameter: it is what `live simulate` plays and what MakeClip turns into a clip
/// in memory. Everything follows from the options: the same options give the same bits on the same
/// machine.
///
/// The laboratory: W is right-handed, Z up, the wrist as the skeleton places it, the finger along
/// +X; the plate's top lies `plate_depth_m` below the wrist, its outward normal +Z; the force
/// sensor stands below it, turned by 30 degrees about Z.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "capture/simulator/simulator_feed.h"
#include "database/base/result.h"
#include "database/recording/clip.h"
#include "tools/lab/faults.h"
#include "tools/lab/truth.h"

namespace handhold::lab {

/// Something the operator wrote down, session time; kind "take" or "stroke" (text: its task).
struct FeedEvent {
  double begin_s = 0.0, length_s = 0.0;
  std::string kind, text;
};

/// What the devices saw: markers at 500 Hz and the wrench at 7 kHz on ideal clocks from session
/// time 0.
class SensorFeed : public capture::SimulatorFeed {
 public:
  struct Data {
    std::string subject;  ///< "finger4"
    double marker_rate_hz = 500.0, force_rate_hz = 7000.0;
    std::vector<std::string> marker_names;
    double marker_clock_ppm = 0.0, force_clock_ppm = 0.0;
    std::vector<float> markers_m;  ///< frame-major, 3 per marker; NaN: occluded
    std::vector<float> wrench_S;  ///< sample-major, fx fy fz tx ty tz: of the hand on the plate, in
                                  ///< S, torque about its origin
    recording::ForceSensor sensor;      ///< name "plate"; calibration per count, X_MS, normal;
                                        ///< stream_id 0
    geometry::RigidTransform X_WPlate;  ///< where the operator measured the plate: the prop
                                        ///< "flat_plate"
    std::vector<FeedEvent> events;
    std::vector<TruthTake> takes;
  };
  explicit SensorFeed(Data data);

  double marker_rate_hz() const override { return data_.marker_rate_hz; }
  const std::string& subject() const override { return data_.subject; }
  const std::vector<std::string>& marker_names() const override { return data_.marker_names; }
  int64_t frame_count() const override;
  void Markers(int64_t frame, std::span<double> xyz_m) const override;
  double force_rate_hz() const override { return data_.force_rate_hz; }
  int64_t force_count() const override;
  void Wrench(int64_t sample, std::span<double, 6> wrench_S) const override;
  double marker_clock_ppm() const override { return data_.marker_clock_ppm; }
  double force_clock_ppm() const override { return data_.force_clock_ppm; }

  const Data& data() const { return data_; }
  /// Only the stretch [begin_s, end_s), times and events starting again at 0. Both are rounded to
  /// whole marker frames.
  SensorFeed Cut(double begin_s, double end_s) const;

 private:
  Data data_;
};

/// `.feed`: a JSON header and two blocks of float32 (README.md). Byte-identical for equal feeds.
Status WriteFeed(const SensorFeed& feed, const std::string& path);
Result<SensorFeed> ReadFeed(const std::string& path);
/// Whether the file at `path` is what WriteFeed would write; kNotFound when there is none.
Result<bool> IsFeed(const SensorFeed& feed, const std::string& path);

/// How well the clip's clock maps are fitted: drawn errors of synthetic clips. All zero: exact.
struct ClipOptions {
  std::string name = "session";
  double clock_offset_sd_s = 0.0;  ///< of each device's map
  double clock_rate_sd = 0.0;
  uint64_t seed = 1;
};

/// The feed as a recorded take: streams "vicon/markers" (channels "NAME.x" ..., m, grid 1e-5) and
/// "plate/wrench" (fx .. tz, counts), the force sensor "plate", events by "operator". No gaps.
/// Values lie on the streams' grids, as after storing.
recording::Clip MakeClip(const SensorFeed& feed, const ClipOptions& options = {});

/// A posture of touching: flexion of each joint in degrees; the wrist is then turned until the tip
/// meets the plate.
struct Posture {
  std::string name;
  std::vector<double> flexion_deg;
  double jitter_deg = 5.0;  ///< uniform, each joint but the wrist, per stroke
  double min_sweep_m = 0.030, max_sweep_m = 0.060;
  bool sweeps_outward = false;  ///< away from the wrist; else towards it
};

/// What the subject is asked to do. Counts are per subject, dealt over the postures in turn.
struct Plan {
  std::string name = "full";
  double range_of_motion_s = 20.0;
  int knocks = 3;
  int free_strokes = 12;
  int exploring_strokes = 24;
  int scratching_strokes = 24;
  std::vector<Posture> postures;  ///< empty: the four of the study
  double min_speed_m_per_s = 0.050, max_speed_m_per_s = 0.200;
  double exploring_force_N[2] = {0.7, 2.0};  ///< commanded depth is this force times the static
                                             ///< endpoint compliance
  double scratching_force_N[2] = {1.5, 4.0};

  static Plan Full();       ///< the whole session: about 110 s
  static Plan Brief();      ///< 8 s range of motion, 8 free, 8 + 8 strokes: about 40 s; for CI and
                            ///< quick looks
  static Plan OneStroke();  ///< 2 s of motion, no knocks, 2 free strokes, 1 exploring stroke
  Plan WithoutAir() const;  ///< the same without free strokes, its name with "_no_air"
};

struct SensorOptions {
  double marker_noise_m = 5e-5;
  int occlusions_per_minute = 1;  ///< of one marker
  double occlusion_s = 0.080;
  double force_noise_N = 0.02, torque_noise_Nm = 2e-4;  ///< white, per sample at 7 kHz
  /// How fast the devices' clocks run: index i is sampled at session time i / (rate (1 + ppm
  /// 1e-6)), as SimulatorFeed says.
  double marker_clock_ppm = 0.0, force_clock_ppm = 0.0;
  SensorFaults faults = {};
  bool noise = true;  ///< false: no noise, no occlusion
};

struct SubjectOptions {
  uint64_t seed = 1;
  Plan plan = Plan::Full();
  SensorOptions sensor;
  /// The planted hand; null: schemas/hands/finger4.json. Markers are then moved by up to
  /// `marker_placement_m` on each axis, so that no file in the tree holds the truth.
  std::shared_ptr<const model::Skeleton> skeleton;
  double marker_placement_m = 0.002;
  /// Planted impedance: Table 1 and the study's time constants unless replaced. Rows exploring,
  /// scratching.
  std::vector<PlantedImpedance> impedances;
  /// Elastic coupling of joints i and i + 1 (PlantedImpedance) in every task that has none of its
  /// own: nv - 1 shares; empty: none.
  Eigen::VectorXd coupling = {};
  double palm_mass = 1.0;  ///< on the mass of the first body that has one: a palm of another hand
  double friction = 0.5;   ///< of the captured run
  std::vector<double> counterfactual_friction = {0.1, 1.0};  ///< runs on the flat plate; empty:
                                                             ///< none
  bool bump = true;                                          ///< the run on the bumped plate
  double reflex_rad = 0.0;        ///< all commands move by this (flexing) ...
  double reflex_delay_s = 0.060;  ///< ... this long after onset, over 20 ms
  double step_s = 1e-4;           ///< of the engine
  int processes = 1;              ///< runs are shared out by fork; results do not depend on it
};

struct Subject {
  SensorFeed feed;
  Truth truth;
};

/// Makes a subject. Cost: about 1 s of CPU per 25 s of session and run in release. kInvalid names
/// the option that is wrong.
Result<Subject> MakeSubject(const SubjectOptions& options);

/// Writes `folder`/session.feed and `folder`/truth/. Over the same subject, also half of one, never
/// over another: kInvalid, naming the folder (MayWriteSubject says so without writing).
Status WriteSubject(const Subject& subject, const std::string& folder);
Status MayWriteSubject(const Subject& subject, const std::string& folder);
/// The same, as far as truth.json in `folder` tells it before a subject of `options` is made: its
/// seed, plan and runs. Where this agrees, MayWriteSubject may still refuse: of the noise it says
/// nothing. Cost: reading that file.
Status MayMakeSubject(const SubjectOptions& options, const std::string& folder);

}  // namespace handhold::lab
