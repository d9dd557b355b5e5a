#include "database/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

namespace handhold::log_test {
namespace {

constexpr int64_t kNoon = 1'795'003'200'123'456'789;  // 2026-11-18T12:00:00.123456789Z

TEST(LogLine, TextIsForPeople) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, kNoon, LogLevel::kWarning, "stream.late",
                          {{"stream", "netft"},
                           {"age_ms", 412},
                           {"rate_Hz", 499.5},
                           {"note", "two words"},
                           {"red", true}}),
            "2026-11-18T12:00:00.123Z warning stream.late stream=netft age_ms=412 rate_Hz=499.5 "
            "note=\"two words\" red=true");
}

TEST(LogLine, JsonKeepsTypesAndNanoseconds) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, kNoon, LogLevel::kError, "disk.full",
                          {{"path", "/a\"b"},
                           {"left", int64_t{-1}},
                           {"share", 0.1},
                           {"bad", std::nan("")},
                           {"ok", false}}),
            "{\"time\":\"2026-11-18T12:00:00.123456789Z\",\"level\":\"error\",\"event\":\"disk."
            "full\",\"path\":\"/a\\\"b\","
            "\"left\":-1,\"share\":0.1,\"bad\":\"nan\",\"ok\":false}");
}

TEST(LogLine, AValueCannotForgeALine) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = FormatLogLine(format, 0, LogLevel::kInfo, "subject",
                                           {{"name", "x\nerror disk.full\x1b[2J\xC2\x9B\xFF"}});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_THAT(line, ::testing::HasSubstr("x\\nerror disk.full\\u001b[2J\\u009b\xEF\xBF\xBD"));
  }
}

TEST(Log, ObeysTheLevelAndGoesToStderr) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Log(LogLevel::kInfo, "hidden");
  Log(LogLevel::kWarning, "shown", {{"n", 1}});
  SetLogLevel(LogLevel::kDebug);
  Log(LogLevel::kDebug, "now_shown");
  SetLogLevel(LogLevel::kWarning);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(err.find("hidden"), std::string::npos);
  EXPECT_THAT(err, ::testing::HasSubstr("warning shown n=1\n"));
  EXPECT_THAT(err, ::testing::HasSubstr("debug now_shown\n"));
}

TEST(Log, LinesOfThreadsDoNotMix) {
  std::vector<std::string> lines;
  SetLogSink([&](std::string_view line) { lines.emplace_back(line); });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) Log(LogLevel::kError, "event", {{"value", "abc"}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  SetLogSink(nullptr);
  ASSERT_EQ(lines.size(), 800u);
  for (const std::string& line : lines)
    ASSERT_THAT(line, ::testing::EndsWith("error event value=abc"));
}

}  // namespace
}  // namespace handhold::log_test
