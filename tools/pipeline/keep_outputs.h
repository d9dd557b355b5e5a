/// Keeps what a computation made: one artefact, or several beside a report. Included by
/// step_adapter.h.
///
/// One artefact is named by the step's recipe. Of several each is named by the recipe and its place
/// in it (parameter "made"), and the recipe names a list of them (kind "outputs"), by which they
/// are recognised together. What was cut short says so in "made", with the hash of its content, so
/// that it is never taken for the whole.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "database/artefact/describe.h"
#include "database/artefact/provenance.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "database/store/artefact_file.h"
#include "database/text/json.h"
#include "tools/pipeline/load_input.h"
#include "tools/pipeline/step.h"

namespace handhold::pipeline {

/// The parameter that tells outputs of one recipe apart; none of the step's own.
inline constexpr const char* kMadeParameter = "made";

/// A provenance with what is told of this run, and `made` where it is an object.
Result<artefact::Provenance> ProvenanceOfOutput(const StepContext& context,
                                                const artefact::Provenance& recipe,
                                                const text::Json& made);
/// Adds {"cut_short": why, "run": an id that no other run has}.
void SayCutShort(const step::Work& work, text::Json* made);
/// A fitted hand as it is stored.
Result<store::JsonArtefact> ArtefactOf(const step::Hand& hand);
/// Keeps the list of several under the recipe's name, unless it was cut short.
Result<StepResult> KeepList(const StepContext& context, const artefact::Provenance& recipe,
                            const step::Work& work, std::vector<StepOutput> outputs,
                            text::Json report);

namespace outputs {

template <typename T>
inline constexpr bool kIsOne = store::ArtefactStruct<T> || std::is_same_v<T, step::Hand>;

template <typename T>
Result<std::string> SaveOne(const StepContext& context, const artefact::Provenance& recipe,
                            const step::Work& work, T& value, text::Json made,
                            artefact::Provenance* as = nullptr) {
  if (!work.cut_short().empty()) SayCutShort(work, &made);
  HANDHOLD_ASSIGN(artefact::Provenance provenance, ProvenanceOfOutput(context, recipe, made));
  if (as != nullptr) *as = provenance;
  if constexpr (std::is_same_v<T, step::Hand>) {
    HANDHOLD_ASSIGN(store::JsonArtefact kept, ArtefactOf(value));
    kept.provenance = std::move(provenance);
    return context.library.Save(kept);
  } else {
    value.provenance = std::move(provenance);
    return context.library.Save(value);
  }
}

/// The lists of artefacts that a struct of several names by Output.
class Keeper {
 public:
  static constexpr bool kLoading = false;
  Keeper(const StepContext& context, const artefact::Provenance& recipe, const step::Work& work)
      : context_(context), recipe_(recipe), work_(work) {}
  template <typename T>
  void Field(const char* name, T& v, const artefact::About& = {}) {
    report_.Set(name, artefact::Writable(artefact::ToJson(std::as_const(v))));
  }
  template <typename T>
  void Skip(T&) {}
  /// `of`: the outputs, one for one, that these are made of; an empty one is not there.
  template <typename T>
  void Output(const char* role, std::vector<T>& list, const char* of = "") {
    for (size_t i = 0; i < list.size() && status_; ++i) Save(role, list[i], i, of);
  }
  Status status() const { return status_; }
  std::vector<StepOutput> TakeOutputs() { return std::move(outputs_); }
  text::Json TakeReport() { return std::move(report_); }

 private:
  template <typename T>
  void Save(const char* role, std::optional<T>& value, size_t i, const char* of) {
    if (value) Save(role, *value, i, of);
  }
  template <typename T>
  void Save(const char* role, T& value, size_t i, const char* of) {
    const auto rank = static_cast<int64_t>(i + 1);
    artefact::Provenance recipe = recipe_;
    for (const StepOutput& other : outputs_) {
      if (other.role == of && other.rank == rank) recipe.inputs.push_back({of, other.hash, ""});
    }
    auto hash = SaveOne(context_, recipe, work_, value,
                        text::Json::Object({{"output", role}, {"rank", rank}}));
    if (hash) {
      outputs_.push_back({role, KindName<T>(), rank, *std::move(hash)});
    } else {
      status_ = hash.error();
    }
  }
  const StepContext& context_;
  const artefact::Provenance& recipe_;
  const step::Work& work_;
  std::vector<StepOutput> outputs_;
  text::Json report_ = text::Json::Object();
  Status status_;
};

class Kinds {
 public:
  static constexpr bool kLoading = false;
  template <typename T>
  void Field(const char*, T&, const artefact::About& = {}) {}
  template <typename T>
  void Skip(T&) {}
  template <typename T>
  void Output(const char*, std::vector<T>&, const char* = "") {
    Add<T>(nullptr);
  }
  std::vector<std::string> kinds;

 private:
  template <typename T>
  void Add(const T*) {
    kinds.emplace_back(KindName<T>());
  }
  template <typename T>
    requires requires(T t) {
      typename T::value_type;
      t.has_value();
    }
  void Add(const T*) {
    kinds.emplace_back(KindName<typename T::value_type>());
  }
};

}  // namespace outputs

template <typename R>
std::vector<std::string> KindsMade() {
  if constexpr (outputs::kIsOne<R>) {
    return {KindName<R>()};
  } else {
    R plain{};
    outputs::Kinds kinds;
    Visit(kinds, plain);
    return kinds.kinds;
  }
}

template <typename R>
Result<StepResult> KeepMade(const StepContext& context, const artefact::Provenance& recipe,
                            const step::Work& work, R made) {
  if constexpr (outputs::kIsOne<R>) {
    StepResult result{.chosen = work.notes(), .cut_short = work.cut_short()};
    HANDHOLD_ASSIGN(result.hash,
                    outputs::SaveOne(context, recipe, work, made, {}, &result.provenance));
    result.outputs = {{"", KindName<R>(), 1, result.hash}};
    return result;
  } else {
    artefact::CheckDescribed<R>();
    outputs::Keeper keeper(context, recipe, work);
    Visit(keeper, made);
    HANDHOLD_TRY(keeper.status());
    return KeepList(context, recipe, work, keeper.TakeOutputs(), keeper.TakeReport());
  }
}

}  // namespace handhold::pipeline
