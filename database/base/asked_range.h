/// What is said where a span of time that somebody asked for holds nothing.
#pragma once

#include <string>
#include <string_view>

#include "database/base/time.h"

namespace handhold {

/// Empty where `asked` and `there` overlap; else "nothing lies from 30 s on: the markers go from
/// 0.5 s to 8.2 s (--from, --to)". Only the end that misses is named: the other may be open.
std::string NothingWithin(const TimeRange& asked, const TimeRange& there, std::string_view what);

}  // namespace handhold
