/// What Schema keeps besides its JSON: resolved references and compiled patterns. Private to
/// database/text.
#pragma once

#include <regex.h>

#include <map>
#include <memory>

#include "database/text/json.h"
#include "database/text/schema.h"

namespace handhold::text {

struct RegexFree {
  void operator()(regex_t* regex) const {
    regfree(regex);
    delete regex;
  }
};
using RegexPtr = std::unique_ptr<regex_t, RegexFree>;

struct Schema::Compiled {
  Json json;
  std::map<const Json*, const Json*> references;  ///< schema object with $ref -> what it names
  std::map<const Json*, RegexPtr> patterns;       ///< schema object with pattern -> its pattern
};

}  // namespace handhold::text
