#include "capture/wire/socket.h"
#include "database/base/shell.h"
#include "tools/handhold/live_view.h"
#include "tools/handhold/verbs.h"
#include "tools/live/feeds.h"

namespace handhold::cli {

Verb LiveSimulateVerb() {
  return {
      .noun = "live",
      .name = "simulate",
      .summary = "be the devices of a rig on this machine: a rehearsal without hardware",
      .examples = {"handhold live simulate --rig demo",
                   "handhold live simulate --feed subject1/session.feed --faults standard"},
      .options = {RigOption(),
                  {.name = "--feed",
                   .value_name = "FEED",
                   .help = "session.feed to play again and again; 'pattern': no subject; "
                           "else a subject is made first",
                   .kind = ValueKind::kPath},
                  {.name = "--faults",
                   .value_name = "FAULTS",
                   .help = "none, standard, or a script: 'vicon at 5 s stall 300 ms' per line",
                   .kind = ValueKind::kPath,
                   .fallback = "none"},
                  {.name = "--seconds",
                   .value_name = "S",
                   .help = "leave after this time",
                   .kind = ValueKind::kNumber,
                   .fallback = "0",
                   .range = {.least = 0, .most = kLongest_s, .unit = " s"}}},
      .handles_interrupt = true,
      .needs_library = false,
      .details =
          "In a second terminal, as it is printed: handhold live record --rig demo. Faults "
          "come once, times counted\nfrom the session's begin.",
      .run = [](Context& context) -> Outcome {
        const Arguments& given = context.arguments;
        HANDHOLD_ASSIGN(const capture::Rig rig, capture::FindRig(given.Text("--rig")));
        if (!given.Has("--feed")) context.progress.Note("making a simulated subject ...");
        HANDHOLD_ASSIGN(const live::Feed feed,
                        live::OpenFeed(given.Text("--feed"), Duration::Seconds(60)));
        live::RehearsalOptions options{
            .lead = Duration::Seconds(1), .loop = true, .rig_ports = true};
        HANDHOLD_ASSIGN(options.faults, live::LoadFaults(given.Text("--faults"), rig, feed.length));
        HANDHOLD_ASSIGN(const auto rehearsal,
                        live::Rehearsal::Start(rig, *feed.feed, std::move(options)));
        LiveView view(context, "", false);
        if (view.ndjson()) {
          view.Tell(rehearsal->ToJson());
        } else {
          context.printer.Prose("Playing " + feed.what + ", " +
                                std::to_string(feed.length.ns() / 1'000'000'000) +
                                " s, again and again, as the devices of rig '" + rig.name + "':\n");
          for (const capture::RigSource& source : rehearsal->rig().sources) {
            context.printer.Prose("  " + source.name + "  " +
                                  std::string(RigSourceKindName(source.kind)) + " at " +
                                  source.host + ":" + std::to_string(source.port) + "\n");
          }
          context.printer.Prose("\nIn a second terminal:\n  handhold live record --rig " +
                                ShellWord(given.Text("--rig")) +
                                " --library mylib --seconds 20\n\nCtrl-C or q ends it.\n");
          HANDHOLD_TRY(context.printer.Finish());
        }
        const live::Operator op = view.MakeOperator();
        const Timestamp end = HostNow() + Duration::FromSeconds(given.Number("--seconds"));
        while (!context.interrupted() && op.wish().kind != live::Wish::kQuit &&
               (given.Number("--seconds") <= 0 || HostNow() < end)) {
          HANDHOLD_TRY(rehearsal->Alive());
          capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(50));
        }
        return Outcome::Done();
      }};
}

}  // namespace handhold::cli
