#include "tools/handhold/verbs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "database/base/log.h"
#include "database/store/sqlite.h"

namespace handhold::cli {

std::vector<std::function<Status()>> StartChecks(int sqlite_version) {
  return {[=] { return store::CheckSqliteVersion(sqlite_version); }};
}

Status WarnOfProblems(const store::Library& library) {
  constexpr int kNamed = 5;
  int lacking = 0;
  HANDHOLD_ASSIGN(const Issues problems, library.Problems());
  for (const Issue& problem : problems) {
    if (problem.severity < Severity::kLoss || ++lacking > kNamed) continue;
    Log(LogLevel::kWarning, "catalogue.lacks", {{"where", problem.where}, {"what", problem.what}});
  }
  if (lacking > kNamed) {
    Log(LogLevel::kWarning, "catalogue.lacks",
        {{"more", lacking - kNamed}, {"fix", "'handhold library check' names all"}});
  }
  return {};
}

void NoteNothingFound(Context& context, const store::QueryResult& found) {
  context.progress.Note("0 of " + std::to_string(found.clips) + " clips");
  for (const std::string& hint : found.hints) context.progress.Note(hint);
}

bool LooksLikeAName(std::string_view word) {
  // Words of letters only, each with a capital at its beginning and small letters after it; a
  // letter outside ASCII counts as small. Task and prop words are written small, codes in capitals
  // or with digits.
  size_t words = 0;
  for (size_t at = 0; at < word.size();) {
    const size_t end = std::min(word.find_first_of(" ,.-_", at), word.size());
    const std::string_view part = word.substr(at, end - at);
    at = end + 1;
    if (part.empty()) continue;
    const auto is_small = [](char c) {
      return (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    };
    const bool capital =
        (part[0] >= 'A' && part[0] <= 'Z') || static_cast<unsigned char>(part[0]) >= 0x80;
    if (part.size() < 2 || !capital || !std::all_of(part.begin() + 1, part.end(), is_small))
      return false;
    ++words;
  }
  return words > 0;
}

Status AskAboutName(Context& context, const std::string& word) {
  if (!LooksLikeAName(word)) return {};
  const std::string what = "'" + word +
                           "' looks like a person's name; clips are shared, and a "
                           "pseudonym such as S03 tells nobody who it was";
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    Log(LogLevel::kWarning, "subject.looks_like_a_name", {{"what", what}});
    return {};
  }
  context.progress.End();
  std::fprintf(stderr, "%s. Keep it? [y/N] ", what.c_str());
  std::fflush(stderr);
  char answer[16] = {};
  const bool read = std::fgets(answer, sizeof answer, stdin) != nullptr;
  if (read && (answer[0] == 'y' || answer[0] == 'Y')) return {};
  return Error{ErrorCode::kCancelled, "nothing was done: give a pseudonym"};
}

Program HandholdProgram() {
  return {
      .verbs =
          {
              LibraryCreateVerb(),  // one line each
              LibraryInfoVerb(),    LibraryCheckVerb(),
              LibraryRebuildVerb(), LiveCheckVerb(),
              LiveRecordVerb(),     LiveMonitorVerb(),
              LiveSimulateVerb(),   ClipListVerb(),
              ClipShowVerb(),       ClipImportVerb(),
              ClipExportVerb(),     ClipTagVerb(),
              ClipRateVerb(),       ClipLabelVerb(),
              ClipNoteVerb(),       ClipRenameVerb(),
              ClipCorrectVerb(),    ClipWithdrawVerb(),
              QueryVerb(),          SqlVerb(),
              FitSkeletonVerb(),    FitPoseVerb(),
              FitContactVerb(),     FitComplianceVerb(),
              FitGraspSpaceVerb(),  SynthGraspVerb(),
              SynthReferenceVerb(), SynthInteractionVerb(),
              SynthControlVerb(),   RegraspVerb(),
              EvaluateVerb(),       RunVerb(),
              ShowVerb(),           ViewVerb(),
              ReportVerb(),         ArtefactListVerb(),
              ArtefactShowVerb(),   ArtefactLineageVerb(),
              ArtefactExportVerb(), ArtefactRecipeVerb(),
              CompletionVerb(),     LabMakeVerb(),
              LabReportVerb(),      VersionVerb(),
              CompleteVerb(),       ReferenceVerb(),
          },
      .version = HANDHOLD_VERSION,
      .start_checks = StartChecks(store::LinkedSqliteVersion()),
  };
}

}  // namespace handhold::cli
