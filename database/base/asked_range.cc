#include "database/base/asked_range.h"

#include <cstdio>

namespace handhold {
namespace {

std::string Seconds(Timestamp t) {
  char text[48];
  std::snprintf(text, sizeof text, "%.9g s", (t - Timestamp()).seconds());
  return text;
}

}  // namespace

std::string NothingWithin(const TimeRange& asked, const TimeRange& there, std::string_view what) {
  std::string text = "nothing lies ";
  if (asked.begin >= there.end) {
    text += "from " + Seconds(asked.begin) + " on";
  } else if (asked.end <= there.begin) {
    text += "before " + Seconds(asked.end);
  } else if (asked.end <= asked.begin) {
    text += "from " + Seconds(asked.begin) + " to " + Seconds(asked.end);
  } else {
    return "";
  }
  return text + ": " + std::string(what) + " from " + Seconds(there.begin) + " to " +
         Seconds(there.end) + " (--from, --to)";
}

}  // namespace handhold
