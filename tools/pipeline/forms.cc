#include "tools/pipeline/forms.h"

namespace handhold::pipeline {

Result<std::string> Parameters(const text::Json& json) {
  Result<std::string> text = text::CanonicalJson(json);
  if (!text) return text.error().Within("parameters");
  return text;
}

}  // namespace handhold::pipeline
