#include "tools/report/figure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

#include "tools/report/html.h"

namespace handhold::report {
namespace {

// Size of a panel in its own units; text is 11 of them, so panels are shown at about their size.
constexpr double kWidth = 340, kHeight = 232, kRight = 10, kTop = 26, kBottom = 40;

std::string_view ClassOf(Role role) {
  switch (role) {
    case Role::kMeasured:
      return "c-measured";
    case Role::kReference:
      return "c-reference";
    case Role::kExtrapolated:
      return "c-extrapolated";
    case Role::kTruth:
      return "c-truth";
    case Role::kReplay:
      return "c-replay";
    case Role::kPaper:
      return "c-paper";
    case Role::kOther:
      break;
  }
  return "c-other";
}

std::string Pixel(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

struct Range {
  double lower = std::numeric_limits<double>::infinity(), upper = -lower;
  void Include(double v) {
    if (!std::isfinite(v)) return;
    lower = std::min(lower, v), upper = std::max(upper, v);
  }
  void Widen(double share) {
    if (!(lower <= upper)) lower = 0, upper = 1;
    const double size = upper > lower ? upper - lower : std::max(1e-9, std::abs(upper));
    lower -= share * size, upper += share * size;
  }
};

struct Axes {
  Range x, y;
  double left = 52;  ///< of the plot: what the panel's numbers leave
  double X(double v) const {
    return left + (kWidth - left - kRight) * (v - x.lower) / (x.upper - x.lower);
  }
  double Y(double v) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * (v - y.lower) / (y.upper - y.lower);
  }
};

Axes AxesOf(const Panel& panel) {
  Axes axes;
  for (const Curve& curve : panel.curves) {
    for (size_t i = 0; i < curve.x.size(); ++i) {
      if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.y[i])) continue;
      axes.x.Include(curve.x[i]);
      axes.y.Include(curve.y[i]);
    }
  }
  if (panel.zero_line) axes.y.Include(0);
  axes.x.Widen(0.01);
  axes.y.Widen(0.06);
  return axes;
}

std::string TickText(double v, double step) {
  const int decimals =
      step > 0 ? std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))) : 2;
  return Fixed(v, std::min(decimals, 6));
}

// As wide as a panel's widest number needs beside its turned label: digits are at most 6.7 wide.
double LeftOf(const Panel& panel) {
  const Axes axes = AxesOf(panel);
  const std::vector<double> ys = Ticks(axes.y.lower, axes.y.upper, 5);
  size_t most = 0;
  for (const double v : ys) {
    size_t letters = 0;
    for (const char c : TickText(v, ys.size() > 1 ? ys[1] - ys[0] : 0))
      letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    most = std::max(most, letters);
  }
  return std::max(52.0, 27.0 + 6.7 * static_cast<double>(most));
}

void WriteAxes(const Panel& panel, const Axes& axes, Html* html) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  for (const Band& band : panel.bands) {
    const double x0 = std::max(axes.X(band.begin), axes.left),
                 x1 = std::min(axes.X(band.end), right);
    if (!(x1 > x0)) continue;
    html->Empty("rect", {{"class", "band"},
                         {"x", Pixel(x0)},
                         {"y", Pixel(kTop)},
                         {"width", Pixel(x1 - x0)},
                         {"height", Pixel(bottom - kTop)}});
  }
  const std::vector<double> xs = Ticks(axes.x.lower, axes.x.upper, 5);
  const std::vector<double> ys = Ticks(axes.y.lower, axes.y.upper, 5);
  for (const double v : xs) {
    html->Empty("line", {{"class", "tick"},
                         {"x1", Pixel(axes.X(v))},
                         {"x2", Pixel(axes.X(v))},
                         {"y1", Pixel(bottom)},
                         {"y2", Pixel(bottom + 4)}});
    html->Element("text", TickText(v, xs.size() > 1 ? xs[1] - xs[0] : 0),
                  {{"class", "tick-x"}, {"x", Pixel(axes.X(v))}, {"y", Pixel(bottom + 15)}});
  }
  for (const double v : ys) {
    html->Empty("line", {{"class", "grid"},
                         {"x1", Pixel(axes.left)},
                         {"x2", Pixel(right)},
                         {"y1", Pixel(axes.Y(v))},
                         {"y2", Pixel(axes.Y(v))}});
    html->Element(
        "text", TickText(v, ys.size() > 1 ? ys[1] - ys[0] : 0),
        {{"class", "tick-y"}, {"x", Pixel(axes.left - 6)}, {"y", Pixel(axes.Y(v) + 3.5)}});
  }
  if (panel.zero_line) {
    html->Empty("line", {{"class", "zero"},
                         {"x1", Pixel(axes.left)},
                         {"x2", Pixel(right)},
                         {"y1", Pixel(axes.Y(0))},
                         {"y2", Pixel(axes.Y(0))}});
  }
  html->Empty("line", {{"class", "axis"},
                       {"x1", Pixel(axes.left)},
                       {"x2", Pixel(right)},
                       {"y1", Pixel(bottom)},
                       {"y2", Pixel(bottom)}});
  html->Element(
      "text", panel.x_label,
      {{"class", "label-x"}, {"x", Pixel(0.5 * (axes.left + right))}, {"y", Pixel(kHeight - 6)}});
  const double middle = 0.5 * (kTop + bottom);
  html->Element("text", panel.y_label,
                {{"class", "label-y"},
                 {"x", "12"},
                 {"y", Pixel(middle)},
                 {"transform", "rotate(-90 12 " + Pixel(middle) + ")"}});
  html->Element("text", panel.title,
                {{"class", "panel-title"}, {"x", Pixel(axes.left)}, {"y", "14"}});
}

// Over the curves, with a halo (the style sheet's): lines may pass below, never through.
void WriteBandLabels(const Panel& panel, const Axes& axes, Html* html) {
  for (const Band& band : panel.bands) {
    const double x0 = std::max(axes.X(band.begin), axes.left);
    if (band.label.empty() || !(std::min(axes.X(band.end), kWidth - kRight) > x0)) continue;
    html->Element("text", band.label,
                  {{"class", "band-label"}, {"x", Pixel(x0 + 4)}, {"y", Pixel(kTop + 11)}});
  }
}

// At most about two points per pixel: the extremes of each column survive, so peaks are not lost.
std::vector<std::pair<double, double>> Thinned(
    const std::vector<std::pair<double, double>>& points) {
  constexpr size_t kMost = 900;
  if (points.size() <= kMost) return points;
  std::vector<std::pair<double, double>> out;
  const size_t group = (points.size() + kMost / 2 - 1) / (kMost / 2);
  for (size_t begin = 0; begin < points.size(); begin += group) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last =
        points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), begin + group));
    auto [low, high] = std::minmax_element(
        first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (high != low) out.push_back(*high);
  }
  return out;
}

void WriteCurve(const Curve& curve, const Axes& axes, Html* html) {
  if (curve.is_points) {
    html->Open("g", {{"class", ClassOf(curve.role)}});
    for (size_t i = 0; i < curve.x.size(); ++i) {
      if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.y[i])) continue;
      html->Empty("circle", {{"class", "point"},
                             {"cx", Pixel(axes.X(curve.x[i]))},
                             {"cy", Pixel(axes.Y(curve.y[i]))},
                             {"r", "1.6"}});
    }
    html->Close("g");
    return;
  }
  std::string path;
  std::vector<std::pair<double, double>> piece;
  const auto flush = [&] {
    if (piece.size() > 1) {
      char command = 'M';
      for (const auto& [x, y] : Thinned(piece)) {
        path += command + Pixel(axes.X(x)) + " " + Pixel(axes.Y(y));
        command = 'L';
      }
    }
    piece.clear();
  };
  for (size_t i = 0; i < curve.x.size(); ++i) {
    if (std::isfinite(curve.x[i]) && std::isfinite(curve.y[i])) {
      piece.emplace_back(curve.x[i], curve.y[i]);
    } else {
      flush();
    }
  }
  flush();
  if (path.empty()) return;
  html->Empty("path",
              {{"class", std::string("curve ") + std::string(ClassOf(curve.role))}, {"d", path}});
}

void WritePanel(const Panel& panel, double left, std::string_view alternative, Html* html) {
  html->Open("svg", {{"class", "panel"},
                     {"viewBox", "0 0 " + Pixel(kWidth) + " " + Pixel(kHeight)},
                     {"role", "img"},
                     {"aria-label", panel.title + ". " + std::string(alternative)}});
  Axes axes = AxesOf(panel);
  axes.left = left;
  WriteAxes(panel, axes, html);
  for (const Curve& curve : panel.curves) WriteCurve(curve, axes, html);
  WriteBandLabels(panel, axes, html);
  html->Close("svg");
}

void WriteLegend(const Figure& figure, Html* html) {
  std::set<std::pair<std::string, Role>> seen;
  html->Open("ul", {{"class", "legend"}});
  for (const Panel& panel : figure.panels) {
    for (const Curve& curve : panel.curves) {
      if (curve.name.empty() || !seen.insert({curve.name, curve.role}).second) continue;
      html->Open("li");
      html->Open("svg", {{"class", "swatch"}, {"viewBox", "0 0 30 10"}, {"aria-hidden", "true"}});
      if (curve.is_points) {
        html->Open("g", {{"class", ClassOf(curve.role)}});
        for (const char* x : {"7", "15", "23"})
          html->Empty("circle", {{"class", "point"}, {"cx", x}, {"cy", "5"}, {"r", "2"}});
        html->Close("g");
      } else {
        html->Empty("path", {{"class", std::string("curve ") + std::string(ClassOf(curve.role))},
                             {"d", "M1 5L29 5"}});
      }
      html->Close("svg").Text(" " + curve.name).Close("li");
    }
  }
  html->Close("ul");
}

void WriteArrow(const Mark& mark, Html* html) {
  const double dx = mark.x1 - mark.x0, dy = mark.y1 - mark.y0, length = std::hypot(dx, dy);
  if (!(length > 1)) return;
  const double ux = dx / length, uy = dy / length, head = std::min(11.0, 0.6 * length);
  const double bx = mark.x1 - head * ux, by = mark.y1 - head * uy, w = 0.42 * head;
  html->Empty("line", {{"class", "arrow"},
                       {"x1", Pixel(mark.x0)},
                       {"y1", Pixel(mark.y0)},
                       {"x2", Pixel(bx + 1.0 * ux)},
                       {"y2", Pixel(by + 1.0 * uy)}});
  html->Empty("path", {{"class", "arrow-head"},
                       {"d", "M" + Pixel(mark.x1) + " " + Pixel(mark.y1) + "L" +
                                 Pixel(bx - w * uy) + " " + Pixel(by + w * ux) + "L" +
                                 Pixel(bx + w * uy) + " " + Pixel(by - w * ux) + "Z"}});
}

}  // namespace

std::vector<double> Ticks(double lower, double upper, int count) {
  if (!std::isfinite(lower) || !std::isfinite(upper) || !(upper > lower) || count < 1) {
    return {std::isfinite(lower) ? lower : 0.0};
  }
  const double raw = (upper - lower) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = power * (raw / power < 1.5   ? 1
                               : raw / power < 3.5 ? 2
                               : raw / power < 7.5 ? 5
                                                   : 10);
  std::vector<double> ticks;
  for (double i = std::ceil(lower / step - 1e-9); i * step <= upper + 1e-9 * step; ++i) {
    ticks.push_back(i * step);
  }
  return ticks;
}

void WriteFigure(const Figure& figure, int number, Html* html) {
  html->Open("figure", {{"id", figure.id}});
  html->Open("div", {{"class", figure.panels.size() % 3 == 0 ? "panels three" : "panels"}});
  double left = 0;  // one for all, so that panels below one another stand in line
  for (const Panel& panel : figure.panels) left = std::max(left, LeftOf(panel));
  for (const Panel& panel : figure.panels) WritePanel(panel, left, figure.alternative, html);
  html->Close("div");
  WriteLegend(figure, html);
  html->Open("figcaption");
  html->Element("b", "Figure " + std::to_string(number) + ". " + figure.title + ".")
      .Text(" " + figure.caption);
  if (!figure.alternative.empty()) {
    html->Open("details")
        .Element("summary", "In words")
        .Element("p", figure.alternative)
        .Close("details");
  }
  html->Close("figcaption").Close("figure");
}

void WritePicture(const Picture& picture, Html* html) {
  const std::string w = std::to_string(picture.image.width),
                    h = std::to_string(picture.image.height);
  html->Open("svg", {{"class", "picture"},
                     {"viewBox", "0 0 " + w + " " + h},
                     {"role", "img"},
                     {"aria-label", picture.title + ". " + picture.alternative}});
  if (!picture.image.empty()) {
    html->Empty("image", {{"width", w},
                          {"height", h},
                          {"href", "data:image/png;base64," + Base64(EncodePng(picture.image))}});
  }
  for (const Mark& mark : picture.marks) {
    html->Open("g", {{"class", ClassOf(mark.role)}});
    switch (mark.kind) {
      case Mark::Kind::kArrow:
        WriteArrow(mark, html);
        break;
      case Mark::Kind::kDot:
        html->Empty(
            "circle",
            {{"class", "dot"}, {"cx", Pixel(mark.x0)}, {"cy", Pixel(mark.y0)}, {"r", "3.5"}});
        break;
      case Mark::Kind::kLine:
        html->Empty("line", {{"class", "thin"},
                             {"x1", Pixel(mark.x0)},
                             {"y1", Pixel(mark.y0)},
                             {"x2", Pixel(mark.x1)},
                             {"y2", Pixel(mark.y1)}});
        break;
      case Mark::Kind::kOutline:
        html->Empty("line", {{"class", "outline"},
                             {"x1", Pixel(mark.x0)},
                             {"y1", Pixel(mark.y0)},
                             {"x2", Pixel(mark.x1)},
                             {"y2", Pixel(mark.y1)}});
        break;
      case Mark::Kind::kText:
        html->Element("text", mark.text,
                      {{"class", "picture-text"}, {"x", Pixel(mark.x0)}, {"y", Pixel(mark.y0)}});
        break;
    }
    html->Close("g");
  }
  html->Close("svg");
}

}  // namespace handhold::report
