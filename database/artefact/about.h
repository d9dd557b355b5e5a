/// What options say of themselves, once, in their Visit (describe.h).
#pragma once

#include <limits>

namespace handhold::artefact {

/// What a member that people may set says of itself beside its name (which holds its unit), its
/// type and its default (the struct's own):
///   a.Field("outlier_m", o.outlier_m, About{.help = "leave out markers farther off", .least = 0});
/// Command lines, Python, pages and checks of recipes follow from it.
struct About {
  const char* help = "";   ///< one line, no full stop; empty: only a recipe sets it
  const char* word = "";   ///< what people call it; empty: its name without the unit
  const char* value = "";  ///< stands for a value in help ("MARKER"); "TIME" of a double: seconds
                           ///< that are given as a time
  /// Of a text that is one of a few: "dynamic paper".
  const char* choices = "";
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;     ///< `least` itself lies outside
  const char* flag = "";  ///< the choice ("fast") or "false" that naming it alone means
  bool first = false;     ///< people say it first, without its word
  bool needed = false;    ///< its default is no answer
};

}  // namespace handhold::artefact
