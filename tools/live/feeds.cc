#include "tools/live/feeds.h"

#include "capture/simulator/pattern_feed.h"

namespace handhold::live {

Result<Feed> OpenFeed(const std::string& given, Duration pattern_length) {
  Feed out;
  if (given == "pattern") {
    capture::PatternOptions pattern;
    pattern.marker_count = 9;
    pattern.marker_clock_ppm = 40;
    pattern.force_clock_ppm = -25;
    pattern.seconds = pattern_length.seconds();
    out.feed = std::make_unique<capture::PatternFeed>(pattern);
    out.what = "a pattern";
    out.length = pattern_length;
    return out;
  }
  std::unique_ptr<lab::SensorFeed> subject;
  if (given.empty()) {
    lab::SubjectOptions options;
    options.plan = lab::Plan::Brief();
    options.sensor.marker_clock_ppm = 40;
    options.sensor.force_clock_ppm = -25;
    options.counterfactual_friction = {};
    options.bump = false;
    options.processes = 2;
    HANDHOLD_ASSIGN(lab::Subject made, lab::MakeSubject(options));
    subject = std::make_unique<lab::SensorFeed>(std::move(made.feed));
    out.what = "a simulated subject";
  } else {
    HANDHOLD_ASSIGN(lab::SensorFeed read, lab::ReadFeed(given));
    subject = std::make_unique<lab::SensorFeed>(std::move(read));
    out.what = given;
  }
  out.length = Duration::FromSeconds(static_cast<double>(subject->frame_count()) /
                                     subject->marker_rate_hz());
  out.subject = subject.get();
  out.feed = std::move(subject);
  return out;
}

}  // namespace handhold::live
