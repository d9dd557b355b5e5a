// C3D: decoding on one core, importing 20 files of 57 MB, memory whatever the file's length. The
// file is formats.md's: 500 Hz, 60 s, 60 markers and 24 analog channels at 10x, floats. ezc3d 1.7.2
// on such a file, measured earlier: 57 MB/s and 368 MB. Peer in the same run: plain copies of the
// 20 files, each synced, which say what the disk can do.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

#include "database/exchange/c3d_number.h"
#include "database/exchange/c3d_parameters.h"
#include "database/exchange/c3d_reader.h"
#include "database/exchange/csv_reader.h"
#include "database/exchange/csv_writer.h"
#include "tests/bench/exchange_file.h"
#include "tests/support/bench.h"
#include "tests/support/command.h"
#include "tools/pipeline/import.h"

namespace {

using namespace handhold;
using namespace handhold::bench;
namespace fs = std::filesystem;

const int kFiles = Brief() ? 2 : 20, kFrames = Brief() ? 1'000 : 30'000;
constexpr double kMegabyte = 1e6;

template <typename T>
T Must(handhold::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
void Must(Status status) {
  if (!status) throw std::runtime_error(status.error().message);
}

/// MB of file per second: opened, every value decoded into blocks, one core.
double Decode(const std::string& path) {
  double sum = 0;
  int64_t values = 0;
  const double seconds = Seconds([&] {
    const auto source = Must(exchange::OpenC3d(path));
    Must(source->ForEachBlock(Duration::Seconds(2), [&](const recording::SampleBlock& block) {
      values += static_cast<int64_t>(block.values.size());
      sum += block.values[block.values.size() / 2];
      return Status();
    }));
  });
  Keep(sum);
  if (values < 100 * kFrames) throw std::runtime_error("decoded too little");
  return static_cast<double>(fs::file_size(path)) / kMegabyte / seconds;
}

/// As simple as a copy that survives can be: read, write, sync.
void Copy(const std::string& from, const std::string& to) {
  std::vector<char> buffer(1 << 20);
  const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC),
            out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  ssize_t n = 0;
  while (in >= 0 && out >= 0 && (n = ::read(in, buffer.data(), buffer.size())) > 0) {
    if (::write(out, buffer.data(), static_cast<size_t>(n)) != n)
      throw std::runtime_error("cannot write " + to);
  }
  if (n != 0 || ::fsync(out) != 0) throw std::runtime_error("cannot copy to " + to);
  ::close(in);
  ::close(out);
}

/// Twenty files at once, and what a copy of them takes.
void Import(Reporter& reporter, const std::vector<std::string>& files, const fs::path& folder) {
  double bytes = 0, stored = 0;
  for (const std::string& file : files) bytes += static_cast<double>(fs::file_size(file));
  int round = 0;
  const auto import = [&] {
    const auto library =
        Must(store::Library::Create((folder / ("lab" + std::to_string(round++))).string()));
    const double seconds = Seconds([&] {
      for (const pipeline::ImportedFile& file :
           Must(pipeline::ImportFiles(library.get(), files, {})))
        if (file.error || file.lost()) throw std::runtime_error("a file was not imported whole");
    });
    stored = 0;
    for (const auto& entry : fs::directory_iterator(library->path() + "/clips"))
      stored += static_cast<double>(entry.file_size());
    fs::remove_all(library->path());
    return bytes / kMegabyte / seconds;
  };
  const auto copy = [&] {
    const fs::path copies = folder / "copies";
    fs::create_directories(copies);
    const double seconds = Seconds([&] {
      for (const std::string& file : files)
        Copy(file, (copies / fs::path(file).filename()).string());
    });
    fs::remove_all(copies);
    return bytes / kMegabyte / seconds;
  };
  const auto [speed, copied] = RepeatBoth(3, import, copy);
  reporter.Note("import: stored " + std::to_string(stored / bytes) + " of the files' bytes");
  reporter.Report(
      "exchange.c3d_import",
      {.value = speed, .unit = "MB/s", .better = Better::kHigher, .goal = Goal::SpeedAtLeast(150)});
  reporter.Report("exchange.c3d_import.copy",
                  {.value = speed,
                   .unit = "MB/s",
                   .better = Better::kHigher,
                   .peer = "plain copies of the files, each with fsync, one after another",
                   .peer_value = copied});
}

void Run(Reporter& reporter) {
  const fs::path folder = fs::temp_directory_path() / "handhold_exchange_bench";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  const std::string real = path("take_00.c3d");
  MakeC3d(real, kFrames, true, 1);
  reporter.Note("file of " + std::to_string(fs::file_size(real)) + " bytes");

  if (reporter.wants("exchange.c3d_decode"))
    reporter.Report("exchange.c3d_decode", {.value = Repeat(9, [&] { return Decode(real); }),
                                            .unit = "MB/s",
                                            .better = Better::kHigher,
                                            .goal = Goal::SpeedAtLeast(800)});
  if (reporter.wants("exchange.c3d_decode.integer")) {
    const std::string integers = path("integers.c3d");
    MakeC3d(integers, kFrames, false, 1);
    reporter.Report("exchange.c3d_decode.integer",
                    {.value = Repeat(9, [&] { return Decode(integers); }),
                     .unit = "MB/s",
                     .better = Better::kHigher});
  }
  if (reporter.wants("exchange.c3d_rss")) {
    // Ten times as long: what grows with the file would show.
    const std::string longer = path("long.c3d");
    MakeC3d(longer, 10 * kFrames, true, 2);
    const auto run = support::RunCommand(std::string(HANDHOLD_EXCHANGE_CHILD) + " " + longer + " " +
                                         path("long.clip"));
    if (run.exit_code != 0) throw std::runtime_error(run.output);
    reporter.Report("exchange.c3d_rss", {.value = Summarise({std::stod(run.output) * 1024 / 1e6}),
                                         .unit = "MB",
                                         .goal = Goal::AtMost(64)});
    fs::remove(longer);
  }
  if (reporter.wants("exchange.c3d_import")) {
    std::vector<std::string> files = {real};
    for (int i = 1; i < kFiles; ++i) {
      files.push_back(path("take_" + std::to_string(i) + ".c3d"));
      MakeC3d(files.back(), kFrames, true, 1 + i);
    }
    Import(reporter, files, folder);
  }
  if (reporter.wants("exchange.csv_read")) {
    const std::string shorter = path("short.c3d"), csv = path("short.csv");
    MakeC3d(shorter, kFrames / 10, true, 3);
    const recording::Clip clip = Must(exchange::ReadWhole(*Must(exchange::OpenC3d(shorter))));
    Must(exchange::WriteCsv(clip, csv));
    reporter.Report("exchange.csv_read",
                    {.value = Repeat(5,
                                     [&] {
                                       const double s = Seconds([&] {
                                         Must(exchange::ReadWhole(*Must(exchange::OpenCsv(csv))));
                                       });
                                       return static_cast<double>(fs::file_size(csv)) / kMegabyte /
                                              s;
                                     }),
                     .unit = "MB/s",
                     .better = Better::kHigher});
  }
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, HANDHOLD_BENCH_MARKS, Run); }
