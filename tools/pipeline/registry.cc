#include "tools/pipeline/registry.h"

#include "database/base/check.h"
#include "database/base/names.h"
#include "tools/pipeline/registered_steps.h"

namespace handhold::pipeline {

void Registry::Add(StepEntry entry) {
  CHECK(Find(entry.description.name) == nullptr);
  steps_.push_back(std::move(entry));
}

const StepEntry* Registry::Find(std::string_view name) const {
  for (const StepEntry& entry : steps_) {
    if (entry.description.name == name) return &entry;
  }
  return nullptr;
}

Result<const StepEntry*> Registry::Get(const std::string& name) const {
  if (const StepEntry* entry = Find(name)) return entry;
  std::vector<std::string> names;
  for (const StepEntry& entry : steps_) names.push_back(entry.description.name);
  return Error{ErrorCode::kNotFound, "no step '" + name + "'" + DidYouMean(name, names)};
}

const Registry& Steps() {
  static const Registry kSteps = [] {
    Registry steps;
    AddFits(&steps);
    AddSyntheses(&steps);
    return steps;
  }();
  return kSteps;
}

}  // namespace handhold::pipeline
