#include "tools/pipeline/evaluate.h"

#include "database/store/artefact_file.h"
#include "synthesis/evaluate/motion_figures.h"
#include "tools/pipeline/stage_models.h"

namespace handhold::pipeline {
namespace {

Evaluated OfTest(const std::string& what, const artefact::GraspTest& test) {
  return {what,       test.protocol, test.engine, test.passed ? "passed" : "failed",
          test.cause, test.figures};
}

Status OfGrasp(const EvaluateStep& step, const FoundExample& found, std::vector<Evaluated>* out) {
  synthesis::GraspMetricsOptions measured;
  measured.mass_kg = step.mass_kg, measured.friction = step.friction;
  HANDHOLD_ASSIGN(const synthesis::GraspMetrics metrics,
                  synthesis::MeasureGrasp(found.skeleton.skeleton, found.grasp.q, found.grasp.X_PH,
                                          found.prop.prop, measured));
  out->push_back({step.what, "static", "", "measured", "", synthesis::ScoresOf(metrics)});
  synthesis::HandTrialOptions options = step.trial;
  options.scene.mass_kg = step.mass_kg, options.scene.friction = step.friction;
  synthesis::HandTrial trial(found.skeleton.skeleton, found.prop.prop, options);
  if (step.p1) {
    HANDHOLD_ASSIGN(artefact::GraspTest test,
                    step.quick ? trial.Quick(found.grasp) : trial.Exact(found.grasp));
    test.protocol = step.quick ? "P1 quick" : "P1";
    out->push_back(OfTest(step.what, test));
  }
  if (step.lift) {
    HANDHOLD_ASSIGN(const artefact::GraspTest test, trial.Lift(found.grasp));
    out->push_back(OfTest(step.what, test));
  }
  return {};
}

Status OfMotion(const EvaluateStep& step, const artefact::Motion& motion,
                const model::Skeleton& hand, std::vector<Evaluated>* out) {
  synthesis::VerdictOptions options = step.judge;
  if (options.hold.length() == Duration() && !motion.times.empty()) {
    const Duration all = motion.times.back() - motion.times.front();
    options.hold = {motion.times.front() + Duration::FromSeconds(0.6 * all.seconds()),
                    motion.times.back()};
  }
  artefact::Verdict verdict = motion.verdict;
  if (verdict.kind == artefact::Verdict::Kind::kNotJudged) {
    HANDHOLD_ASSIGN(verdict, synthesis::JudgeHold(hand, motion, options));
  }
  HANDHOLD_ASSIGN(const synthesis::MotionFigures figures,
                  synthesis::MeasureMotion(hand, motion, options));
  out->push_back({step.what, "verdict", "", std::string(artefact::VerdictName(verdict.kind)),
                  verdict.cause, synthesis::FiguresOf(figures)});
  return {};
}

}  // namespace

Result<std::vector<Evaluated>> EvaluateStep::Run(const StepContext& context) const {
  std::vector<Evaluated> out;
  const auto info = FindArtefact(context.library, what, "");
  std::vector<std::string> unsaid;
  if (info && info->kind == "motion") {
    HANDHOLD_ASSIGN(const artefact::Motion motion, LoadMotion(context.library, info->hash));
    if (motion.hands.empty() || !motion.stage.hands[0].skeleton.there())
      return Error{ErrorCode::kInvalid, "motion " + what + " has no hand"};
    HANDHOLD_TRY(OfMotion(*this, motion, *motion.stage.hands[0].skeleton, &out));
    // Not every motion shows how it is grasped; those that do are put to the protocols as well.
    if (!p1 && !lift) return out;
    const auto shown = FindExample(context, what, &unsaid);
    if (!shown) return out;
    HANDHOLD_TRY(OfGrasp(*this, *shown, &out));
    return out;
  }
  HANDHOLD_ASSIGN(const FoundExample found, FindExample(context, what, &unsaid));
  HANDHOLD_TRY(OfGrasp(*this, found, &out));
  return out;
}

}  // namespace handhold::pipeline
