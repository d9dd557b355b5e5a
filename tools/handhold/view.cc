#include <arpa/inet.h>

#include "tools/handhold/verbs.h"
#include "tools/viewer/site.h"

namespace handhold::cli {
namespace {

Outcome View(Context& context) {
  const Arguments& given = context.arguments;
  const std::string path = given.Text("LIBRARY");
  // What is wrong with the library is said here, and not in every answer.
  HANDHOLD_ASSIGN(const auto library, store::Library::Open(path));
  HANDHOLD_ASSIGN(const store::LibraryInfo info, library->Info());
  viewer::ServerOptions options;
  in_addr address{};
  if (inet_pton(AF_INET, given.Text("--address").c_str(), &address) != 1)
    return Outcome::Usage("'" + given.Text("--address") + "' is no IPv4 address");
  options.address = {ntohl(address.s_addr), static_cast<uint16_t>(given.Integer("--port"))};

  std::unique_ptr<live::LiveListener> listener;
  std::string note;
  auto heard = live::LiveListener::Open(static_cast<uint16_t>(given.Integer("--live-port")));
  if (heard) {
    listener = *std::move(heard);
  } else {
    note = "no live page here: " + heard.error().message;
    context.progress.Note(note);
  }
  auto server = viewer::Server::Start(options, [&]() -> Result<viewer::Handler> {
    HANDHOLD_ASSIGN(std::unique_ptr<viewer::Site> opened,
                    viewer::Site::Open(path, listener.get(), note));
    return viewer::Handler([site = std::shared_ptr<viewer::Site>(std::move(opened))](
                               const viewer::Request& r) { return site->Answer(r); });
  });
  if (!server && options.address.port != 0)
    return Error{server.error().code,
                 server.error().message + "; --port 0 takes a port that is free"};
  if (!server) return server.error();
  context.printer.PrintRecord({{{.name = "url"}, "http://" + (*server)->address().ToString() + "/"},
                               {{.name = "library"}, info.path},
                               {{.name = "clips"}, info.clips}});
  (void)context.printer.Finish().has_value();  // at once: somebody waits for the address
  if (options.address.ipv4 != capture::wire::Address::Loopback(0).ipv4)
    context.progress.Note("anybody who reaches " + (*server)->address().ToString() +
                          " can read this library");
  context.progress.Note("Ctrl-C ends it");
  while (!context.interrupted()) capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(100));
  return Outcome::Done();
}

}  // namespace

Verb ViewVerb() {
  return {.noun = "view",
          .summary = "serve a library to a browser on this machine: clips, search, live page",
          .examples = {"handhold view mylib", "handhold view mylib --port 8080"},
          .positionals = {{.name = "LIBRARY", .help = "folder", .kind = ValueKind::kPath}},
          .options = {{.name = "--port",
                       .value_name = "PORT",
                       .help = "to listen at; 0: a free one",
                       .kind = ValueKind::kInteger,
                       .fallback = "28480",
                       .range = {.least = 0, .most = 65535}},
                      {.name = "--address",
                       .value_name = "IPV4",
                       .help = "of this machine; 0.0.0.0 lets others in, without any password",
                       .fallback = "127.0.0.1"},
                      {.name = "--live-port",
                       .value_name = "PORT",
                       .help = "where the recorder says what it sees (live record --publish)",
                       .kind = ValueKind::kInteger,
                       .fallback = "28450",
                       .range = {.least = 1, .most = 65535}}},
          .handles_interrupt = true,
          .headline = true,
          .details =
              "Nothing is written. The list takes the query language; every clip's page has "
              "its player, and the live\n"
              "page shows a recording that runs: health, forces, hidden markers.",
          .run = View};
}

}  // namespace handhold::cli
