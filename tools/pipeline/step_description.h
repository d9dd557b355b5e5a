/// A step as data: what it is called, what it reads, what may be set, what it makes. Made from its
/// Visit (step_adapter.h); verbs, help, recipes and checks are made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database/artefact/describe.h"
#include "database/base/result.h"
#include "database/step/about.h"
#include "database/text/json.h"

namespace handhold::pipeline {

struct RoleDescription {
  std::string name;
  std::string kind;  ///< "clip", "skeleton", "prop" or an artefact's (kind.h)
  bool many = false;
  step::Role role;
  std::string fallback;  ///< what is meant where nothing is said; empty: as the role says
  std::string word() const { return *role.word != '\0' ? role.word : name; }
};

/// One member that a recipe may set.
struct OptionDescription {
  enum class Type {
    kBool,
    kInteger,
    kNumber,
    kSeconds,      ///< a double, in seconds
    kNanoseconds,  ///< a Duration
    kText,
    kChoice,
    kTexts,     ///< a list
    kIntegers,  ///< a list
    kPose,      ///< geometry::RigidTransform, or none
    kRange,     ///< TimeRange, or none
    kNumbers,   ///< doubles by name
    kOther      ///< JSON of its own form
  };
  std::string path;  ///< "outlier_m", "grip.force_N"
  Type type = Type::kOther;
  bool running = false;  ///< limits a run and is no parameter
  artefact::About about;
  std::vector<std::string> choices;  ///< of kChoice
  text::Json fallback;               ///< its default
  std::string word() const;          ///< of the member: "outlier", "force"
  std::string unit() const;          ///< "m", "N"; empty: none
};

struct StepDescription {
  std::string name;  ///< "fit.pose"
  int version = 0;
  std::string summary;
  std::vector<RoleDescription> roles;
  std::vector<OptionDescription> options;
  std::vector<std::string> makes;  ///< kinds

  /// Null when there is none.
  const RoleDescription* FindRole(std::string_view role) const;
  const OptionDescription* FindOption(std::string_view path) const;
};

/// `given` laid over `whole`, member by member; lists and maps are replaced. kInvalid names what
/// the step does not have (with the nearest that it has) or what lies out of its range.
Result<text::Json> CompletedOptions(const StepDescription& step, text::Json whole,
                                    const text::Json& given);

/// The words of About::choices.
std::vector<std::string> ChoicesOf(const artefact::About& about);

/// The unit at the end of a member's name: "m" of "outlier_m"; empty: none.
std::string UnitOf(std::string_view name);

}  // namespace handhold::pipeline
