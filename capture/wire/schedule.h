/// Threads that must not be late.
#pragma once

namespace handhold::capture::wire {

/// What a thread is for, and so its real-time priority: low among them, so that drivers and a
/// desktop's sound server stay above.
enum class Urgency {
  kEncoder = 2,  ///< empties the rings: seconds of slack
  kSource = 5,   ///< takes packets from a device
  kDevice = 8,   ///< is a simulated device: as punctual as hardware, whatever reads it
};

/// Asks for real-time scheduling (SCHED_RR) of the calling thread and of those that it starts from
/// here on, so that other work on the machine does not keep it from a packet. False: not permitted,
/// and nothing has changed (capture/README.md says how to permit it). The thread must wait, never
/// spin.
bool AskForRealTime(Urgency urgency);

}  // namespace handhold::capture::wire
