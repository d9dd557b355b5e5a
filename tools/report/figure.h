/// Plots and pictures of a report as plain values, and their inline SVG: axes with units, shaded
/// intervals, legends, and a sentence for those who do not see them.
///
/// Colours come from the page's style by role (light, dark, print), and every role also has its own
/// dash or mark, so that no meaning hangs on colour alone. Tests:
/// tests/tools/report/figure_test.cc.
#pragma once

#include <string>
#include <vector>

#include "tools/report/png.h"

namespace handhold::report {

class Html;

/// What a curve or a set of points stands for: decides colour, dash and mark on the whole page.
enum class Role {
  kMeasured,      ///< fitted to what sensors saw
  kReference,     ///< theta_r: what the hand would have done
  kExtrapolated,  ///< polynomials through the time before contact
  kTruth,         ///< planted, or the engine's own record
  kReplay,        ///< synthesised, with fitted values
  kPaper,         ///< the paper's estimator
  kOther,         ///< a further replay
};

struct Curve {
  std::string name;
  Role role = Role::kMeasured;
  std::vector<double> x, y;  ///< equally long; NaN breaks the curve
  bool is_points = false;    ///< marks instead of a line
};

/// An interval of x that means something: a contact.
struct Band {
  double begin = 0.0, end = 0.0;
  std::string label;
};

struct Panel {
  std::string title;
  std::string x_label, y_label;  ///< with units: "time after onset, ms"
  std::vector<Curve> curves;
  std::vector<Band> bands;
  bool zero_line = false;  ///< draws y = 0
};

struct Figure {
  std::string id;           ///< anchor, unique on the page
  std::string title;        ///< "Joint angles around one onset"
  std::string caption;      ///< how to read it
  std::string alternative;  ///< what it shows, in words and figures, for those who do not see it
  std::vector<Panel> panels;
};

/// An arrow or a line drawn over a picture, in its pixels. An outline has no role: it belongs to
/// the picture.
struct Mark {
  enum class Kind { kArrow, kDot, kLine, kOutline, kText } kind = Kind::kDot;
  double x0 = 0.0, y0 = 0.0, x1 = 0.0, y1 = 0.0;
  std::string text;
  Role role = Role::kMeasured;
};

struct Picture {
  Image image;  ///< transparent where nothing is: it stands on any background
  std::vector<Mark> marks;
  std::string title, alternative;
};

/// Round values in [lower, upper], about `count` of them, ascending; one value when the range is
/// empty or not finite.
std::vector<double> Ticks(double lower, double upper, int count);

/// Appends a <figure>: its panels side by side, one legend, the caption.
void WriteFigure(const Figure& figure, int number, Html* html);
/// Appends one picture as an <svg> with the PNG inside.
void WritePicture(const Picture& picture, Html* html);

}  // namespace handhold::report
