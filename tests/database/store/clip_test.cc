#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "database/store/clip_file.h"
#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "tests/database/store/clip_fixture.h"

namespace handhold::store::clip_test {
namespace {

using recording::Clip;
using recording::SampleWindow;
using ::testing::HasSubstr;

Bytes ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

/// Writes with `options`, reads back, compares; both at rest and through random windows.
void RoundTrip(const Clip& clip, const ClipWriterOptions& options, bool exact) {
  const TempDir dir;
  const std::string path = dir / "a.clip";
  const Status written = WriteClip(clip, path, options);
  ASSERT_TRUE(written) << written.error().message;
  const auto reader = ClipReader::Open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_TRUE((*reader)->closed());
  ExpectSameClip(clip, **reader, exact);
  const Result<Issues> issues = (*reader)->Check();
  ASSERT_TRUE(issues);
  EXPECT_TRUE(issues->empty()) << issues->front().where << ": " << issues->front().what;
  std::error_code none;
  for (const char* suffix : {"-wal", "-shm", "-journal", "-lock", ".part"})
    EXPECT_FALSE(std::filesystem::exists(path + suffix, none)) << suffix;

  std::mt19937_64 rng(11);
  for (const recording::StreamInfo& stream : clip.streams()) {
    SCOPED_TRACE(stream.name);
    const TimeRange extent = clip.Extent(stream.id);
    for (int trial = 0; trial < 60; ++trial) {
      const int64_t span = std::max<int64_t>(1, extent.length().ns());
      const Timestamp begin =
          extent.begin + Duration::Nanoseconds(
                             static_cast<int64_t>(rng() % static_cast<uint64_t>(span)) - span / 10);
      const TimeRange range{
          begin,
          begin + Duration::Nanoseconds(static_cast<int64_t>(rng() % static_cast<uint64_t>(span)))};
      std::vector<int> channels;
      std::vector<double> quanta;
      const bool columns = stream.kind != recording::StreamKind::kText &&
                           stream.kind != recording::StreamKind::kUnlabelledPoints;
      for (int k = 0; k < static_cast<int>(rng() % 5) && columns; ++k) {
        channels.push_back(static_cast<int>(rng() % stream.channels.size()));
        quanta.push_back(exact ? 0.0
                               : stream.channels[static_cast<size_t>(channels.back())].quantum);
      }
      for (size_t c = 0; c < stream.channels.size() && channels.empty(); ++c)
        quanta.push_back(exact ? 0.0 : stream.channels[c].quantum);
      const auto a = clip.Read(stream.id, range, channels),
                 b = (*reader)->Read(stream.id, range, channels);
      ASSERT_TRUE(b) << b.error().message;
      // A window of nothing but plain samples carries no origins in one source and may in the
      // other.
      SampleWindow x = *a, y = *b;
      if (x.origins.empty() != y.origins.empty()) x.origins = y.origins = {};
      ExpectSameWindow(x, y, quanta);
    }
  }
}

TEST(Clip, RecordedAndCompactedEqualsItsSource) {
  for (uint64_t seed = 1; seed <= 3; ++seed) RoundTrip(MakeClip(seed), {}, false);
}

TEST(Clip, WrittenDirectlyEqualsItsSource) {
  ClipWriterOptions direct;
  direct.already_complete = true;
  RoundTrip(MakeClip(4), direct, false);
}

TEST(Clip, LosslessKeepsEveryBit) {
  ClipWriterOptions lossless;
  lossless.lossless = true;
  RoundTrip(MakeClip(5), lossless, true);
  lossless.already_complete = true;
  RoundTrip(MakeClip(6), lossless, true);
  FixtureOptions fixture;
  fixture.quantised = fixture.extras = false;
  RoundTrip(MakeClip(7, fixture), {}, true);
}

TEST(Clip, OneSampleAndNone) {
  FixtureOptions tiny;
  tiny.seconds = 0.002;
  tiny.extras = false;
  RoundTrip(MakeClip(8, tiny), {}, false);
  Clip empty{recording::ClipInfo{}};
  RoundTrip(empty, {}, true);
}

TEST(Clip, MoreThan65536Samples) {
  std::mt19937_64 rng(9);
  Clip clip{recording::ClipInfo{}};
  const int stream = clip.AddStream(ForceStream(true), recording::ClockMap::Identity());
  clip.Append(ForceBlock(rng, stream, 0, 0, 65'537));
  clip.Append(ForceBlock(rng, stream, 65'537, 65'540, 65'536));
  RoundTrip(clip, {}, true);
}

// More than a chunk may hold of values and of texts: chunks end sooner then, however they are made.
TEST(Clip, ChunksOfWideStreamsAndLongTextsEndSooner) {
  const TempDir dir;
  recording::StreamInfo wide, notes;
  wide.name = "wide";
  wide.rate = {1000, 1};
  for (int c = 0; c < 3000; ++c) wide.channels.push_back({"c" + std::to_string(c), "V"});
  notes.name = "notes";
  notes.kind = recording::StreamKind::kText;
  for (const bool direct : {true, false}) {
    SCOPED_TRACE(direct);
    ClipWriterOptions options;
    options.already_complete = direct;
    const std::string path = dir / (direct ? "direct.clip" : "recorded.clip");
    auto writer = ClipWriter::Create(path, {}, options).value();
    wide.id = writer->AddStream(wide).value();
    notes.id = writer->AddStream(notes).value();
    recording::SampleBlock values, texts;
    values.stream_id = wide.id;
    values.count = 50;
    texts.stream_id = notes.id;
    texts.count = 50;
    for (int b = 0; b < 16; ++b) {
      values.first_index = values.first_counter = texts.first_index = texts.first_counter = b * 50;
      values.values.clear();
      for (int i = 0; i < 50 * 3000; ++i) values.values.push_back(b * 1e6 + i);
      texts.texts.assign(50, std::string(50'000, static_cast<char>('a' + b)));
      texts.host_times.clear();
      for (int i = 0; i < 50; ++i)
        texts.host_times.push_back(Timestamp::FromNanoseconds((b * 50 + i) * 1'000'000));
      ASSERT_TRUE(writer->Append(values));
      ASSERT_TRUE(writer->Append(texts));
    }
    const Status closed = writer->Close();
    ASSERT_TRUE(closed) << closed.error().message;
    const auto reader = ClipReader::Open(path).value();
    const auto zones = reader->Zones(wide.id).value();
    EXPECT_GE(zones.size(), 3u);
    for (const auto& zone : zones) EXPECT_LE(zone.zone.count, 349) << "2^20 values";
    int64_t seen = 0, wrong = 0;
    ASSERT_TRUE(reader->Stream(wide.id, {}, [&](const SampleWindow& w) -> Status {
      for (int i = 0; i < w.count(); ++i, ++seen) {
        for (int c = 0; c < 3000; ++c)
          wrong += w.value(c, i) == static_cast<double>(seen / 50) * 1e6 + c * 50 +
                                        static_cast<double>(seen % 50)
                       ? 0
                       : 1;
      }
      return {};
    }));
    EXPECT_EQ(seen, 800);
    EXPECT_EQ(wrong, 0);
    seen = 0;
    const Status read = reader->Stream(notes.id, {}, [&](const SampleWindow& w) -> Status {
      for (const std::string& text : w.texts) {
        EXPECT_TRUE(text == std::string(50'000, static_cast<char>('a' + seen / 50)));
        ++seen;
      }
      return {};
    });
    EXPECT_TRUE(read) << read.error().message << ": 40 MB of texts in one chunk?";
    EXPECT_EQ(seen, 800);
  }
}

TEST(Clip, StreamVisitsEverySampleInShortWindows) {
  const TempDir dir;
  const Clip clip = MakeClip(10);
  ASSERT_TRUE(WriteClip(clip, dir / "a.clip", {}));
  const auto reader = ClipReader::Open(dir / "a.clip").value();
  std::vector<int64_t> counters;
  std::vector<double> values;
  ASSERT_TRUE(reader->Stream(1, {2}, [&](const SampleWindow& w) -> Status {
    EXPECT_LE((w.times.back() - w.times.front()).seconds(), 2.1);
    counters.insert(counters.end(), w.counters.begin(), w.counters.end());
    values.insert(values.end(), w.values.begin(), w.values.end());
    return {};
  }));
  const SampleWindow all =
      reader->Read(1, {Timestamp::FromSeconds(-1e9), Timestamp::FromSeconds(1e9)}, {2}).value();
  EXPECT_EQ(counters, all.counters);
  ASSERT_EQ(values.size(), all.values.size());
  const Status stopped = reader->Stream(
      1, {}, [](const SampleWindow&) -> Status { return Error{ErrorCode::kCancelled, "enough"}; });
  EXPECT_EQ(stopped.error().message, "enough");
}

TEST(Clip, UnclosedFileOpensWithWhatWasCommitted) {
  const TempDir dir;
  std::mt19937_64 rng(12);
  recording::ClipInfo info;
  info.id = ClipId::New();
  const std::string path = dir / "a.clip";
  auto writer = ClipWriter::Create(path, info, {}).value();
  const int stream = writer->AddStream(MarkerStream(2, 1e-5)).value();
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 8, 0, 0, 50)));
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 8, 50, 50, 30)));
  EXPECT_EQ(writer->durable().value()[0].durable_index, 50);
  {
    const auto reader = ClipReader::Open(path).value();  // while it is being written
    EXPECT_FALSE(reader->closed());
    EXPECT_EQ(reader->sample_count(stream), 50);
    EXPECT_EQ(reader->ReadAll(stream).value().count(), 50);
    EXPECT_EQ(reader->info().properties.at("recovered"), "not closed");
    EXPECT_EQ(reader->Zones(stream).value().size(), 1u);
  }
  EXPECT_EQ(FinishClip(path).error().code, ErrorCode::kBusy);
  EXPECT_EQ(ClipWriter::Create(path, info, {}).error().code, ErrorCode::kBusy);
  ASSERT_TRUE(writer->Commit(true));
  EXPECT_EQ(writer->durable().value()[0].durable_index, 80);
  writer.reset();  // never closed
  {
    const auto reader = ClipReader::Open(path).value();
    EXPECT_FALSE(reader->closed());
    EXPECT_EQ(reader->ReadAll(stream).value().count(), 80);
  }
  EXPECT_EQ(ClipWriter::Create(path, info, {}).error().code, ErrorCode::kBusy)
      << "takes never overwrite";
  const Status finished = FinishClip(path);
  ASSERT_TRUE(finished) << finished.error().message;
  const auto reader = ClipReader::Open(path).value();
  EXPECT_TRUE(reader->closed());
  EXPECT_EQ(reader->info().properties.at("recovered"), "closed after a crash");
  EXPECT_EQ(reader->ReadAll(stream).value().count(), 80);
}

// A device that claims 1 Hz and sends 500, or all of a held second at once: the others do not wait
// for a sync with each of its packets.
TEST(Clip, APacketOfADeviceFasterThanItSaysIsNoSync) {
  const TempDir dir;
  std::mt19937_64 rng(14);
  recording::ClipInfo info;
  info.id = ClipId::New();
  auto writer = ClipWriter::Create(dir / "a.clip", info, {}).value();
  recording::StreamInfo claims = MarkerStream(2, 1e-5);
  claims.rate = {1, 1};
  const std::array streams{writer->AddStream(claims).value(), writer->AddStream(claims).value()};
  const int64_t before = writer->health().commits;
  for (int i = 0; i < 500; ++i) {
    const recording::ClockPair pair{
        .counter = i, .device_ns = i * 1'000'000'000LL, .host_ns = 1'000'000'000 + i * 2'000'000LL};
    for (const int stream : streams) {
      ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 8, i, i, 1)));
      ASSERT_TRUE(writer->AddClockPairs(stream, std::span(&pair, 1)));
    }
    for (const Durable& durable : writer->durable().value())
      EXPECT_LE(i + 1 - durable.durable_index, 28) << "50 ms and the packets on either side";
  }
  EXPECT_GE(writer->health().commits - before, 15);
  EXPECT_LE(writer->health().commits - before, 25);
  ASSERT_TRUE(writer->Close());
  EXPECT_EQ(ClipReader::Open(dir / "a.clip").value()->ReadAll(streams[1]).value().count(), 500);
}

// Killed between making the file and the first thing it said of itself.
TEST(Clip, OfAnUnfinishedFileThatSaysNothingOfItselfNobodyIsToldToKeepIt) {
  const TempDir dir;
  std::mt19937_64 rng(14);
  const std::string path = dir / "a.clip";
  recording::ClipInfo info;
  info.id = ClipId::New();
  auto writer = ClipWriter::Create(path, info, {}).value();
  EXPECT_FALSE(ClipReader::Open(path).value()->quality().keep);
  const int stream = writer->AddStream(MarkerStream(2, 1e-5)).value();
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 8, 0, 0, 50)));
  writer.reset();
  EXPECT_FALSE(ClipReader::Open(path).value()->quality().keep);
  EXPECT_NE(ClipReader::Open(path).value()->quality().advice, "");
  const Status finished = FinishClip(path);
  ASSERT_TRUE(finished) << finished.error().message;
  EXPECT_FALSE(ClipReader::Open(path).value()->quality().keep);
  // What it said counts, and a file that was closed in peace needs to say nothing.
  for (const bool said : {false, true}) {
    const std::string other = dir / (said ? "b.clip" : "c.clip");
    info.id = ClipId::New();
    auto next = ClipWriter::Create(other, info, {}).value();
    ASSERT_TRUE(said ? next->SetQuality({}) : next->Close());
    next.reset();
    EXPECT_TRUE(ClipReader::Open(other).value()->quality().keep) << said;
  }
}

TEST(Clip, AppendRefusesWhatDoesNotFitAndTakesNothingOfIt) {
  const TempDir dir;
  std::mt19937_64 rng(13);
  auto writer = ClipWriter::Create(dir / "a.clip", {}, {}).value();
  const int stream = writer->AddStream(MarkerStream(1, 1e-5)).value();
  recording::SampleBlock block = MarkerBlock(rng, stream, 4, 0, 10, 20);
  ASSERT_TRUE(writer->Append(block));
  EXPECT_THAT(writer->Append(block).error().message, HasSubstr("counter runs backwards"));
  EXPECT_THAT(writer->Append(MarkerBlock(rng, stream, 4, 7, 30, 20)).error().message,
              HasSubstr("index 20"));
  EXPECT_THAT(writer->Append(MarkerBlock(rng, stream, 3, 20, 30, 20)).error().message,
              HasSubstr("values"));
  EXPECT_EQ(writer->Append(MarkerBlock(rng, 9, 4, 20, 30, 20)).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 4, 20, 35, 20)));  // 30..34 are missing
  ASSERT_TRUE(writer->AddGap({stream, 55, 2, recording::GapCause::kRingOverflow, {}, {}}));
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 4, 40, 57, 20)));
  ASSERT_TRUE(writer->Close());
  const auto reader = ClipReader::Open(dir / "a.clip").value();
  EXPECT_EQ(reader->ReadAll(stream).value().count(), 60);
  ASSERT_EQ(reader->gaps().size(), 2u);
  EXPECT_EQ(reader->gaps()[0].cause, recording::GapCause::kDeviceSkipped);
  EXPECT_EQ(reader->gaps()[0].first_missing_counter, 30);
  EXPECT_EQ(reader->gaps()[0].count, 5);
  EXPECT_EQ(reader->gaps()[0].clip_begin, Timestamp::FromNanoseconds(60'000'000))
      << "placed under the fallback clock";
  EXPECT_EQ(reader->gaps()[1].cause, recording::GapCause::kRingOverflow);
}

TEST(Clip, FallbackClockComesFromTheEarliestPairs) {
  const TempDir dir;
  std::mt19937_64 rng(14);
  recording::ClipInfo info;
  info.host_start_ns = 900'000'000;
  auto writer = ClipWriter::Create(dir / "a.clip", info, {}).value();
  const int stream = writer->AddStream(MarkerStream(1, 1e-5)).value();
  const std::vector<recording::ClockPair> pairs = {{0, 0, 1'000'500'000, 0},
                                                   {50, 100'000'000, 1'100'100'000, 0}};
  ASSERT_TRUE(writer->AddClockPairs(stream, pairs));
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 4, 0, 0, 100)));
  EXPECT_EQ(writer->durable().value()[0].newest_host.ns(), 1'100'100'000);
  writer.reset();
  const auto reader = ClipReader::Open(dir / "a.clip").value();
  EXPECT_EQ(reader->ClockPairs(stream).value(), pairs);
  EXPECT_EQ(reader->Extent(stream).begin.ns(), 100'100'000);
}

TEST(Clip, ClockPairsKeepTheirOrderThroughCompaction) {
  const TempDir dir;
  std::mt19937_64 rng(15);
  auto writer = ClipWriter::Create(dir / "a.clip", {}, {}).value();
  const int stream = writer->AddStream(MarkerStream(1, 1e-5)).value();
  std::vector<recording::ClockPair> all;
  for (int block = 0; block < 20; ++block) {
    std::vector<recording::ClockPair> some;
    for (int i = 0; i < 7001 - block; ++i) {
      const auto n = static_cast<int64_t>(all.size() + some.size());
      some.push_back({n, n * 2'000'000, n * 2'000'000 + static_cast<int64_t>(rng() % 1000), 17});
    }
    ASSERT_TRUE(writer->AddClockPairs(stream, some));
    ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 4, block * 50, block * 50, 50)));
    all.insert(all.end(), some.begin(), some.end());
  }
  // Again while it is written, also what is not committed yet.
  const auto size = static_cast<int64_t>(all.size());
  for (const auto& [begin, end] :
       std::initializer_list<std::pair<int64_t, int64_t>>{{0, 1},
                                                          {0, size},
                                                          {7000, 7002},
                                                          {50'000, 50'900},
                                                          {size - 1, size + 5},
                                                          {-3, 0},
                                                          {9, 9}}) {
    const auto between = writer->ClockPairs(stream, begin, end);
    ASSERT_TRUE(between) << between.error().message;
    const auto first = std::clamp<int64_t>(begin, 0, size),
               past = std::clamp<int64_t>(end, 0, size);
    EXPECT_EQ(*between, std::vector(all.begin() + first, all.begin() + past)) << begin;
  }
  ASSERT_TRUE(writer->Close());
  EXPECT_FALSE(writer->ClockPairs(stream, 0, 1));
  EXPECT_EQ(ClipReader::Open(dir / "a.clip").value()->ClockPairs(stream).value(), all);
  const Database db = Database::Open(dir / "a.clip", {}).value();
  EXPECT_EQ(db.QueryInteger("SELECT count(*) FROM clock_pairs").value(), 3) << "65 536 to a row";
}

TEST(Clip, AFileThatIsCutOffIsNamedWithWhatItLacks) {
  const TempDir dir;
  ASSERT_TRUE(WriteClip(MakeClip(17), dir / "a.clip", {}));
  const auto whole = std::filesystem::file_size(dir / "a.clip");
  ASSERT_GT(whole, 80'000u);
  for (const bool untrusted : {false, true}) {
    for (const auto left : {whole - 1, whole - 4096, whole - 8192, whole * 3 / 4, whole / 2,
                            whole / 10, decltype(whole){4096}, decltype(whole){100}}) {
      const std::string path = dir / "cut.clip";
      std::filesystem::copy_file(dir / "a.clip", path,
                                 std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(path, left);
      ClipReaderOptions options;
      options.untrusted = untrusted;
      const auto reader = ClipReader::Open(path, options);
      ASSERT_FALSE(reader) << left;
      EXPECT_EQ(reader.error().code, ErrorCode::kCorrupt);
      EXPECT_EQ(reader.error().message, path + ": is cut off, with " + std::to_string(left) +
                                            " of " + std::to_string(whole) +
                                            " bytes: copy it again from where it was whole");
    }
  }
  std::filesystem::resize_file(dir / "cut.clip", 60);
  EXPECT_THAT(ClipReader::Open(dir / "cut.clip").error().message,
              ::testing::HasSubstr("is cut off, with 60 bytes"));
  std::filesystem::resize_file(dir / "cut.clip", 0);
  EXPECT_THAT(ClipReader::Open(dir / "cut.clip").error().message,
              ::testing::HasSubstr("it is empty"));
  EXPECT_TRUE(ClipReader::Open(dir / "a.clip")) << "the canary: what is whole opens";
}

// While a log holds what the file lacks, the header's page count is no verdict.
TEST(Clip, ARecordingWhoseLogIsAheadOfItsFileIsNotCutOff) {
  const TempDir dir;
  std::mt19937_64 rng(21);
  auto writer = ClipWriter::Create(dir / "a.clip", {}, {}).value();
  const int stream = writer->AddStream(MarkerStream(1, 1e-5)).value();
  for (int block = 0; block < 200; ++block) {
    ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 4, block * 50, block * 50, 50)));
    const auto reader = ClipReader::Open(dir / "a.clip");
    ASSERT_TRUE(reader) << reader.error().message;
  }
}

TEST(Clip, ZonesBoundEveryValueAndTheSensorsReadings) {
  const TempDir dir;
  const Clip clip = MakeClip(15);
  ASSERT_TRUE(WriteClip(clip, dir / "a.clip", {}));
  const auto reader = ClipReader::Open(dir / "a.clip").value();
  for (const int stream : {1, 2}) {
    const auto zones = reader->Zones(stream).value();
    ASSERT_GT(zones.size(), 1u);
    int64_t samples = 0;
    for (const ClipReader::TimedZone& z : zones) {
      const SampleWindow w = reader->Read(stream, z.range).value();
      ASSERT_EQ(w.count(), z.zone.count);
      samples += w.count();
      for (int c = 0; c < w.channel_count; ++c) {
        uint32_t missing = 0;
        double lowest = 1e300, highest = -1e300;
        for (int i = 0; i < w.count(); ++i) {
          const double v = w.value(c, i);
          missing += std::isnan(v) ? 1 : 0;
          if (!std::isnan(v)) lowest = std::min(lowest, v), highest = std::max(highest, v);
        }
        const ZoneRange& range = z.zone.channels[static_cast<size_t>(c)];
        EXPECT_EQ(range.missing, missing);
        EXPECT_LE(static_cast<double>(range.min), lowest);
        EXPECT_GE(static_cast<double>(range.max), highest);
        EXPECT_NEAR(static_cast<double>(range.max), highest, 1e-6 * std::abs(highest));
      }
      if (stream != 2) continue;
      ASSERT_EQ(z.zone.calibrated.size(), static_cast<size_t>(kSensorZones));
      double highest = -1e300;
      for (int i = 0; i < w.count(); ++i) {
        Eigen::VectorXd raw(6);
        for (int c = 0; c < 6; ++c) raw[c] = w.value(c, i);
        highest = std::max(highest, reader->force_sensors()[0].NormalForce(raw));
      }
      EXPECT_GE(static_cast<double>(z.zone.calibrated[kNormalForceZone].max), highest);
      EXPECT_NEAR(static_cast<double>(z.zone.calibrated[kNormalForceZone].max), highest, 1e-5);
    }
    EXPECT_EQ(samples, reader->sample_count(stream));
  }
}

TEST(Clip, ReadableFromReadOnlyMedia) {
  const TempDir dir;
  ASSERT_TRUE(WriteClip(MakeClip(16), dir / "a.clip", {}));
  ::chmod((dir / "a.clip").c_str(), 0444);
  ::chmod(dir.path().c_str(), 0555);
  const auto reader = ClipReader::Open(dir / "a.clip");
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_GT((*reader)->ReadAll(1).value().count(), 0);
}

TEST(Clip, DocumentsAndUntrustedOpens) {
  const TempDir dir;
  ClipWriterOptions options;
  options.is_artefact = options.already_complete = true;
  auto writer = ClipWriter::Create(dir / "a.art", {}, options).value();
  const Bytes json = {'{', '}', 0, 255};
  ASSERT_TRUE(writer->PutDocument("pose", json));
  EXPECT_FALSE(std::filesystem::exists(dir / "a.art")) << "nothing under the name before Close";
  ASSERT_TRUE(writer->Close());
  ClipReaderOptions untrusted;
  untrusted.untrusted = true;
  const auto reader = ClipReader::Open(dir / "a.art", untrusted).value();
  EXPECT_TRUE(reader->is_artefact());
  EXPECT_EQ(reader->Document("pose").value(), json);
  EXPECT_EQ(reader->Document("motion").error().code, ErrorCode::kNotFound);
}

// A chunk of 0.1 s with an infinity is stored exactly, off the grid; the end of a chunk of 2 s may
// lie between that value and its neighbours.
TEST(Clip, WhatWasStoredExactlyStaysSoWhenCompacted) {
  const TempDir dir;
  for (const double odd : {HUGE_VAL, -0.0, 1e300}) {
    for (const int at : {661, 667, 690}) {  // 2 s end at 667, the chunk is 660 to 692
      const std::string path = dir / "a.clip";
      std::filesystem::remove(path);
      recording::StreamInfo info;
      info.name = "any";
      info.kind = recording::StreamKind::kAnalog;
      info.rate = {1000, 3};
      info.channels = {{"c", "V", 0.25}};
      auto writer = ClipWriter::Create(path, {}, {}).value();
      ASSERT_TRUE(writer->AddStream(info));
      for (int first = 0; first < 1320; first += 33) {
        recording::SampleBlock block;
        block.stream_id = 1;
        block.first_index = block.first_counter = first;
        block.count = 33;
        for (int i = first; i < first + 33; ++i)
          block.values.push_back(i == at ? odd : i == at - 1 ? HUGE_VAL : 0.1 * i);
        ASSERT_TRUE(writer->Append(block));
      }
      const SampleWindow before = ClipReader::Open(path).value()->ReadAll(1).value();
      const Status closed = writer->Close();
      ASSERT_TRUE(closed) << odd << " at " << at << ": " << closed.error().message;
      ExpectSameWindow(before, ClipReader::Open(path).value()->ReadAll(1).value(), {});
    }
  }
}

TEST(Clip, WhatIsLeftOfADamagedFileHoldsNoBrokenTextAndNoBrokenPairs) {
  const TempDir dir;
  std::mt19937_64 rng(16);
  recording::ClipInfo info;
  info.name = "take_001";
  info.properties["rig"] = "lab";
  auto writer = ClipWriter::Create(dir / "a.clip", info, {}).value();
  const int stream = writer->AddStream(MarkerStream(1, 1e-5)).value();
  ASSERT_TRUE(writer->AddClockPairs(stream, std::vector<recording::ClockPair>{{0, 0, 5, 0}}));
  ASSERT_TRUE(writer->Append(MarkerBlock(rng, stream, 4, 0, 0, 50)));
  ASSERT_TRUE(writer->Close());
  DatabaseOptions write;
  write.mode = OpenMode::kReadWrite;
  Database db = Database::Open(dir / "a.clip", write).value();
  ASSERT_TRUE(db.Execute("UPDATE property SET value=CAST(x'6cff62' AS TEXT) WHERE key='rig'"));
  ASSERT_TRUE(db.Execute("UPDATE clock_pairs SET data=zeroblob(40)"));
  db.Close();

  EXPECT_EQ(ClipReader::Open(dir / "a.clip").error().code, ErrorCode::kCorrupt);
  Issues damage;
  ClipReaderOptions rest;
  rest.damage = &damage;
  rest.read_around = true;
  const auto clip = ClipReader::Open(dir / "a.clip", rest);
  ASSERT_TRUE(clip) << clip.error().message;
  EXPECT_EQ((*clip)->info().properties.at("rig"), "l\\xffb");
  const auto pairs = (*clip)->ClockPairs(stream);
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_TRUE(pairs->empty());
  EXPECT_EQ((*clip)->sample_count(stream), 50);
  const auto told = [&](std::string_view where, std::string_view what) {
    return std::ranges::any_of(damage, [&](const Issue& issue) {
      return issue.where == where && issue.what.find(what) != std::string::npos;
    });
  };
  EXPECT_TRUE(told("property", "not as it was written"));
  EXPECT_TRUE(told("texts", "1 are not UTF-8"));
  EXPECT_TRUE(told("stream 'vicon/markers'", "its raw clock pairs are left out")) << [&] {
    std::string all;
    for (const Issue& issue : damage) all += issue.where + ": " + issue.what + "\n";
    return all;
  }();
}

TEST(Clip, ForeignAndNewerFilesAreRefusedAndUntouched) {
  const TempDir dir;
  ASSERT_TRUE(WriteClip(MakeClip(17), dir / "good.clip", {}));
  const Bytes good = ReadFile(dir / "good.clip");
  const auto refuse = [&](const char* name, const Bytes& bytes, ErrorCode code,
                          const char* reason) {
    SCOPED_TRACE(name);
    const std::string path = dir / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    for (const bool untrusted : {false, true}) {
      ClipReaderOptions options;
      options.untrusted = untrusted;
      const auto reader = ClipReader::Open(path, options);
      ASSERT_FALSE(reader);
      EXPECT_EQ(reader.error().code, code);
      EXPECT_THAT(reader.error().message, HasSubstr(reason));
      EXPECT_THAT(reader.error().message, HasSubstr(path));
    }
    EXPECT_FALSE(FinishClip(path));
    EXPECT_EQ(ReadFile(path), bytes);
    for (const char* suffix : {"-wal", "-shm", "-journal"})
      EXPECT_FALSE(std::filesystem::exists(path + suffix)) << suffix;
  };
  refuse("empty.clip", {}, ErrorCode::kInvalid, "it is empty");
  refuse("text.clip", Bytes(5000, 'x'), ErrorCode::kInvalid, "not even an SQLite file");
  Bytes newer = good;
  newer[63] = 99;  // user_version
  refuse("newer.clip", newer, ErrorCode::kVersion, "newer Handhold (schema revision 99");
  Bytes foreign = good;
  foreign[68] = foreign[69] = foreign[70] = foreign[71] = 0;  // application_id
  refuse("foreign.clip", foreign, ErrorCode::kInvalid, "made by another program");
  Bytes ledger = good;
  ledger[70] = 'l';
  refuse("ledger.clip", ledger, ErrorCode::kInvalid, "it is a ledger");
  const auto asking = [&](const char* key) {  // an otherwise good file
    const std::string path = dir / "asking.clip";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(good.data()),
               static_cast<std::streamsize>(good.size()));
    DatabaseOptions write;
    write.mode = OpenMode::kReadWrite;
    Database db = Database::Open(path, write).value();
    EXPECT_TRUE(
        db.Execute(("UPDATE info SET value=99 WHERE key='" + std::string(key) + "'").c_str()));
    EXPECT_TRUE(WriteDigests(db));
    db.Close();
    return ReadFile(path);
  };
  refuse("min_reader.clip", asking("min_reader"), ErrorCode::kVersion,
         "asks for level 99 to be read");
  const Bytes unwritable = asking("min_writer");
  EXPECT_TRUE(ClipReader::Open(dir / "asking.clip")) << "it may be read";
  EXPECT_THAT(FinishClip(dir / "asking.clip").error().message,
              HasSubstr("asks for level 99 to be written"));
  EXPECT_EQ(ReadFile(dir / "asking.clip"), unwritable);
  EXPECT_EQ(ClipReader::Open(dir / "none.clip").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir / "none.clip"));
  EXPECT_THAT(ClipReader::Open(dir.path()).error().message, HasSubstr("is not a file"));
}

}  // namespace
}  // namespace handhold::store::clip_test
