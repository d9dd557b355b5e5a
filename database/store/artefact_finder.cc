#include "database/store/artefact_finder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "database/text/file.h"

namespace handhold::store {
namespace {

/// One more than any hash that begins so: '9' + 1 is no digit, but sorts as it should.
std::string After(std::string prefix) {
  ++prefix.back();
  return prefix;
}

/// The tables in the order in which they are asked (CROSS JOIN keeps it).
std::string From(const ArtefactFilter& filter) {
  if (!filter.made_from.empty())
    return "artefact_input i CROSS JOIN artefact a ON a.hash=i.hash WHERE i.input=?2 AND ";
  if (!filter.subject.empty()) {
    return "clip c CROSS JOIN artefact_input i ON i.input=c.sha256 CROSS JOIN artefact a ON "
           "a.hash=i.hash WHERE c.subject=?2 AND i.role='clip' AND NOT EXISTS(SELECT 1 FROM tag "
           "WHERE tag.clip=c.clip AND tag.kind='withdrawn') AND ";
  }
  return filter.hash_begins.empty() ? "artefact a WHERE "
                                    : "artefact a WHERE a.hash>=?2 AND a.hash<?3 AND ";
}

}  // namespace

Result<std::vector<ArtefactInfo>> FindArtefacts(const Database& catalogue,
                                                const ArtefactFilter& filter) {
  std::vector<ArtefactInfo> list;
  const bool joined = !filter.made_from.empty() || !filter.subject.empty();
  const std::string kind = filter.kind.empty() ? "1" : "a.kind=?1";
  HANDHOLD_ASSIGN(Statement get,
                  catalogue.Prepare(std::string("SELECT ") + (joined ? "DISTINCT " : "") +
                                    "a.hash, a.kind, a.step, a.version, "
                                    "a.parameters, a.made_utc_ns, a.tool, a.asked_utc_ns FROM " +
                                    From(filter) + kind +
                                    " ORDER BY a.asked_utc_ns DESC, a.hash DESC LIMIT ?4"));
  const std::string after = filter.hash_begins.empty() ? "" : After(filter.hash_begins);
  if (!filter.kind.empty()) get.Bind(1, filter.kind);
  if (!filter.made_from.empty()) {
    get.Bind(2, filter.made_from);
  } else if (!filter.subject.empty()) {
    get.Bind(2, filter.subject);
  } else if (!filter.hash_begins.empty()) {
    get.Bind(2, filter.hash_begins).Bind(3, after);
  }
  get.Bind(4, filter.newest);
  HANDHOLD_TRY(get.ForEach([&](Statement& row) -> Status {
    ArtefactInfo& info = list.emplace_back();
    info.hash = row.String(0);
    info.kind = row.String(1);
    info.provenance.step = row.String(2);
    info.provenance.version = row.Int(3);
    info.provenance.parameters_json = row.String(4);
    info.provenance.made_utc = Timestamp::FromNanoseconds(row.Integer(5));
    info.provenance.tool = row.String(6);
    return {};
  }));
  HANDHOLD_ASSIGN(Statement inputs, catalogue.Prepare("SELECT role, input, name FROM "
                                                      "artefact_input WHERE hash=?1 ORDER BY "
                                                      "position"));
  for (ArtefactInfo& info : list) {
    inputs.Bind(1, info.hash);
    HANDHOLD_TRY(inputs.ForEach([&](Statement& row) -> Status {
      info.provenance.inputs.push_back({row.String(0), row.String(1), row.String(2)});
      return {};
    }));
    inputs.Reset();
  }
  return list;
}

std::string RenewedPath(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".renewed").string();
}

Timestamp RenewedAt(const std::string& path) {
  const std::string file = RenewedPath(path);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  const Result<std::string> said = text::ReadTextFile(file, 64);
  int64_t ns = 0;
  if (!said) return {};
  const auto read = std::from_chars(said->data(), said->data() + said->size(), ns);
  return read.ec == std::errc() && ns > 0 ? Timestamp::FromNanoseconds(ns) : Timestamp();
}

}  // namespace handhold::store
