// The newest result of a kind for a clip, among 100,000 results of 2,000 clips: by index, beside
// reading every result's row as it was done before. Rows are put into the catalogue as they are
// after saving; no result is read by either.
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "database/store/artefact_finder.h"
#include "database/store/catalogue.h"
#include "database/store/library.h"
#include "tests/support/bench.h"

namespace {

using namespace handhold;
using namespace handhold::bench;
namespace fs = std::filesystem;

constexpr int kResults = 100'000, kClips = 2'000;
constexpr const char* kKinds[] = {"skeleton", "pose_track", "contact_track",
                                  "interaction_trajectory", "motion"};

template <typename T>
T Must(handhold::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
void Must(Status status) {
  if (!status) throw std::runtime_error(status.error().message);
}

std::string Hash(int n) {
  // Spread over the hex digits, as SHA-256 is.
  char text[65];
  std::snprintf(text, sizeof text, "%016llx%048d",
                static_cast<unsigned long long>(n) * 0x9E3779B97F4A7C15u, n);
  return text;
}

void Fill(store::Database& catalogue) {
  store::Transaction all = Must(store::Transaction::Begin(catalogue));
  store::Statement put = Must(
      catalogue.Prepare("INSERT INTO artefact VALUES(?1, ?2, 'fit.x', 1, ?3, ?4, 'bench', 1, ?4)"));
  store::Statement input =
      Must(catalogue.Prepare("INSERT INTO artefact_input VALUES(?1, ?2, ?3, ?4, '')"));
  const std::string parameters(400, ' ');
  for (int n = 0; n < kResults; ++n) {
    Must(put.Bind(1, Hash(n))
             .Bind(2, kKinds[n % 5])
             .Bind(3, "{}" + parameters)
             .Bind(4, int64_t{1'700'000'000'000'000'000} + n)
             .Run());
    Must(input.Bind(1, Hash(n)).Bind(2, 0).Bind(3, "clip").Bind(4, Hash(-1 - n % kClips)).Run());
    Must(input.Bind(1, Hash(n)).Bind(2, 1).Bind(3, "pose").Bind(4, Hash(n / 2)).Run());
  }
  Must(all.Commit());
}

void Run(Reporter& reporter) {
  std::string folder = (fs::temp_directory_path() / "handhold-find-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  {
    store::Database catalogue = Must(store::CreateCatalogue(folder + "/catalogue.db", {}));
    Fill(catalogue);
    int clip = 0;
    const auto newest = [&] {
      clip = (clip + 7) % kClips;
      const auto found = Must(store::FindArtefacts(
          catalogue, {.kind = "pose_track", .made_from = Hash(-1 - clip), .newest = 1}));
      const bool has = clip % 5 == 1;  // its results are all of one kind
      if (found.empty() == has) throw std::runtime_error("another answer than planted");
    };
    const Sample by_index = Repeat(201, [&] { return 1e3 * Seconds(newest); });
    const double all_ms =
        1e3 * Seconds([&] { Keep(Must(store::FindArtefacts(catalogue, {.kind = "pose_track"}))); });
    reporter.Report("store.find", {.value = by_index,
                                   .unit = "ms",
                                   .peer = "every result of the kind",
                                   .peer_value = {all_ms, 0},
                                   .goal = Goal::SpeedAtMost(1)});
  }
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, HANDHOLD_BENCH_MARKS, Run); }
