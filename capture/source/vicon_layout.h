/// What a Vicon server streams, with its names resolved once, and the streams that this becomes.
#pragma once

#include <string>
#include <vector>

#include "database/recording/stream.h"

namespace handhold::capture {

struct ViconSubject {
  std::string name;
  std::vector<std::string> markers;
  bool operator==(const ViconSubject&) const = default;
};

/// One value of a device: the vendor's names for it.
struct ViconOutput {
  std::string output;     ///< "Force"
  std::string component;  ///< "Fx"
  std::string unit;       ///< ours: "N", "N m", "V", "1" when unknown
  bool operator==(const ViconOutput&) const = default;
};

/// Outputs of one device that share a rate and a meaning: one stream.
struct ViconAnalog {
  std::string device;
  bool wrench = false;  ///< Fx Fy Fz Mx My Mz of a force plate
  bool cop = false;     ///< its centre of pressure
  std::vector<ViconOutput> outputs;
  int samples_per_frame = 1;
  bool operator==(const ViconAnalog&) const = default;
};

struct ViconLayout {
  recording::Rate rate;  ///< exact: the protocol counts ticks of 135 MHz
  std::vector<ViconSubject> subjects;
  std::vector<ViconAnalog> analogs;
  bool timecode = false;
  int device_count = 0;                  ///< as the server says, whatever became of them
  std::vector<int> device_output_count;  ///< per device
  /// Names that occur twice: the vendor's library answers by name, so only the first can be read.
  /// For people.
  std::vector<std::string> unreachable;

  int marker_count() const;
  bool operator==(const ViconLayout&) const = default;
};

// Order of the streams of one announcement; analogs follow.
inline constexpr int kViconMarkers = 0, kViconTrajectories = 1, kViconPoints = 2,
                     kViconFixedStreams = 3;

/// "NAME/markers" (m, kMarkers), "NAME/trajectories" (the server's id of each labelled marker: it
/// changes when a label jumps), "NAME/points" (unlabelled), one stream per analog ("NAME/DEVICE", a
/// plate: kForceTorque in N and N m, and "NAME/DEVICE.cop"), and at last "NAME/timecode" when there
/// is one. Markers are called as in Vicon; with more than one subject, "SUBJECT:MARKER".
std::vector<recording::StreamInfo> ViconStreams(const std::string& name, const ViconLayout& layout);

/// 135e6 / ticks, reduced. `hz` as the server says it.
recording::Rate ViconRate(double hz);

}  // namespace handhold::capture
