// The clip library against HDF5 and a flat file, on the reference clip, in one run. MCAP on a clip
// of this kind, measured earlier with its C++ library (reference/storage.md 2.2): zstd, 50-sample
// blocks: 1.06x, write 1079 MB/s without sync, full read 3435 MB/s, 1 s of all marker channels 0.34
// ms.
#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "tests/support/bench.h"
#include "tests/support/reference_clip.h"

namespace {

using namespace handhold;
using namespace handhold::bench;
using handhold::testing::ReferenceClip;
namespace fs = std::filesystem;

constexpr int kMarkerChannels = ReferenceClip::kMarkers * 4;
constexpr double kMegabyte = 1e6;
const int kClipSeconds = Brief() ? 4 : ReferenceClip::kSeconds;

template <typename T>
T Must(handhold::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
void Must(Status status) {
  if (!status) throw std::runtime_error(status.error().message);
}

/// Records at FULL in chunks of 0.1 s; answers seconds without Close.
double Record(const ReferenceClip& clip, const std::string& path, double* close_s) {
  fs::remove(path);
  auto writer = Must(store::ClipWriter::Create(path, {}, {}));
  Must(writer->AddStream(ReferenceClip::MarkerInfo()));
  Must(writer->AddStream(ReferenceClip::ForceInfo()));
  const double seconds = Seconds([&] {
    for (size_t b = 0; b < clip.markers.size(); ++b) {
      Must(writer->Append(clip.markers[b]));
      Must(writer->Append(clip.force[b]));
    }
    Must(writer->Commit(true));
  });
  const double close = Seconds([&] { Must(writer->Close()); });
  if (close_s != nullptr) *close_s = close;
  return seconds;
}

/// Frames of floats, as a recorder without a format would keep them; fdatasync per 0.1 s.
class Flat {
 public:
  Flat(const ReferenceClip& clip, std::string folder) : folder_(std::move(folder)) {
    for (const auto* list : {&clip.markers, &clip.force}) {
      for (const recording::SampleBlock& block : *list) {
        std::vector<float>& frames = blocks_[list == &clip.force].emplace_back();
        const int channels = static_cast<int>(block.values.size()) / block.count;
        for (int i = 0; i < block.count; ++i) {
          for (int c = 0; c < channels; ++c)
            frames.push_back(static_cast<float>(block.value(c, i)));
        }
      }
    }
  }
  double Write() const {
    return Seconds([&] {
      int fds[2];
      for (int s = 0; s < 2; ++s)
        fds[s] = ::open(Path(s).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      for (size_t b = 0; b < blocks_[0].size(); ++b) {
        for (int s = 0; s < 2; ++s) {
          const std::vector<float>& frames = blocks_[s][b];
          if (::write(fds[s], frames.data(), frames.size() * 4) < 0 || ::fdatasync(fds[s]) != 0)
            throw std::runtime_error("flat write");
        }
      }
      for (const int fd : fds) ::close(fd);
    });
  }
  double Read() const {
    std::vector<float> buffer(2 << 20);
    return Seconds([&] {
      for (int s = 0; s < 2; ++s) {
        const int fd = ::open(Path(s).c_str(), O_RDONLY);
        while (::read(fd, buffer.data(), buffer.size() * 4) > 0) Keep(buffer[0]);
        ::close(fd);
      }
    });
  }
  double Window(int fd, int first_frame, const int* channels, std::vector<float>& out) const {
    std::vector<float> frames(static_cast<size_t>(ReferenceClip::kMarkerRate) * kMarkerChannels);
    if (::pread(fd, frames.data(), frames.size() * 4,
                static_cast<off_t>(first_frame) * kMarkerChannels * 4) < 0)
      throw std::runtime_error("pread");
    out.clear();
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < ReferenceClip::kMarkerRate; ++i)
        out.push_back(
            frames[static_cast<size_t>(i) * kMarkerChannels + static_cast<size_t>(channels[c])]);
    }
    return static_cast<double>(out.back());
  }
  std::string Path(int s) const { return folder_ + (s == 0 ? "/markers.raw" : "/force.raw"); }
  const std::vector<std::vector<float>>& blocks(int s) const { return blocks_[s]; }

 private:
  std::string folder_;
  std::vector<std::vector<float>> blocks_[2];
};

/// What the disk alone takes: as many bytes as a commit has, overwritten in place and synced, per
/// 0.1 s and nothing else. Nobody who syncs every 0.1 s is faster.
double SyncAlone(const std::string& path, size_t commits) {
  const std::vector<char> commit(24 << 10, 1), room(6 << 20);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || ::write(fd, room.data(), room.size()) < 0 || ::fsync(fd) != 0)
    throw std::runtime_error("sync alone");
  const double seconds = Seconds([&] {
    for (size_t k = 0; k < commits; ++k) {
      const auto at = static_cast<off_t>(k * commit.size() % (room.size() - commit.size()));
      if (::pwrite(fd, commit.data(), commit.size(), at) < 0 || ::fdatasync(fd) != 0)
        throw std::runtime_error("sync alone");
    }
  });
  ::close(fd);
  return seconds;
}

/// One dataset per stream, chunks of 0.5 s, shuffle and gzip-1; flushed per 0.5 s as a recorder
/// that fears a crash must.
class Hdf5 {
 public:
  Hdf5(const Flat& flat, std::string path) : flat_(flat), path_(std::move(path)) {}
  double Write() const {
    return Seconds([&] {
      const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      hid_t sets[2];
      const hsize_t widths[2] = {kMarkerChannels, ReferenceClip::kForceChannels},
                    rates[2] = {ReferenceClip::kMarkerRate, ReferenceClip::kForceRate};
      for (int s = 0; s < 2; ++s) {
        const hsize_t now[2] = {0, widths[s]}, most[2] = {H5S_UNLIMITED, widths[s]},
                      chunk[2] = {rates[s] / 2, widths[s]};
        const hid_t space = H5Screate_simple(2, now, most), plist = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(plist, 2, chunk);
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, 1);
        sets[s] = H5Dcreate2(file, s == 0 ? "markers" : "force", H5T_NATIVE_FLOAT, space,
                             H5P_DEFAULT, plist, H5P_DEFAULT);
        H5Pclose(plist);
        H5Sclose(space);
      }
      std::vector<float> half;
      for (size_t b = 0; b + 5 <= flat_.blocks(0).size(); b += 5) {
        for (int s = 0; s < 2; ++s) {
          half.clear();
          for (size_t k = 0; k < 5; ++k)
            half.insert(half.end(), flat_.blocks(s)[b + k].begin(), flat_.blocks(s)[b + k].end());
          const hsize_t rows = rates[s] / 2, at[2] = {b / 5 * rows, 0}, size[2] = {rows, widths[s]},
                        extent[2] = {at[0] + rows, widths[s]};
          H5Dset_extent(sets[s], extent);
          const hid_t space = H5Dget_space(sets[s]), memory = H5Screate_simple(2, size, nullptr);
          H5Sselect_hyperslab(space, H5S_SELECT_SET, at, nullptr, size, nullptr);
          if (H5Dwrite(sets[s], H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, half.data()) < 0)
            throw std::runtime_error("HDF5 write");
          H5Sclose(memory);
          H5Sclose(space);
        }
        H5Fflush(file, H5F_SCOPE_GLOBAL);
      }
      for (const hid_t set : sets) H5Dclose(set);
      H5Fclose(file);
    });
  }
  double Read() const {
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    std::vector<float> buffer(2 << 20);
    const double seconds = Seconds([&] {
      for (int s = 0; s < 2; ++s) {
        const hid_t set = H5Dopen2(file, s == 0 ? "markers" : "force", H5P_DEFAULT);
        const hsize_t width = s == 0 ? kMarkerChannels : ReferenceClip::kForceChannels,
                      rows = s == 0 ? 1000 : 2000;
        for (hsize_t at = 0; at < rows * static_cast<hsize_t>(kClipSeconds) / 2; at += rows) {
          const hsize_t from[2] = {at, 0}, size[2] = {rows, width};
          const hid_t space = H5Dget_space(set), memory = H5Screate_simple(2, size, nullptr);
          H5Sselect_hyperslab(space, H5S_SELECT_SET, from, nullptr, size, nullptr);
          if (H5Dread(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, buffer.data()) < 0)
            throw std::runtime_error("HDF5 read");
          H5Sclose(memory);
          H5Sclose(space);
        }
        H5Dclose(set);
      }
    });
    H5Fclose(file);
    return seconds;
  }
  double Window(hid_t set, int first_frame, const int* channels, std::vector<float>& out) const {
    out.resize(3u * ReferenceClip::kMarkerRate);
    for (int c = 0; c < 3; ++c) {
      const hsize_t from[2] = {static_cast<hsize_t>(first_frame),
                               static_cast<hsize_t>(channels[c])},
                    size[2] = {ReferenceClip::kMarkerRate, 1};
      const hid_t space = H5Dget_space(set), memory = H5Screate_simple(2, size, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, from, nullptr, size, nullptr);
      if (H5Dread(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT,
                  out.data() + c * ReferenceClip::kMarkerRate) < 0)
        throw std::runtime_error("HDF5 read");
      H5Sclose(memory);
      H5Sclose(space);
    }
    return static_cast<double>(out.back());
  }
  const std::string& path() const { return path_; }

 private:
  const Flat& flat_;
  std::string path_;
};

double ReadAllOf(const store::ClipReader& clip) {
  double sum = 0;
  const double seconds = Seconds([&] {
    for (const recording::StreamInfo& stream : clip.streams()) {
      Must(clip.Stream(stream.id, {}, [&](const recording::SampleWindow& window) -> Status {
        sum += window.values.back();
        return {};
      }));
    }
  });
  Keep(sum);
  return seconds;
}

/// Largest difference to what was given, in quanta, over every value.
double WorstError(const ReferenceClip& source, const store::ClipReader& clip) {
  double worst = 0;
  for (const int stream : {1, 2}) {
    const auto& blocks = stream == 1 ? source.markers : source.force;
    const double quantum = stream == 1 ? 1e-5 : 1.0;
    size_t b = 0;
    int at = 0;
    Must(clip.Stream(stream, {}, [&](const recording::SampleWindow& w) -> Status {
      for (int i = 0; i < w.count(); ++i) {
        for (int c = 0; c < w.channel_count; ++c) {
          const double given = blocks[b].value(c, at), got = w.value(c, i);
          if (std::isnan(given) != std::isnan(got))
            throw std::runtime_error("a missing value is not");
          if (!std::isnan(given)) worst = std::max(worst, std::abs(given - got) / quantum);
        }
        if (++at == blocks[b].count) at = 0, ++b;
      }
      return {};
    }));
    if (b != blocks.size()) throw std::runtime_error("samples are missing");
  }
  return worst;
}

/// Median over random places, ms.
template <typename Fn>
double WindowMs(const Fn& fn) {
  std::mt19937_64 rng(5);
  std::vector<double> times;
  for (int k = 0; k < (Brief() ? 5 : 400); ++k) {
    const int first = static_cast<int>(
        rng() % static_cast<uint64_t>((kClipSeconds - 1) * ReferenceClip::kMarkerRate));
    const int marker = static_cast<int>(rng() % ReferenceClip::kMarkers) * 4;
    const int channels[3] = {marker, marker + 1, marker + 2};
    times.push_back(1e3 * Seconds([&] { Keep(fn(first, channels)); }));
  }
  return Summarise(times).median;
}

double ChildMegabytes(const std::string& path) {
  FILE* child = ::popen((std::string(HANDHOLD_STORE_CHILD) + " " + path).c_str(), "r");
  long kilobytes = 0;
  const int got = child == nullptr ? 0 : std::fscanf(child, "%ld", &kilobytes);
  if (child == nullptr || got != 1 || ::pclose(child) != 0)
    throw std::runtime_error("the child failed");
  return static_cast<double>(kilobytes) * 1024 / kMegabyte;
}

void Run(Reporter& reporter) {
  std::string folder = (fs::temp_directory_path() / "handhold-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const ReferenceClip clip(kClipSeconds);
  if (!Brief() && clip.Hash() != ReferenceClip::kHash)
    throw std::runtime_error("the reference clip is not the one: " + clip.Hash());
  const double raw_MB = static_cast<double>(clip.raw_bytes()) / kMegabyte;
  const Flat flat(clip, folder);
  const Hdf5 hdf5(flat, folder + "/a.h5");
  const std::string path = folder + "/a.clip";
  const std::string hdf5_name = "HDF5 " + std::to_string(H5_VERS_MAJOR) + "." +
                                std::to_string(H5_VERS_MINOR) + "." +
                                std::to_string(H5_VERS_RELEASE) + " shuffle+gzip-1, 0.5 s";

  std::vector<double> ours, closes, flats, hdf5s, syncs;
  for (int k = 0; k < (Brief() ? 1 : 5); ++k) {
    double close_s = 0;
    ours.push_back(raw_MB / Record(clip, path, &close_s));
    closes.push_back(raw_MB / close_s);
    flats.push_back(raw_MB / flat.Write());
    syncs.push_back(raw_MB / SyncAlone(folder + "/sync", clip.markers.size()));
    if (k < 3) hdf5s.push_back(raw_MB / hdf5.Write());
  }
  const Sample write = Summarise(ours), flat_write = Summarise(flats),
               hdf5_write = Summarise(hdf5s);
  const auto speed = [&](const std::string& name, Sample value, const std::string& peer,
                         Sample peer_value, Goal goal) {
    reporter.Report(name, {.value = value,
                           .unit = "MB raw/s",
                           .better = Better::kHigher,
                           .peer = peer,
                           .peer_value = peer_value,
                           .goal = goal});
  };
  speed("store.write", write, "", {}, Goal::SpeedAtLeast(120));
  speed("store.write.hdf5", write, hdf5_name + ", flushed, not synced", hdf5_write, Goal::None());
  speed("store.write.flat", write, "flat file, fdatasync per 0.1 s", flat_write, Goal::None());
  speed("store.write.sync", write, "the disk alone: 24 kB overwritten and fdatasync per 0.1 s",
        Summarise(syncs), Goal::None());
  speed("store.compact", Summarise(closes), "", {}, Goal::None());

  const double stored_MB = static_cast<double>(fs::file_size(path)) / kMegabyte;
  reporter.Report(
      "store.size",
      {.value = {raw_MB / stored_MB, 0},
       .unit = "times smaller than raw",
       .better = Better::kHigher,
       .peer = hdf5_name,
       .peer_value = {raw_MB / (static_cast<double>(fs::file_size(hdf5.path())) / kMegabyte), 0},
       .goal = Goal::AtLeast(5)});
  const auto reader = Must(store::ClipReader::Open(path));
  reporter.Report("store.error", {.value = {WorstError(clip, *reader), 0},
                                  .unit = "quanta",
                                  .goal = Goal::AtMost(0.5 + 1e-9)});

  if (reporter.wants("store.read")) {
    const auto [a, b] = RepeatBoth(
        7, [&] { return raw_MB / ReadAllOf(*reader); }, [&] { return raw_MB / hdf5.Read(); });
    const Sample c = Repeat(7, [&] { return raw_MB / flat.Read(); });
    speed("store.read", a, "", {}, Goal::SpeedAtLeast(1000));
    speed("store.read.hdf5", a, hdf5_name, b, Goal::None());
    speed("store.read.flat", a, "flat file", c, Goal::None());
  }
  if (reporter.wants("store.window")) {
    const hid_t file = H5Fopen(hdf5.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                set = H5Dopen2(file, "markers", H5P_DEFAULT);
    const int fd = ::open(flat.Path(0).c_str(), O_RDONLY);
    std::vector<float> out;
    std::vector<double> a, b, c;
    for (int k = 0; k < (Brief() ? 1 : 5); ++k) {
      a.push_back(WindowMs([&](int first, const int* ch) {
        const Timestamp begin = Timestamp::FromNanoseconds(static_cast<int64_t>(first) * 2'000'000);
        const recording::SampleWindow w =
            Must(reader->Read(1, {begin, begin + Duration::Seconds(1)}, {ch[0], ch[1], ch[2]}));
        if (w.count() != ReferenceClip::kMarkerRate)
          throw std::runtime_error("a window of the wrong length");
        return w.values.back();
      }));
      b.push_back(
          WindowMs([&](int first, const int* ch) { return hdf5.Window(set, first, ch, out); }));
      c.push_back(
          WindowMs([&](int first, const int* ch) { return flat.Window(fd, first, ch, out); }));
    }
    ::close(fd);
    H5Dclose(set);
    H5Fclose(file);
    const auto window = [&](const std::string& name, const std::string& peer, Sample peer_value,
                            Goal goal) {
      reporter.Report(name, {.value = Summarise(a),
                             .unit = "ms",
                             .peer = peer,
                             .peer_value = peer_value,
                             .goal = goal});
    };
    window("store.window", "", {}, Goal::SpeedAtMost(0.06));
    window("store.window.hdf5", hdf5_name, Summarise(b), Goal::None());
    window("store.window.flat", "flat file", Summarise(c), Goal::None());
  }
  if (reporter.wants("store.rss")) {
    reporter.Report("store.rss", {.value = {ChildMegabytes(folder + "/child.clip"), 0},
                                  .unit = "MB peak",
                                  .goal = Goal::AtMost(20)});
  }
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, HANDHOLD_BENCH_MARKS, Run); }
