/// A step's struct behind StepInstance: everything the engine needs, made from its Visit. Heavy:
/// included where steps are registered, nowhere else.
///
/// Beside its struct and Visit a step has `Result<Made> Compute(const S&, step::Work&)`, and may
/// have
///   Status Complete(S&, step::Work&)  writes down what nobody said, as far as its inputs tell (a
///                                     clip's only sensor), so that the recipe says it
///   Status Check(const S&)            what Compute would refuse first: a dry run asks it, too
/// and in this folder
///   Status PrepareStep(const StepContext&, S*, std::vector<std::string>* chosen)
///                                     what only the library knows of what was said; or a
///                                     Result<bool>, false where a dry run can go no further
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "database/artefact/describe.h"
#include "database/artefact/kind.h"
#include "database/model/prop.h"
#include "database/recording/clip.h"
#include "database/step/given.h"
#include "database/step/work.h"
#include "database/store/artefact_file.h"
#include "tools/pipeline/engine.h"
#include "tools/pipeline/keep_outputs.h"
#include "tools/pipeline/load_input.h"
#include "tools/pipeline/process_pool.h"
#include "tools/pipeline/registry.h"

namespace handhold::pipeline {
namespace adapter {

// ---- description

template <typename T>
constexpr OptionDescription::Type TypeOf() {
  using Type = OptionDescription::Type;
  if constexpr (std::is_same_v<T, bool>) return Type::kBool;
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>)
    return Type::kNumber;
  if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, std::optional<Duration>>)
    return Type::kNanoseconds;
  if constexpr (std::is_same_v<T, std::string>) return Type::kText;
  if constexpr (std::is_integral_v<T>) return Type::kInteger;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return Type::kTexts;
  if constexpr (std::is_same_v<T, std::vector<int>>) return Type::kIntegers;
  if constexpr (std::is_same_v<T, geometry::RigidTransform> ||
                std::is_same_v<T, std::optional<geometry::RigidTransform>>)
    return Type::kPose;
  if constexpr (std::is_same_v<T, std::optional<TimeRange>>) return Type::kRange;
  if constexpr (std::is_same_v<T, std::map<std::string, double>>) return Type::kNumbers;
  return Type::kOther;
}

class Describer {
 public:
  static constexpr bool kLoading = false;
  explicit Describer(StepDescription* step, std::string path = "")
      : step_(step), path_(std::move(path)) {}

  template <typename T>
  void Field(const char* name, T& v, const artefact::About& about = {}) {
    if constexpr (artefact::Described<T>) {
      Describer inner(step_, path_ + name + ".");
      Visit(inner, v);
    } else {
      auto type = TypeOf<T>();
      if (type == OptionDescription::Type::kNumber && std::string_view(about.value) == "TIME")
        type = OptionDescription::Type::kSeconds;
      std::vector<std::string> choices = ChoicesOf(about);
      if (!choices.empty()) type = OptionDescription::Type::kChoice;
      Add(name, type, about, std::move(choices), artefact::ToJson(std::as_const(v)));
    }
  }
  template <typename E>
  void Choice(const char* name, E& v, std::initializer_list<const char*> words,
              const artefact::About& about = {}) {
    Add(name, OptionDescription::Type::kChoice, about, {words.begin(), words.end()},
        text::Json(std::string(words.begin()[static_cast<size_t>(v)])));
  }
  template <typename T>
  void Skip(T&) {}
  template <typename T>
  void Inline(T& v) {
    Visit(*this, v);
  }
  template <typename T>
  void Running(const char* name, T& v, const artefact::About& about = {}) {
    Field(name, v, about);
    step_->options.back().running = true;
  }
  template <typename T>
  void Input(const char* name, step::Given<T>& given, const step::Role& role) {
    step_->roles.push_back({name, KindName<T>(), false, role, given.ask.key});
  }
  template <typename T>
  void Input(const char* name, step::Many<T>&, const step::Role& role) {
    step_->roles.push_back({name, KindName<T>(), true, role, ""});
  }

 private:
  void Add(const char* name, OptionDescription::Type type, const artefact::About& about,
           std::vector<std::string> choices, text::Json fallback) {
    OptionDescription& option = step_->options.emplace_back();
    option.path = path_ + name;
    option.type = type;
    option.about = about;
    option.choices = std::move(choices);
    option.fallback = std::move(fallback);
  }
  StepDescription* step_;
  std::string path_;
};

// ---- inputs

/// Calls `one(name, given)` and `many(name, list)` for the inputs of a step, and nothing else.
template <typename One, typename Several>
class InputWalk {
 public:
  static constexpr bool kLoading = false;
  InputWalk(const One& one, const Several& many) : one_(one), many_(many) {}
  template <typename T>
  void Field(const char*, T&, const artefact::About& = {}) {}
  template <typename E>
  void Choice(const char*, E&, std::initializer_list<const char*>, const artefact::About& = {}) {}
  template <typename T>
  void Skip(T&) {}
  template <typename T>
  void Inline(T&) {}
  template <typename T>
  void Running(const char*, T&, const artefact::About& = {}) {}
  template <typename T>
  void Input(const char* name, step::Given<T>& given, const step::Role&) {
    one_(name, given);
  }
  template <typename T>
  void Input(const char* name, step::Many<T>& list, const step::Role&) {
    many_(name, list);
  }

 private:
  const One& one_;
  const Several& many_;
};

template <typename S, typename One, typename Several>
void ForEachInput(S& step, const One& one, const Several& many) {
  InputWalk<One, Several> walk(one, many);
  Visit(walk, step);
}

/// Every place of every input, those of many included.
template <typename S, typename Function>
void ForEachGiven(S& step, const Function& function) {
  ForEachInput(
      step, [&](const char*, auto& given) { function(given); },
      [&](const char*, auto& list) {
        for (auto& given : list.items) function(given);
      });
}

// ---- the functions beside a step, found by its namespace

template <typename S>
Result<bool> PrepareIt(const StepContext& context, S& step, std::vector<std::string>* chosen) {
  if constexpr (requires { PrepareStep(context, &step, chosen); }) {
    const auto prepared = PrepareStep(context, &step, chosen);
    if (!prepared) return prepared.error();
    if constexpr (std::is_same_v<decltype(prepared), const Status>) {
      return true;
    } else {
      return *prepared;
    }
  } else {
    return true;
  }
}
template <typename S>
Status CompleteIt(S& step, step::Work& work) {
  if constexpr (requires { Complete(step, work); }) {
    return Complete(step, work);
  } else {
    return {};
  }
}
template <typename S>
Status CheckIt(const S& step) {
  if constexpr (requires { Check(step); }) {
    return Check(step);
  } else {
    return {};
  }
}
template <typename S>
auto ComputeIt(const S& step, step::Work& work) {
  return Compute(step, work);
}

/// What Compute answers, without Result.
template <typename S>
using Made =
    typename decltype(ComputeIt(std::declval<const S&>(), std::declval<step::Work&>()))::value_type;

template <typename S>
StepDescription Describe(S& step) {
  StepDescription description;
  description.name = S::kStep.name;
  description.version = S::kStep.version;
  description.summary = S::kStep.summary;
  Describer describer(&description);
  Visit(describer, step);
  description.makes = KindsMade<Made<S>>();
  return description;
}

}  // namespace adapter

template <typename S>
class StepAdapter : public StepInstance {
 public:
  explicit StepAdapter(S step) : step_(std::move(step)) {}

  const StepDescription& description() const override {
    static const StepDescription kDescription = [] {
      artefact::CheckDescribed<S>();
      S plain;
      return adapter::Describe(plain);
    }();
    return kDescription;
  }
  std::vector<Slot> slots() override {
    std::vector<Slot> slots;
    adapter::ForEachInput(
        step_,
        [&](const char* name, auto& given) {
          Slot& slot = slots.emplace_back();
          slot.role = description().FindRole(name);
          slot.one = &given;
          slot.found = [&given] { return std::vector<step::Found*>{&given}; };
        },
        [&](const char* name, auto& list) {
          Slot& slot = slots.emplace_back();
          slot.role = description().FindRole(name);
          slot.asks = &list.asks;
          slot.query = &list.query;
          slot.add = [&list] { return &list.items.emplace_back(); };
          slot.found = [&list] {
            std::vector<step::Found*> all;
            for (auto& given : list.items) all.push_back(&given);
            return all;
          };
        });
    return slots;
  }
  text::Json Options(bool running) const override {
    artefact::describe::Writer writer(running);
    Visit(writer, const_cast<S&>(step_));  // a writing visit changes nothing
    return writer.Take();
  }
  Status SetOptions(const text::Json& whole) override {
    const text::JsonView view(whole, description().name);
    artefact::describe::Reader reader(view);
    Visit(reader, step_);
    return reader.status();
  }
  Result<bool> Prepare(const StepContext& context, std::vector<std::string>* chosen) override {
    return adapter::PrepareIt(context, step_, chosen);
  }
  void Connect(const StepContext& context) override {
    adapter::ForEachGiven(step_, [&]<typename T>(step::Given<T>& given) {
      if (given.hash.empty()) return;
      if (given.at_hand != nullptr) {
        given.set_source([value = std::static_pointer_cast<const T>(given.at_hand)] {
          return Result<std::shared_ptr<const T>>(value);
        });
        return;
      }
      const step::Found found = given;
      given.set_source(
          [&library = context.library, found] { return LoadInput<T>(library, found); });
    });
  }
  Status Complete(std::vector<std::string>* chosen) override {
    step::Work work;
    HANDHOLD_TRY(adapter::CompleteIt(step_, work));
    chosen->insert(chosen->end(), work.notes().begin(), work.notes().end());
    return {};
  }
  Status Check() override { return adapter::CheckIt(step_); }
  Result<StepResult> ComputeAndSave(const StepContext& context,
                                    const artefact::Provenance& provenance) override {
    Status loaded;
    adapter::ForEachGiven(step_, [&](const auto& given) {
      if (loaded) loaded = given.Load();
    });
    HANDHOLD_TRY(loaded);
    step::Work work(context.progress, context.tell, RunInProcesses);
    HANDHOLD_ASSIGN(auto made, adapter::ComputeIt(step_, work));
    if (work.cut_short().empty()) HANDHOLD_TRY(work.Report(1.0, provenance.step));
    return KeepMade(context, provenance, work, std::move(made));
  }

 private:
  S step_;
};

/// The line of a registry: steps.Add(EntryOf<fitting::FitPoseStep>()).
template <typename S>
StepEntry EntryOf() {
  const StepAdapter<S> plain(S{});
  return {plain.description(), plain.Options(true),
          [] { return std::make_unique<StepAdapter<S>>(S{}); }};
}

template <typename S>
std::unique_ptr<StepInstance> StepOf(S step) {
  return std::make_unique<StepAdapter<S>>(std::move(step));
}

}  // namespace handhold::pipeline
