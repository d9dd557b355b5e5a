/// The page of any take of any task: what was recorded, how well, what was said of it, what was
/// fitted and synthesised from it, and where everything lies. JSON for tools/viewer, which draws
/// it.
///
/// Every figure is read or counted here; nothing is fitted, nothing is filled in. Tests:
/// tests/tools/report/take_page_test.cc.
#pragma once

#include <string>
#include <vector>

#include "database/text/json.h"
#include "tools/pipeline/step.h"
#include "tools/report/scene_fill.h"

namespace handhold::report {

struct TakePage {
  text::Json data;                  ///< for PageWith: {"page": "report", "report", "scene"}
  std::string name;                 ///< of the clip
  std::vector<std::string> chosen;  ///< what was picked where nothing was said
  int64_t results = 0;              ///< fits and motions listed
};

/// `clip`: id, the beginning of one, or name. kNotFound without such a clip.
Result<TakePage> MakeTakePage(const pipeline::StepContext& context, const std::string& clip,
                              const SceneLimits& limits = {});

}  // namespace handhold::report
