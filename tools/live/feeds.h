/// What a rehearsal plays: a subject's session from a file, a subject made on the spot, or a
/// pattern.
#pragma once

#include <memory>
#include <string>

#include "tools/lab/subject.h"

namespace handhold::live {

struct Feed {
  std::unique_ptr<capture::SimulatorFeed> feed;
  const lab::SensorFeed* subject = nullptr;  ///< `feed` when it is a subject's; else null
  std::string what;                          ///< for people
  Duration length;
};

/// `pattern`: nine markers and a wrench computed from their index, `pattern_length` long; empty: a
/// subject is made (brief, of seed 1; some seconds); else the path of a session.feed.
Result<Feed> OpenFeed(const std::string& given, Duration pattern_length);

}  // namespace handhold::live
