/// Vicon (Nexus, Tracker, Shogun) as a Source, through the official DataStream SDK, with the SDK's
/// traps cured.
///
/// Streams: see vicon_layout.h. A frame's counter is the server's frame id (the SDK's number less
/// 1), an analog sample's counter frame id x samples per frame + subsample: both divided by their
/// rates are one device clock. Positions arrive in millimetres and leave in metres; what is not
/// seen is NaN.
///
/// What the SDK does, and what is done about it (capture-protocols.md 1.4; tests in
/// vicon_source_test.cc):
/// - Connect resolves and connects in the caller's thread, for minutes if nobody answers: the
/// source's own thread does
///   it, after a TCP connection of our own has shown within a deadline that somebody listens.
/// - GetFrame waits a second for a frame even when the connection ends: a watcher interrupts it
/// within 20 ms.
/// - After a reconnection nothing is asked for any more: each connection gets a new client, asked
/// anew.
/// - What is asked for comes only some frames later, and markers look occluded until then: three
/// frames are pulled, which
///   orders request and answer, before frames are pushed and delivered.
/// - The queue holds one frame, and a full one drops the oldest without a word: it is made large,
/// and every missing
///   frame is seen by its number.
/// - Every getter takes names: they are resolved once per layout, and a layout that changes opens
/// new streams.
#pragma once

#include <memory>
#include <string>

#include "capture/source/source.h"
#include "database/base/result.h"

namespace handhold::capture {

/// Where an axis of our lab frame points in Vicon's words. Identity: forward, left, up.
enum class ViconAxis { kForward, kBackward, kLeft, kRight, kUp, kDown };

struct ViconSourceOptions {
  std::string name{};  ///< of the device in the rig
  std::string host{};  ///< "192.168.10.1" or "host:801"
  ViconAxis x = ViconAxis::kForward, y = ViconAxis::kLeft, z = ViconAxis::kUp;
  bool unlabelled = true;
  bool devices = true;
  unsigned buffer_frames = 4096;                           ///< the SDK's own queue
  Duration reconnect_period = Duration::Milliseconds(50);  ///< between attempts while the server is
                                                           ///< away
  Duration connect_timeout = Duration::Milliseconds(500);  ///< of one attempt
};

/// kUnsupported when this program was built without the SDK (HANDHOLD_VICON=OFF), kInvalid for a
/// left-handed mapping. Does not touch the network: Probe and Start do.
Result<std::unique_ptr<Source>> MakeViconSource(ViconSourceOptions options);

/// Version of the SDK linked, "1.11.0"; empty without it.
std::string ViconSdkVersion();

}  // namespace handhold::capture
