#include "database/artefact/describe.h"

namespace handhold::artefact {

text::Json Writable(text::Json json) {
  if (json.type() == text::Json::Type::kNumber) {
    const double x = *json.number();
    if (std::isfinite(x)) return json;
    return std::isnan(x) ? text::Json() : text::Json(x > 0 ? "inf" : "-inf");
  }
  if (json.is_array()) {
    text::Json list = text::Json::Array();
    for (const text::Json& item : json.elements()) list.Push(Writable(item));
    return list;
  }
  if (json.is_object()) {
    text::Json::Members members;
    for (const text::JsonMember& member : json.members())
      members.push_back({member.key, Writable(member.value)});
    return text::Json::FromMembers(std::move(members));
  }
  return json;
}

}  // namespace handhold::artefact
