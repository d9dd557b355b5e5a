/// Every step that there is, by name: what runs them, and how a new one gets in (registry.cc).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/step/given.h"
#include "database/text/json.h"
#include "tools/pipeline/step.h"
#include "tools/pipeline/step_description.h"

namespace handhold::pipeline {

/// One step with its inputs and options, its type left behind (step_adapter.h).
class StepInstance {
 public:
  /// An input: what was said of it, what is found.
  struct Slot {
    const RoleDescription* role;
    step::Found* one = nullptr;                             ///< null: many
    std::vector<step::Ask>* asks = nullptr;                 ///< of many
    std::string* query = nullptr;                           ///< of many
    std::function<step::Found*()> add = {};                 ///< of many: a further place
    std::function<std::vector<step::Found*>()> found = {};  ///< of one and many
  };

  virtual ~StepInstance() = default;
  virtual const StepDescription& description() const = 0;
  virtual std::vector<Slot> slots() = 0;
  /// Every option; with `running` also what limits the run.
  virtual text::Json Options(bool running) const = 0;
  /// kInvalid names the member: every one has to be there.
  virtual Status SetOptions(const text::Json& whole) = 0;

  /// Before roles are resolved: what only the library knows of what was said. False: a dry run, and
  /// an input would have to be made first.
  virtual Result<bool> Prepare(const StepContext& context, std::vector<std::string>* chosen) = 0;
  /// Says of each found input where its value is.
  virtual void Connect(const StepContext& context) = 0;
  /// The step's own Complete: options that nobody said.
  virtual Status Complete(std::vector<std::string>* chosen) = 0;
  /// The step's own Check: what Compute would refuse first.
  virtual Status Check() = 0;
  /// Loads, computes and keeps; `provenance` names the whole result.
  virtual Result<StepResult> ComputeAndSave(const StepContext& context,
                                            const artefact::Provenance& provenance) = 0;
};

/// What is known of a step before anybody wants one.
struct StepEntry {
  StepDescription description;
  text::Json defaults;  ///< of every option, limits of a run included
  std::function<std::unique_ptr<StepInstance>()> make;
};

class Registry {
 public:
  /// CHECKs that the name is new.
  void Add(StepEntry entry);
  const std::vector<StepEntry>& all() const { return steps_; }
  /// Null when there is none.
  const StepEntry* Find(std::string_view name) const;
  /// kNotFound names near ones.
  Result<const StepEntry*> Get(const std::string& name) const;

 private:
  std::vector<StepEntry> steps_;
};

/// The steps of this program.
const Registry& Steps();

}  // namespace handhold::pipeline
