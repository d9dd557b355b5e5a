#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/QR>

#include "database/base/units.h"
#include "tools/report/fill_parts.h"
#include "tools/report/html.h"

namespace handhold::report {
namespace {

constexpr double kBefore_s = 0.080, kAfter_s = 0.140;
constexpr double kFitBefore_s = 0.060;  // section 3.3's window, as the reference trajectory's check
constexpr double kExtrapolate_s = 0.050;

// Least-squares quadratic through the samples before the onset, evaluated at x (ms after it).
Curve Extrapolated(const std::vector<double>& x_ms, const std::vector<double>& y) {
  std::vector<size_t> use;
  for (size_t i = 0; i < x_ms.size(); ++i) {
    if (x_ms[i] >= -1e3 * kFitBefore_s && x_ms[i] < 0 && std::isfinite(y[i])) use.push_back(i);
  }
  Curve curve{"extrapolated from before contact", Role::kExtrapolated, {}, {}, false};
  if (use.size() < 6) return curve;
  Eigen::MatrixXd A(static_cast<Eigen::Index>(use.size()), 3);
  Eigen::VectorXd b(A.rows());
  for (size_t i = 0; i < use.size(); ++i) {
    const double x = x_ms[use[i]] / 100, row_y = y[use[i]];
    A.row(static_cast<Eigen::Index>(i)) << 1, x, x * x;
    b[static_cast<Eigen::Index>(i)] = row_y;
  }
  const Eigen::Vector3d c = A.colPivHouseholderQr().solve(b);
  for (double t = -1e3 * kFitBefore_s; t <= 1e3 * kExtrapolate_s + 0.5; t += 1) {
    const double x = t / 100;
    curve.x.push_back(t), curve.y.push_back(c[0] + c[1] * x + c[2] * x * x);
  }
  return curve;
}

struct Window {
  std::vector<Eigen::Index> frames;
  std::vector<double> x_ms;
};

std::vector<double> Row(const Eigen::MatrixXd& m, Eigen::Index row, const Window& window,
                        double scale) {
  std::vector<double> out;
  for (const Eigen::Index k : window.frames) out.push_back(scale * m(row, k));
  return out;
}

void KeepContact(const Window& window, Duration length, std::vector<double>* values) {
  for (size_t i = 0; i < window.x_ms.size(); ++i) {
    if (window.x_ms[i] < 0 || window.x_ms[i] > 1e3 * length.seconds()) {
      (*values)[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

// The true reference in the fitted hand's zero: shifted to agree before the contact.
Curve TrueReference(const Filling& f, Eigen::Index dof, const Window& window,
                    const std::vector<double>& measured, Timestamp onset) {
  const lab::TruthSeries& free = f.from.truth->FindRun("reference")->session;
  Curve curve{"engine without the surface (truth)", Role::kTruth, {}, {}, false};
  double shift = 0, count = 0;
  for (size_t i = 0; i < window.x_ms.size(); ++i) {
    const double t = onset.seconds() + 1e-3 * window.x_ms[i] - f.start_s;
    if (t < free.begin_s || t > free.time_s(free.rows() - 1)) continue;
    const double y = RadiansToDegrees(lab::Interpolate(free, free.theta, t)[dof]);
    if (window.x_ms[i] > -40 && window.x_ms[i] < -2) shift += measured[i] - y, count += 1;
    curve.x.push_back(window.x_ms[i]), curve.y.push_back(y);
  }
  for (double& y : curve.y) y += shift / std::max(1.0, count);
  return curve;
}

void SayInWords(const ReportSources& s, const artefact::Touch& touch, Eigen::Index peak_frame,
                Figure* figure) {
  figure->alternative = "The onset is found at " + Fixed(touch.onset.seconds(), 4) +
                        " s, known to ± " + Significant(1e3 * touch.onset_sd.seconds(), 2) +
                        " ms (68 %). ";
  for (size_t d = 0; d < s.pose->dof_names.size(); ++d) {
    const auto row = static_cast<Eigen::Index>(d);
    figure->alternative +=
        JointTitle(s.pose->dof_names[d]) + ": " +
        Fixed(RadiansToDegrees(s.trajectory ? s.trajectory->q(row, peak_frame) -
                                                  s.trajectory->q_reference(row, peak_frame)
                                            : NAN),
              2) +
        "° off the reference at a torque of " + Fixed(1e3 * s.contact->tau_Nm(row, peak_frame), 1) +
        " mN m. ";
  }
  figure->alternative +=
      "These at " +
      Fixed(1e3 * (s.contact->times[static_cast<size_t>(peak_frame)] - touch.onset).seconds(), 0) +
      " ms after the onset, where the torque on the knuckle is largest.";
}

}  // namespace

void FillContactFigures(Filling* f) {
  const ReportSources& s = f->from;
  if (!s.pose || !s.contact || f->shown_touch < 0) return;
  const artefact::Touch& touch = s.contact->touches[static_cast<size_t>(f->shown_touch)];
  Window window;
  Eigen::Index peak_frame = 0;
  double peak = -1;
  for (int k = 0; k < s.pose->frame_count(); ++k) {
    const double x = (s.pose->times[static_cast<size_t>(k)] - touch.onset).seconds();
    if (x < -kBefore_s || x > kAfter_s) continue;
    window.frames.push_back(k), window.x_ms.push_back(1e3 * x);
    const double torque = s.contact->tau_Nm.col(k).cwiseAbs().maxCoeff();
    if (s.contact_frames.touch[static_cast<size_t>(k)] == f->shown_touch && torque > peak)
      peak = torque, peak_frame = k;
  }
  if (window.frames.size() < 10) return;
  const Duration contact = touch.release - touch.onset;
  const Band band{0, 1e3 * contact.seconds(), "contact"};
  Figure figure;
  figure.id = "figure-onset", figure.title = "One onset";
  const auto dofs = static_cast<Eigen::Index>(s.pose->dof_names.size());
  for (Eigen::Index d = 0; d < dofs && figure.panels.size() < 4; ++d) {
    const std::string joint = JointTitle(s.pose->dof_names[static_cast<size_t>(d)]);
    Panel panel{joint + " angle", "time after onset, ms", "flexion, degrees", {}, {band}, false};
    const std::vector<double> measured = Row(s.pose->q, d, window, RadiansToDegrees(1.0));
    panel.curves.push_back(
        {"fitted to the markers", Role::kMeasured, window.x_ms, measured, false});
    if (s.trajectory) {
      std::vector<double> reference =
          Row(s.trajectory->q_reference, d, window, RadiansToDegrees(1.0));
      KeepContact(window, contact, &reference);
      panel.curves.push_back(
          {"reference θr = θ − C τ (eq. 1)", Role::kReference, window.x_ms, reference, false});
      if (s.trajectory->q_reference_dynamic.size() > 0) {
        std::vector<double> dynamic =
            Row(s.trajectory->q_reference_dynamic, d, window, RadiansToDegrees(1.0));
        KeepContact(window, contact, &dynamic);
        panel.curves.push_back(
            {"reference by the joint's dynamics", Role::kReplay, window.x_ms, dynamic, false});
      }
    }
    Curve extrapolated = Extrapolated(window.x_ms, measured);
    if (!extrapolated.x.empty()) panel.curves.push_back(std::move(extrapolated));
    if (s.truth) panel.curves.push_back(TrueReference(*f, d, window, measured, touch.onset));
    figure.panels.push_back(std::move(panel));
  }
  Panel torque{"Joint torques Jᵀf", "time after onset, ms", "torque, mN m", {}, {band}, true};
  const Role roles[] = {Role::kMeasured, Role::kReference, Role::kExtrapolated, Role::kReplay};
  for (Eigen::Index d = 0; d < std::min<Eigen::Index>(dofs, 4); ++d) {
    torque.curves.push_back({JointTitle(s.pose->dof_names[static_cast<size_t>(d)]) + " torque",
                             roles[d], window.x_ms, Row(s.contact->tau_Nm, d, window, 1e3), false});
  }
  Panel force{"Force on the finger", "time after onset, ms", "force, N", {}, {band}, true};
  force.curves.push_back({"force upwards", Role::kTruth, window.x_ms,
                          Row(s.contact_frames.f_onHand_W, 2, window, 1), false});
  force.curves.push_back({"force along the stroke (x)", Role::kPaper, window.x_ms,
                          Row(s.contact_frames.f_onHand_W, 0, window, 1), false});
  Figure load;
  load.id = "figure-load", load.title = "What the surface did at that onset";
  load.caption =
      "Measured force, zero-phase low-passed, and the joint torques that follow from it by eqs. 2 "
      "and 4. "
      "Negative torques extend: the surface pushes the finger open.";
  load.panels = {std::move(torque), std::move(force)};
  figure.caption =
      "Joint angles before and after the touch of the pictures above, as in the paper's Figure 3. "
      "The finger "
      "yields: in contact it departs from where it was going. The reference trajectory takes the "
      "yielding "
      "away again, and should run on from the extrapolation for the first tens of milliseconds.";
  SayInWords(s, touch, peak_frame, &figure);
  load.alternative = "Normal force reaches " + Fixed(touch.peak_force_N, 2) +
                     " N in this contact of " + Fixed(1e3 * contact.seconds(), 0) + " ms.";
  f->data->contact_figures = {std::move(figure), std::move(load)};
}

}  // namespace handhold::report
