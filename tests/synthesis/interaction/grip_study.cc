// Scripted pinches against the engine: the long form of grip_truth_test.cc. Each part prints a
// table; what it printed is in results/.
//   grip_study compare | inertia | threshold | creep | wedge | reflex | placement |
//   bulb | all
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "synthesis/interaction/placement.h"
#include "tests/support/bulb_scene.h"
#include "tests/support/grip_comparison.h"
#include "tests/support/ode_grip_truth.h"
#include "tests/support/pinch_scene.h"

namespace {

using namespace handhold;
using namespace handhold::testing;
using artefact::InteractionTrajectory;
using artefact::Motion;
using synthesis::GripKind;

constexpr double kFrame_s = 2e-3;

struct Pinched {
  synthesis::PinchOptions program;
  OdeGripOptions ode;
  InteractionTrajectory scripted, free;
  size_t lift, hold, end;  // frames

  explicit Pinched(const synthesis::PinchOptions& asked, const model::Skeleton& hand = PinchHand())
      : program(asked) {
    const TimeRange held = synthesis::PinchHold(program);
    const auto frame = [](Timestamp t) {
      return static_cast<size_t>(std::llround((t - Timestamp()).seconds() / kFrame_s));
    };
    hold = frame(held.begin);
    end = frame(held.end) - 1;
    lift = hold - static_cast<size_t>(std::llround(program.lift_s / kFrame_s));
    ode.end_s = (held.end - Timestamp()).seconds();
    scripted = *synthesis::PinchReference(PinchHand(), PinchBoxPlace(), program);
    free = *OdeFreeRun(hand, scripted, ode);
  }
  Motion Truth(const model::Prop& prop, GripKind grip = GripKind::kNone) const {
    OdeGripOptions options = ode;
    options.grip.kind = grip;
    return *OdeGripRun(PinchHand(), scripted, OnTable(prop), options);
  }
  Motion Ours(const model::Prop& prop, GripKind grip = GripKind::kNone, int sides = 8) const {
    synthesis::ReplayOptions options = PinchReplay({.kind = grip});
    options.step.solve.sides = sides;
    return *synthesis::ReplayInteraction(PinchHand(), free, OnTable(prop), options);
  }
};

double Degrees(double rad) { return rad * 180 / M_PI; }

void Compare() {
  std::printf(
      "compare: first touch to the end of a hold of 2 s; 8 sides, T 14 ms, own contact-free "
      "reference\n"
      "depth mm  mass g  force RMS %% of peak (thumb index middle)  first 150 ms %%        pose mm "
      "median max  deg median max\n");
  for (const double depth_m : {0.006, 0.009, 0.012, 0.014, 0.016}) {
    const Pinched pinched(PinchProgram(depth_m, 2.0));
    for (const double mass_kg : {0.0012, 0.012, 0.12}) {
      const model::Prop box = PinchBox(mass_kg);
      const Motion truth = pinched.Truth(box), ours = pinched.Ours(box);
      if (!Lifted(truth, pinched.end)) {
        std::printf("%8.0f  %6.1f  dropped by the engine, %s here\n", 1e3 * depth_m, 1e3 * mass_kg,
                    Lifted(ours, pinched.end) ? "held" : "dropped");
        continue;
      }
      const GripComparison c = CompareGrips(ours, truth, PinchFingers(), pinched.end, kFrame_s);
      std::printf("%8.0f  %6.1f  ", 1e3 * depth_m, 1e3 * mass_kg);
      for (const auto& f : c.fingers) std::printf("%6.2f", 100 * f.rms);
      std::printf("                        ");
      for (const auto& f : c.fingers) std::printf("%6.2f", 100 * f.first_rms);
      std::printf("     %.3f %.2f   %.2f %.2f   unsolved %d, by the fallback %d\n",
                  1e3 * c.median_m, 1e3 * c.largest_m, Degrees(c.median_rad),
                  Degrees(c.largest_rad), synthesis::UnsolvedSteps(ours),
                  synthesis::FallbackSteps(ours));
    }
  }
}

// What is left at 120 g, the hand's inertia taken away in parts (both sides of the comparison get
// the contact-free run of the same hand): a replay's hand has none.
void Inertia() {
  std::printf(
      "inertia: the box of 120 g, 8 sides, against an engine whose hand has a share of its masses\n"
      "depth mm  share  pose mm median max  deg median   the engine with a replay's contacts, "
      "mm\n");
  for (const double depth_m : {0.009, 0.012, 0.014}) {
    for (const double share : {1.0, 0.3, 0.1}) {
      model::SkeletonDraft draft = PinchHand().draft();
      for (auto& body : draft.bodies) {
        body.mass.mass_kg *= share;
        body.mass.I_BCom_B *= share;
      }
      const model::Skeleton hand = *model::Skeleton::Build(draft);
      const Pinched p(PinchProgram(depth_m, 2.0), hand);
      const model::Prop box = PinchBox(0.12);
      const Motion truth = *OdeGripRun(hand, p.scripted, OnTable(box), p.ode), ours = p.Ours(box);
      OdeGripOptions replay_contacts = p.ode;
      replay_contacts.replay_contacts = true;
      const Motion contacts = *OdeGripRun(hand, p.scripted, OnTable(box), replay_contacts);
      const GripComparison c = CompareGrips(ours, truth, PinchFingers(), p.end, kFrame_s),
                           d = CompareGrips(contacts, truth, PinchFingers(), p.end, kFrame_s);
      std::printf("%8.0f  %5.1f  %.3f %.2f            %.2f         %.3f\n", 1e3 * depth_m, share,
                  1e3 * c.median_m, 1e3 * c.largest_m, Degrees(c.median_rad), 1e3 * d.median_m);
      std::fflush(stdout);
    }
  }
}

double Threshold(const std::function<bool(double)>& lifts) {
  double low = 0.02, high = 0.6;
  for (int i = 0; i < 9; ++i) {
    const double middle = std::sqrt(low * high);
    (lifts(middle) ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

void Thresholds() {
  std::printf(
      "threshold mass, g, to +-0.4 %%; lifted: more than half of the 10 cm at the end of a hold of "
      "1 s\ndepth mm  engine  8 sides         16 sides        2 mu N / g, N the thumb's before the "
      "lift\n");
  for (const double depth_m : {0.004, 0.007, 0.010, 0.013, 0.016}) {
    const Pinched p(PinchProgram(depth_m, 1.0));
    const double truth = Threshold([&](double m) { return Lifted(p.Truth(PinchBox(m)), p.end); });
    double ours[2];
    for (const int i : {0, 1}) {
      ours[i] = Threshold([&](double m) {
        return Lifted(p.Ours(PinchBox(m), GripKind::kNone, i == 0 ? 8 : 16), p.end);
      });
    }
    const double thumb_N = NormalForce_N(p.Truth(PinchBox(0.012)), PinchFingers()[0])[p.lift - 1];
    std::printf("%8.0f  %6.1f  %6.1f %+5.1f %%  %6.1f %+5.1f %%  %6.1f\n", 1e3 * depth_m,
                1e3 * truth, 1e3 * ours[0], 100 * (ours[0] / truth - 1), 1e3 * ours[1],
                100 * (ours[1] / truth - 1), 1e3 * 2 * 0.5 * thumb_N / 9.81);
    std::fflush(stdout);
  }
}

void Creep() {
  std::printf(
      "creep of the held box in the last 2 s of a hold of 6 s\n"
      "depth mm  mass g  mm/s       deg/s      unsolved, by the fallback, of steps\n");
  for (const double depth_m : {0.009, 0.012, 0.014, 0.016}) {
    const Pinched p(PinchProgram(depth_m, 6.0));
    for (const double mass_kg : {0.0012, 0.012, 0.06, 0.12}) {
      const Motion m = p.Ours(PinchBox(mass_kg));
      if (!Lifted(m, p.end)) {
        std::printf("%8.0f  %6.1f  dropped\n", 1e3 * depth_m, 1e3 * mass_kg);
        continue;
      }
      const auto &a = m.objects.back().pose(p.end - 1000), &b = m.objects.back().pose(p.end);
      std::printf("%8.0f  %6.1f  %.2e   %.2e   %d, %d of %zu\n", 1e3 * depth_m, 1e3 * mass_kg,
                  1e3 * (a.p - b.p).norm() / 2,
                  Degrees(geometry::Log(geometry::Mat3(a.R.transpose() * b.R)).norm()) / 2,
                  synthesis::UnsolvedSteps(m), synthesis::FallbackSteps(m), m.times.size());
    }
  }
}

// What became of the object, the thumb's force and ratio, and the fingers' scale.
void Adjusted(const Pinched& p, const model::Prop& prop, GripKind kind) {
  for (const bool engine : {true, false}) {
    const Motion m = engine ? p.Truth(prop, kind) : p.Ours(prop, kind);
    const GripRatio ratio = RatioOf(m, PinchFingers()[0], p.hold, p.end);
    const artefact::Series* scale = m.FindSeries(synthesis::kGripScale);
    size_t first = 0;
    if (scale != nullptr)
      while (first + 1 < p.end && scale->values[static_cast<Eigen::Index>(first)] == 1.0) ++first;
    std::printf("  %s  %s  thumb %.2f N  ratio in the hold %.3f (largest %.3f)  slid %.1f mm",
                engine ? "engine" : "here  ", Lifted(m, p.end) ? "held   " : "dropped",
                ratio.normal_N, ratio.median, ratio.largest,
                1e3 * SlideAlong(m, PinchHand(), p.lift, p.end));
    if (scale != nullptr)
      std::printf("  C x %.2f, tightens from %.3f s",
                  scale->values[static_cast<Eigen::Index>(p.end)],
                  kFrame_s * static_cast<double>(first));
    std::printf("\n");
  }
}

const char* Name(GripKind kind) {
  return kind == GripKind::kNone ? "none" : kind == GripKind::kReflex ? "reflex" : "anticipate";
}

void Wedge() {
  const Pinched p(PinchProgram(0.008, 1.0));
  for (const double mass_kg : {0.049, 0.076}) {
    for (const GripKind kind : {GripKind::kNone, GripKind::kAnticipate, GripKind::kReflex}) {
      std::printf("wedge, 12 deg each face, %.0f g, at 8 mm, %s:\n", 1e3 * mass_kg, Name(kind));
      Adjusted(p, PinchWedge(mass_kg, 24 * M_PI / 180), kind);
    }
  }
}

void Reflex() {
  synthesis::PinchOptions slowly = PinchProgram(0.006, 1.0);
  slowly.lift_s = 1.6;
  for (const bool slow : {true, false}) {
    const Pinched p(slow ? slowly : PinchProgram(0.006, 1.0));
    for (const GripKind kind : {GripKind::kNone, GripKind::kReflex, GripKind::kAnticipate}) {
      std::printf("box of 120 g at 6 mm, lifted in %.1f s, %s:\n", p.program.lift_s, Name(kind));
      Adjusted(p, PinchBox(0.12), kind);
    }
  }
}

// The box on its side (5 cm high, pinched in its middle) and upright (pinched near its top).
void Placing() {
  std::printf(
      "placement, two rounds, 12 g: as it stood -> as placed\nbox       off by mm, deg        "
      "shift "
      "while closing mm   first touches within ms   left mm, deg\n");
  const geometry::RigidTransform lying{geometry::Exp(geometry::Vec3(M_PI / 2, 0, 0)),
                                       geometry::Vec3(0.3, 0.1, 0.025)};
  for (const bool upright : {false, true}) {
    const geometry::RigidTransform X = upright ? PinchBoxPose() : lying;
    const auto closing = *synthesis::PinchReference(
        PinchHand(), *synthesis::PinchAcross(PinchBox(0.012), X, upright ? 0.025 : 0.0),
        PinchProgram(0.012, 0.2));
    synthesis::ReplayOptions options = PinchReplay();
    options.range = {Timestamp(), Timestamp() + Duration::Milliseconds(750)};
    const double offs[][3] = {{2e-3, 0, 0},  {-2e-3, 0, 0}, {4e-3, 0, 0},
                              {-4e-3, 0, 0}, {0, 4e-3, 0},  {0, 0, 8},
                              {0, 0, -8},    {0, 0, 15},    {3e-3, 3e-3, 8}};
    for (const auto& off : offs) {
      geometry::RigidTransform X_off = X;
      X_off.R = geometry::Exp(geometry::Vec3(0, 0, off[2] * M_PI / 180)) * X.R;
      X_off.p += geometry::Vec3(off[0], off[1], 0);
      const auto placed = synthesis::PlaceObject(
          testing::Played(closing, OnTable(PinchBox(0.012), X_off)), "box_3x5x7", options);
      std::printf("%s %5.0f %3.0f %4.0f   ", upright ? "upright" : "lying  ", 1e3 * off[0],
                  1e3 * off[1], off[2]);
      if (!placed) {
        std::printf("%s\n", placed.error().message.c_str());
        continue;
      }
      const synthesis::PlacementRound &a = placed->rounds.front(), &b = placed->rounds.back();
      const geometry::Mat3 turned = placed->X_WP.R * X.R.transpose();
      std::printf("%10.2f -> %.2f   %20.0f -> %.0f   %16.2f %.2f %.1f\n", 1e3 * a.shift_m,
                  1e3 * b.shift_m, 1e3 * a.spread_s, 1e3 * b.spread_s,
                  1e3 * (placed->X_WP.p.x() - X.p.x()), 1e3 * (placed->X_WP.p.y() - X.p.y()),
                  Degrees(std::atan2(turned(1, 0), turned(0, 0))));
    }
  }
}

// The bulb on its pivot, six strokes; the engine's is its 30 mm sphere, ours the mesh, or both.
void Bulb() {
  const auto scripted = *synthesis::GaitingReference(BulbHand(), BulbPlace(), {});
  const InteractionTrajectory free = *OdeFreeRun(BulbHand(), scripted);
  std::printf(
      "light bulb on its pivot, finger gaiting, six strokes of 36 deg\n"
      "mu    b mNms/rad  turned deg: engine (sphere)  here (sphere)      here (mesh)        "
      "contacts: engine, here; unsolved\n");
  const double cases[][2] = {{0.5, 2e-3}, {0.2, 2e-3}, {0.02, 2e-3}, {0.5, 0.05}};
  for (const auto& [mu, b] : cases) {
    const Motion truth = *OdeGripRun(BulbHand(), scripted, BulbOnPivot(mu, b, true));
    const double engine = Degrees(BulbTurned_rad(truth));
    std::printf("%-5g %-10g  %27.1f", mu, 1e3 * b, engine);
    Motion ours;
    for (const bool sphere : {true, false}) {
      ours =
          *synthesis::ReplayInteraction(BulbHand(), free, BulbOnPivot(mu, b, sphere), BulbReplay());
      const double here = Degrees(BulbTurned_rad(ours));
      std::printf("  %8.1f %+5.1f %%", here, 100 * (here / engine - 1));
    }
    std::printf("     ");
    for (const Motion* motion : std::initializer_list<const Motion*>{&truth, &ours}) {
      for (const char* finger : {"thumb", "index", "middle", "ring", "little"})
        std::printf(" %d", BulbContactsOf(*motion, finger));
      std::printf(motion == &truth ? "," : ";");
    }
    std::printf(" %d\n", synthesis::UnsolvedSteps(ours));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const std::pair<const char*, void (*)()> parts[] = {
      {"compare", Compare}, {"inertia", Inertia}, {"threshold", Thresholds}, {"creep", Creep},
      {"wedge", Wedge},     {"reflex", Reflex},   {"placement", Placing},    {"bulb", Bulb}};
  int ran = 0;
  for (const auto& [name, part] : parts) {
    if (what != "all" && what != name) continue;
    part();
    ++ran;
  }
  return ran > 0 ? 0 : 2;
}
