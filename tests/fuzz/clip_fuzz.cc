// Clips and artefacts from anyone. The input is a list of edits to a good file (byte 0: which one;
// then 4 bytes of place, 1 of value each; a place beyond the end cuts the file there), so that
// mutations reach what SQLite's header check would hide. Whatever opens can be asked everything,
// and reading leaves the file as it was.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "database/base/check.h"
#include "database/store/artefact_file.h"
#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "database/store/indexer.h"

using namespace handhold;

namespace {

/// A folder of this run, in memory where there is such a place, removed when it ends in order.
struct RunFolder {
  RunFolder() {
    const std::filesystem::path memory = "/dev/shm";
    path =
        ((std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
         "handhold-fuzz-XXXXXX")
            .string();
    CHECK(::mkdtemp(path.data()) != nullptr);
  }
  ~RunFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};
const std::string& Folder() {
  static const RunFolder folder;
  return folder.path;
}

// By system calls: streams, instrumented, took more time than what is tested.
std::vector<uint8_t> Slurp(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY);
  CHECK_GE(fd, 0);
  std::vector<uint8_t> bytes(static_cast<size_t>(::lseek(fd, 0, SEEK_END)));
  CHECK_EQ(::pread(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  ::close(fd);
  return bytes;
}

void Put(const std::string& path, const std::vector<uint8_t>& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  CHECK_GE(fd, 0);
  CHECK_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::close(fd);
}

recording::Clip SmallClip() {
  recording::ClipInfo info;
  info.id = ClipId::Parse("0192f3a0-0000-7000-8000-000000000001").value();
  info.name = "stroke_001";
  recording::Clip clip(info);
  recording::StreamInfo force;
  force.name = "plate/wrench";
  force.kind = recording::StreamKind::kForceTorque;
  force.rate = {10, 1};
  for (const char* name : {"fx", "fy", "fz", "tx", "ty", "tz"})
    force.channels.push_back({name, "count", 1.0});
  recording::ForceSensor sensor;
  sensor.name = "plate";
  sensor.stream_id = clip.AddStream(force, recording::ClockMap::Identity(0));
  sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 0.01;
  sensor.bias = Eigen::VectorXd::Zero(6);
  clip.AddForceSensor(sensor);
  recording::SampleBlock block;
  block.stream_id = sensor.stream_id;
  block.count = 25;
  for (int i = 0; i < 6 * block.count; ++i) block.values.push_back((i * 7919) % 301 - 150);
  clip.Append(block);
  recording::StreamInfo text;
  text.name = "operator/text";
  text.kind = recording::StreamKind::kText;
  recording::SampleBlock note;
  note.stream_id = clip.AddStream(text, recording::ClockMap::Identity(0));
  note.count = 1;
  note.texts = {"slipped"};
  note.host_times = {Timestamp::FromNanoseconds(5)};
  clip.Append(note);
  clip.AddEvent({Timestamp::FromNanoseconds(7), Duration(), "mark", "operator", 0, 1.0, "touch"});
  return clip;
}

struct Good {
  std::vector<uint8_t> clip, artefact;
  std::string artefact_path;
};
const Good& GoodFiles() {
  static const Good good = [] {
    Good files;
    const std::string path = Folder() + "/good.clip";
    CHECK(store::WriteClip(SmallClip(), path, {}).has_value());
    files.clip = Slurp(path);
    artefact::Provenance p;
    p.step = "fit.skeleton";
    p.inputs = {{"clip", std::string(64, 'a'), "stroke_001"}};
    const auto hash =
        store::SaveArtefact(Folder(), store::JsonArtefact{p, "skeleton", "{\"a\":[1,2]}"});
    CHECK(hash.has_value());
    files.artefact_path = Folder() + "/" + *hash + ".art";
    files.artefact = Slurp(files.artefact_path);
    return files;
  }();
  return good;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  std::vector<uint8_t> bytes = data[0] % 4 == 0 ? GoodFiles().artefact : GoodFiles().clip;
  for (size_t at = 1; at + 5 <= size; at += 5) {
    uint32_t place = 0;
    std::memcpy(&place, data + at, 4);
    if (place % 64 == 63) {
      bytes.resize(std::max<size_t>(1, place / 64 % bytes.size()));
    } else {
      bytes[place / 64 % bytes.size()] = data[at + 4];
    }
  }
  // A result is read under its own name only.
  const std::string path = data[0] % 4 == 0 ? GoodFiles().artefact_path : Folder() + "/fuzz.clip";
  Put(path, bytes);
  Issues damage;
  store::ClipReaderOptions options;
  options.untrusted = data[0] % 8 < 4;
  if (data[0] % 16 < 8) options.damage = &damage;
  if (const auto reader = store::ClipReader::Open(path, options)) {
    for (const recording::StreamInfo& stream : (*reader)->streams()) {
      const auto window = (*reader)->ReadAll(stream.id);
      if (window && stream.kind != recording::StreamKind::kUnlabelledPoints)
        CHECK_EQ(window->values.size(),
                 window->times.size() * static_cast<size_t>(window->channel_count));
      (void)(*reader)->Zones(stream.id).has_value();
      (void)(*reader)->ClockPairs(stream.id).has_value();
    }
    (void)(*reader)->Document("artefact.json").has_value();
    (void)(*reader)->Check().has_value();
    (void)store::IndexClip(**reader).has_value();
  } else {
    CHECK(!reader.error().message.empty());
  }
  // Each opens the file anew, so one of them a run.
  switch (data[0] / 16 % 4) {
    case 0:
      (void)store::ReadArtefactInfo(path).has_value();
      break;
    case 1:
      (void)store::LoadJsonArtefact(path).has_value();
      break;
    case 2:
      (void)store::Load<artefact::PoseTrack>(path).has_value();
      break;
    default:
      break;
  }
  const std::vector<uint8_t> after = Slurp(path);
  CHECK(after.size() == bytes.size() && std::memcmp(after.data(), bytes.data(), bytes.size()) == 0);
  return 0;
}
