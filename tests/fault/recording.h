/// Recordings whose every value follows from its place, and whether they came back whole. For the
/// fault tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "database/store/clip_reader.h"
#include "database/store/clip_writer.h"
#include "tests/database/store/clip_fixture.h"

namespace handhold::store {

/// One count for CI, one for HANDHOLD_FAULT_FULL=1 (tests/fault/run --full).
inline int Count(int short_form, int full) {
  return std::getenv("HANDHOLD_FAULT_FULL") != nullptr ? full : short_form;
}

/// Sample i of channel c: anything can be checked without knowing what came before. On the grid, so
/// exact.
inline double ValueAt(int64_t i, int c) {
  return static_cast<double>((i * 7919 + c * 104'729) % 4001 - 2000);
}

inline recording::SampleBlock BlockAt(int64_t first, int count) {
  recording::SampleBlock block;
  block.stream_id = 1;
  block.first_index = block.first_counter = first;
  block.count = count;
  for (int c = 0; c < 6; ++c) {
    for (int i = 0; i < count; ++i) block.values.push_back(ValueAt(first + i, c));
  }
  return block;
}

inline recording::StreamInfo KiloHertz() {
  recording::StreamInfo info = ForceStream(true);
  info.rate = {1000, 1};
  return info;
}

/// Opens, reads everything, compares with ValueAt; answers the number of samples, or -1 with a
/// failure recorded.
inline int64_t Verify(const std::string& path) {
  const auto reader = ClipReader::Open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return -1;
  }
  if ((*reader)->streams().empty()) return 0;
  int64_t index = 0, wrong = 0;
  const Status read = (*reader)->Stream(1, {}, [&](const recording::SampleWindow& w) -> Status {
    for (int i = 0; i < w.count(); ++i, ++index) {
      for (int c = 0; c < 6; ++c) wrong += w.value(c, i) == ValueAt(index, c) ? 0 : 1;
      wrong += w.counters[static_cast<size_t>(i)] == index ? 0 : 1;
    }
    return {};
  });
  EXPECT_TRUE(read) << read.error().message;
  EXPECT_EQ(wrong, 0);
  return index;
}

inline void RemoveClip(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal", "-lock", ".part"})
    std::filesystem::remove(path + suffix, ignored);
}

}  // namespace handhold::store
