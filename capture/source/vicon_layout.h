/// What a Vicon server streams, with its names resolved once, and the streams that this becomes.
#pragma once

#include <string>
#include <vector>

#include "database/recording/stream.h"

namespace handhold::capture {

struct ViconSubject {
  std::string name;
  std::vector<std::string> markers;  ///< each name once
  int listed = 0;                    ///< as many as the server lists, repeated names included
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
  /// Outputs that had no sample in the frame from which this was read, one per entry:
  /// a device that is still starting, or slower than the cameras. In no stream until they begin.
  std::vector<ViconAnalog> silent;
  bool timecode = false;
  int subject_count = 0;                 ///< as the server says, whatever became of them
  int device_count = 0;                  ///< as the server says, whatever became of them
  std::vector<int> device_output_count;  ///< per device
  /// Names that occur twice: the vendor's library answers by name, so only the first can be read.
  /// For people.
  std::vector<std::string> unreachable;

  int marker_count() const;
  bool operator==(const ViconLayout&) const = default;
};

/// Where the streams of a layout stand in its announcement; analogs follow from `analogs` on.
struct ViconStreamOrder {
  int points = 0, analogs = 1;
  int markers = -1, trajectories = -1;  ///< -1: no marker is labelled, and neither is announced
};
ViconStreamOrder StreamOrder(const ViconLayout& layout);

/// No stream is without channels and no stream has two channels of one name: "A" again is "A~2".
/// "NAME/markers" (m, kMarkers), "NAME/trajectories" (the server's id of each labelled marker: it
/// changes when a label jumps), "NAME/points" (unlabelled), one stream per analog ("NAME/DEVICE", a
/// plate: kForceTorque in N and N m, and "NAME/DEVICE.cop"), and at last "NAME/timecode" when there
/// is one. Markers are called as in Vicon; with more than one subject, "SUBJECT:MARKER".
std::vector<recording::StreamInfo> ViconStreams(const std::string& name, const ViconLayout& layout);

/// 135e6 / ticks, reduced. `hz` as the server says it; 0 when it is none that a camera has (below
/// 1 Hz or above 100 kHz).
recording::Rate ViconRate(double hz);

}  // namespace handhold::capture
