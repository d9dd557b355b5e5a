// Writes the scenes of scenarios_test.cc as motions into a new library, to be looked at:
//
//   scenario_motions FOLDER      then: handhold show HASH --library FOLDER --to page.html
//
// Prints one line "scene HASH" per motion.
#include <cmath>
#include <cstdio>
#include <functional>

#include "database/store/library.h"
#include "tests/support/grasping_hand.h"
#include "tests/support/handshake.h"
#include "tools/pipeline/inputs.h"

namespace {

using namespace handhold;
using namespace handhold::synthesis;
using geometry::RigidTransform;
using geometry::Vec3;
using testing::GraspingHand;

constexpr double kStep_s = 2e-3;
constexpr int kFrameEvery = 5;
constexpr Blend kAllNeutral = {1, 0, 0, 0, 0, 0}, kAllOpen = {0, 1, 0, 0, 0, 0};

class Recorder {
 public:
  Recorder(store::Library* library, HandWorld* world, std::vector<std::string> hands)
      : library_(library), world_(world) {
    const pipeline::StepContext context{*library, {}, "scenario_motions"};
    for (size_t i = 0; i < hands.size(); ++i) {
      std::vector<std::string> chosen;
      pipeline::HandChoice choice;
      choice.key = "hand57", choice.free_base = true;
      if (hands[i] == "hand27") choice.key = "hand27", choice.free_base = false;
      if (hands[i] == "small") choice.scale = 0.85;
      const auto found = pipeline::FindSkeleton(context, choice, &chosen).value();
      artefact::StageHand hand{.name = i == 0 ? "R" : "R2"};
      hand.skeleton.hash = found.hash;
      hand.skeleton.value = std::make_shared<const model::Skeleton>(found.skeleton);
      motion_.Add(std::move(hand));
    }
    q_.resize(hands.size());
    if (world->prop_count() > 0) {
      const auto prop =
          pipeline::KeepProp(context, model::LoadLibraryProp("cylinder_60").value()).value();
      artefact::StageThing thing = artefact::Placed(prop.prop, {}, artefact::StageThing::Is::kFree);
      thing.prop.hash = prop.hash;
      motion_.Add(std::move(thing)).X_WP.clear();
    }
  }
  void Step() {
    if (step_++ % kFrameEvery != 0) return;
    const auto now = Timestamp::FromNanoseconds(std::llround(world_->time_s() * 1e9));
    const int frame = static_cast<int>(motion_.times.size());
    motion_.times.push_back(now);
    for (size_t i = 0; i < q_.size(); ++i) q_[i].push_back(world_->q(static_cast<int>(i)));
    if (world_->prop_count() > 0) motion_.objects[0].X_WP.push_back(world_->X_WP(0));
    for (const HandContact& c : world_->Contacts()) {
      if (c.prop < 0 && c.other_hand == c.hand) continue;
      artefact::Side a{artefact::Side::Kind::kHand, motion_.hands[static_cast<size_t>(c.hand)].name,
                       "", c.body};
      artefact::Side b{artefact::Side::Kind::kThing, "cylinder_60", "", 0};
      if (c.prop < 0)
        b = {artefact::Side::Kind::kHand, motion_.hands[static_cast<size_t>(c.other_hand)].name, "",
             c.other_body};
      artefact::ContactRow row;
      row.frame = frame, row.touch = motion_.TouchBetween(a, b, now);
      row.f_onA_W = c.f_onHand_W, row.p_W = c.p_W, row.normal_W = c.normal_W;
      row.offset_m = -c.depth_m;
      motion_.rows.push_back(row);
    }
  }
  void Save(const std::string& scene) {
    const auto frames = static_cast<Eigen::Index>(motion_.times.size());
    for (size_t i = 0; i < q_.size(); ++i) {
      Eigen::MatrixXd& q = motion_.hands[i].q;
      q.resize(q_[i].front().size(), frames);
      for (Eigen::Index k = 0; k < frames; ++k) q.col(k) = q_[i][static_cast<size_t>(k)];
    }
    std::stable_sort(motion_.rows.begin(), motion_.rows.end(), [](const auto& x, const auto& y) {
      return std::pair(x.frame, x.touch) < std::pair(y.frame, y.touch);
    });
    CHECK(artefact::CheckMotion(motion_));
    motion_.provenance.step = "synth.control";
    motion_.provenance.version = 1;
    motion_.provenance.parameters_json = "{\"scene\":\"" + scene + "\"}";
    for (const auto& hand : motion_.stage.hands)
      motion_.provenance.inputs.push_back({"hand", hand.skeleton.hash, ""});
    std::printf("%s %s\n", scene.c_str(), library_->Save(motion_).value().c_str());
  }

 private:
  store::Library* library_;
  HandWorld* world_;
  artefact::Motion motion_;
  std::vector<std::vector<Eigen::VectorXd>> q_;
  int step_ = 0;
};

void Run(GraspingHand* g, Recorder* recorder, const Blend& blend, double seconds,
         const std::function<void(double)>& before = {}) {
  for (double t = kStep_s; t <= seconds + 1e-9; t += kStep_s) {
    if (before) before(t);
    CHECK(g->Run(blend, kStep_s));
    recorder->Step();
  }
}

void Drop(store::Library* library, bool limits) {
  ControllerOptions options;
  options.active = false, options.limit_springs = limits;
  options.compensate_arm = options.compensate_gravity = false;
  GraspingHand g("hand57_cylinder", options);
  HandWorld& w = *g.world;
  CHECK(w.SetProp(0, RigidTransform::Translation(Vec3(0, 0.5, -0.2))));
  CHECK(w.HoldProp(0, true));
  Eigen::VectorXd q = w.Placed(0, g.set.q_neutral, {});
  const RigidTransform start{geometry::AxisAngle<double>(Vec3::UnitX(), M_PI), Vec3::Zero()};
  q.segment<4>(3) = geometry::ToQuaternion(start.R);
  CHECK(w.SetHand(0, q));
  w.SetGravity({.g_W = Vec3(0, 0, -9.81), .on_hands = true});
  Recorder recorder(library, &w, {"hand57"});
  const double fall_s = std::sqrt(2 * 0.2 / 9.81), speed = 9.81 * fall_s;
  Run(&g, &recorder, kAllNeutral, 1.0, [&](double t) {
    const double s = std::clamp(t - fall_s, 0.0, 0.05);
    const double z =
        t < fall_s ? -0.5 * 9.81 * t * t : -0.2 - speed * s + 0.5 * speed / 0.05 * s * s;
    CHECK(w.MovePalm(0, {start.R, Vec3(0, 0, z)}, kStep_s));
  });
  recorder.Save(limits ? "1_drop_with_limits" : "1_drop_without_limits");
}

void Shake(store::Library* library, bool compensate) {
  ControllerOptions options;
  options.compensate_arm = compensate;
  GraspingHand g("hand57_cylinder", options);
  HandWorld& w = *g.world;
  CHECK(w.SetProp(0, RigidTransform::Translation(Vec3(0, 0.5, 0))));
  CHECK(w.HoldProp(0, true));
  CHECK(w.SetHand(0, w.Placed(0, g.set.q_neutral, {})));
  const RigidTransform start = w.X_WPalm(0);
  Recorder recorder(library, &w, {"hand57"});
  Run(&g, &recorder, kAllNeutral, 1.5, [&](double t) {
    const double grow = std::min(1.0, t / 0.25);
    CHECK(w.MovePalm(
        0, {start.R, start.p + Vec3(0, 0, 0.04 * grow * grow * std::sin(2 * M_PI * 2 * t))},
        kStep_s));
  });
  recorder.Save(compensate ? "2_shaken_with_tau_arm" : "2_shaken_without_tau_arm");
}

void Hold(store::Library* library, bool push) {
  GraspingHand g("hand57_cylinder", ControllerOptions::Strong());
  HandWorld& w = *g.world;
  Recorder recorder(library, &w, {"hand57"});
  const Blend grip = GraspingHand::Gripping(1.0);
  Run(&g, &recorder, kAllOpen, 0.2);
  CHECK(w.HoldProp(0, true));
  Run(&g, &recorder, grip, 0.46);
  CHECK(w.HoldProp(0, false));
  Run(&g, &recorder, grip, 0.4);
  if (push) {
    Run(&g, &recorder, grip, 0.6, [&](double t) {
      const int body = w.prop_body(0);
      if (t < 0.011)
        CHECK(w.world().AddForce(body, -20.0 * w.X_WPalm(0).R.col(2), w.world().com_W(body)));
    });
  }
  recorder.Save(push ? "6_pushed_and_lost" : "3_cylinder_held");
}

void Turn(store::Library* library) {
  ControllerOptions options;
  options.rest_within_limits = true;
  GraspingHand g("hand57_cylinder", options, {}, 0.05);
  HandWorld& w = *g.world;
  CHECK(g.Hold(1.0, 1.2, 0.2));
  w.SetGravity({.g_W = 9.81 * w.X_WPalm(0).R.col(2), .on_hands = true});
  Recorder recorder(library, &w, {"hand57"});
  Run(&g, &recorder, GraspingHand::Gripping(1.0), 0.6);
  for (int cycle = 0; cycle < 3; ++cycle) {
    Run(&g, &recorder, kAllOpen, 0.45);
    Run(&g, &recorder, GraspingHand::Gripping(1.0), 0.45);
  }
  recorder.Save("7_turned_by_opening_and_closing");
}

void Handshake(store::Library* library) {
  testing::Handshake hands(ControllerOptions{});
  HandWorld& w = *hands.world;
  Recorder recorder(library, &w, {"hand57", "small"});
  for (int i = 0; i < 500; ++i) {
    CHECK(hands.Step(kStep_s));
    recorder.Step();
  }
  SoftRootDrive soft;
  soft.stiffness_N_per_m = 20, soft.damping_Ns_per_m = 3;
  soft.stiffness_Nm_per_rad = 0.5 * geometry::Mat3::Identity();
  soft.damping_Nms_per_rad = 0.02 * geometry::Mat3::Identity();
  CHECK(w.SoftenPalm(1, soft));
  for (double t = kStep_s; t < 2.0; t += kStep_s) {
    const double z = 0.04 * std::min(1.0, t / 0.2) * std::sin(2 * M_PI * 2 * t);
    CHECK(w.MovePalm(0, {hands.X_WFirst.R, hands.X_WFirst.p + Vec3(0, 0, z)}, kStep_s));
    CHECK(w.MovePalm(1, hands.X_WSecond, kStep_s));
    CHECK(hands.Step(kStep_s));
    recorder.Step();
  }
  recorder.Save("5_handshake");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "scenario_motions FOLDER (a library that is not there yet)\n");
    return 2;
  }
  auto library = store::Library::Create(argv[1]);
  if (!library) {
    std::fprintf(stderr, "%s\n", library.error().message.c_str());
    return 1;
  }
  for (const bool with : {false, true}) Drop(library->get(), with);
  for (const bool with : {false, true}) Shake(library->get(), with);
  for (const bool push : {false, true}) Hold(library->get(), push);
  Handshake(library->get());
  Turn(library->get());
  return 0;
}
