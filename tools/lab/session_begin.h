/// Where in a recorded take a feed's session began: what a rehearsal knows and nobody plants.
///
/// A rehearsal surrounds the session with quiet movement, so that a take of it does not begin with
/// the session's first frame. It keeps this property in the clip; what compares a clip with the
/// truth (tools/report) places the truth in time by it.
#pragma once

namespace handhold::lab {

/// Clip property: CLOCK_MONOTONIC of session time 0, ns, decimal. Absent: the marker stream's
/// counter 0 is session time 0 (MakeClip).
inline constexpr char kSessionBeginProperty[] = "session_begin_host_ns";

}  // namespace handhold::lab
