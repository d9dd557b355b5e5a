#include "database/text/file.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verbs.h"
#include "tools/report/page.h"
#include "tools/report/scene_load.h"

namespace handhold::cli {
namespace {

Outcome Show(Context& context) {
  const Arguments& given = context.arguments;
  const std::string to = given.Text("--to");
  if (const auto refused = PageRefusal(to)) return *refused;  // before the work, not after it
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(given.Text("--library")));
  const pipeline::StepContext steps{.library = *library};
  report::SceneLimits limits;
  limits.frames = static_cast<int>(given.Integer("--frames"));
  HANDHOLD_ASSIGN(const report::LoadedScene loaded,
                  report::LoadScene(steps, given.All("WHAT"), limits));
  for (const std::string& chosen : loaded.chosen) context.progress.Note(chosen);
  HANDHOLD_ASSIGN(const std::string page,
                  report::PageWith(text::Json::Object(
                      {{"page", "scene"}, {"scene", report::SceneToJson(loaded.scene)}})));
  if (!context.dry_run) HANDHOLD_TRY(text::WriteTextFile(to, page));
  const auto [begin, end] = loaded.scene.Extent();
  context.printer.PrintRecord({{{.name = "page"}, to},
                               {{.name = "bytes"}, page.size()},
                               {{.name = "motions"}, loaded.scene.motions.size()},
                               {{.name = "channels"}, loaded.scene.channels.size()},
                               {{.name = "length_s", .heading = "length"}, end - begin}});
  return Outcome::Done();
}

}  // namespace

Verb ShowVerb() {
  return {.noun = "show",
          .summary = "one page that plays clips and results: hands, props, forces, plots",
          .examples = {"handhold show session --library lab --to page.html",
                       "handhold show 1f0c2a9b 83d2e6a0 --library lab --to compared.html"},
          .positionals = {{.name = "WHAT",
                           .help = "clips (id, the beginning of one, or name) and artefacts (hash, "
                                   "or the beginning of one)",
                           .repeated = true}},
          .options = {LibraryOption(),
                      {.name = "--to",
                       .value_name = "FILE",
                       .help = "the page to write",
                       .kind = ValueKind::kPath,
                       .fallback = "page.html"},
                      {.name = "--frames",
                       .value_name = "N",
                       .help = "show at most so many frames of each motion, evenly spaced",
                       .kind = ValueKind::kInteger,
                       .fallback = "6000",
                       .range = {.least = 2, .most = 1e6}}},
          .writes = true,
          .headline = true,
          .details =
              "The page holds everything that it shows and needs no network: it opens from a file, "
              "on a phone too.\n"
              "A clip brings its newest poses, contacts and motion. The first thing named is drawn "
              "solid; motions of the\n"
              "others are its ghosts, or stand beside it (b). '?' in the page lists the keys.",
          .run = Show};
}

}  // namespace handhold::cli
