/// What the tests of database/exchange share: a folder of their own, issues as text, streams by
/// name.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/exchange/import_source.h"
#include "database/recording/clip.h"

namespace handhold::testing {

/// A folder for one test, empty at its beginning and gone after it.
class ScratchFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("exchange_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string PutFile(const std::string& name, const std::vector<uint8_t>& bytes) const {
    std::ofstream out(Path(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    return Path(name);
  }

 private:
  std::filesystem::path folder_;
};

/// One line per issue: "loss: frames: truncated ...".
inline std::string All(const Issues& issues) {
  std::string text;
  for (const Issue& i : issues)
    text += std::string(SeverityName(i.severity)) + ": " + i.where + ": " + i.what + "\n";
  return text;
}

/// The text must outlive the span.
inline std::span<const uint8_t> Bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// All samples of the one stream of this name.
inline recording::SampleWindow Stream(const recording::Clip& clip, std::string_view name) {
  const auto found = clip.FindStreams(name);
  EXPECT_EQ(found.size(), 1u) << name;
  return found.empty() ? recording::SampleWindow{} : clip.ReadAll(found[0]->id).value();
}

/// One column of it, by the channel's name.
inline std::vector<double> Column(const recording::Clip& clip, std::string_view stream,
                                  std::string_view channel) {
  const auto found = clip.FindStreams(stream);
  const int c = found.size() == 1 ? found[0]->FindChannel(channel) : -1;
  EXPECT_GE(c, 0) << "no " << channel << " in " << stream;
  std::vector<double> values;
  if (c < 0) return values;
  const recording::SampleWindow window = clip.ReadAll(found[0]->id).value();
  for (int i = 0; i < window.count(); ++i) values.push_back(window.value(c, i));
  return values;
}

/// What is read of a file: all of it, and what was found odd.
struct ReadFile {
  recording::Clip clip{recording::ClipInfo{}};
  Issues issues;
  std::vector<recording::StreamInfo> streams;
};

/// Reads a source that must open and be readable.
inline ReadFile ReadAll(Result<std::unique_ptr<exchange::ImportSource>> source) {
  EXPECT_TRUE(source.has_value()) << source.error().message;
  if (!source) return {};
  auto clip = exchange::ReadWhole(**source);
  EXPECT_TRUE(clip.has_value()) << clip.error().message;
  if (!clip) return {};
  return {*std::move(clip), (*source)->issues(), (*source)->streams()};
}

}  // namespace handhold::testing
