// Several foreign files at once, in threads: here under the sanitizers, what they hold is tested
// beside the readers.
#include "tools/pipeline/import.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/exchange/csv_writer.h"
#include "tests/database/exchange/clips.h"

namespace handhold::pipeline::import_test {
namespace {

namespace fs = std::filesystem;

ImportOptions Threads(int jobs) {
  ImportOptions options;
  options.jobs = jobs;
  return options;
}

class Import : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    auto library = store::Library::Create((folder_ / "library").string());
    ASSERT_TRUE(library) << library.error().message;
    library_ = *std::move(library);
    for (int k = 0; k < 6; ++k) {
      paths_.push_back((folder_ / ("take_" + std::to_string(k) + ".csv")).string());
      ASSERT_TRUE(exchange::WriteCsv(testing::MixedClip(200 + k), paths_.back()));
    }
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / "handhold_import_test";
  std::unique_ptr<store::Library> library_;
  std::vector<std::string> paths_;
};

TEST_F(Import, FilesInThreadsLandEachAsItself) {
  const auto files = ImportFiles(library_.get(), paths_, Threads(3));
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), paths_.size());
  for (size_t i = 0; i < files->size(); ++i) {
    const ImportedFile& file = (*files)[i];
    EXPECT_FALSE(file.error) << file.error->message;
    EXPECT_EQ(file.path, paths_[i]);
    EXPECT_EQ(file.format, "csv");
    EXPECT_GT(file.samples, 200);
  }
  EXPECT_EQ(library_->Clips()->size(), paths_.size());
}

TEST_F(Import, ABrokenFileLeavesNothingAndStopsNobody) {
  std::ofstream(paths_[2], std::ios::binary | std::ios::trunc) << "\xff\xfe broken, 1,2\n,,,\n";
  const auto files = ImportFiles(library_.get(), paths_, Threads(3));
  ASSERT_TRUE(files) << files.error().message;
  for (size_t i = 0; i < files->size(); ++i) EXPECT_EQ((*files)[i].error.has_value(), i == 2) << i;
  EXPECT_EQ(library_->Clips()->size(), paths_.size() - 1);
}

TEST_F(Import, CancelledItKeepsWhatWasWhole) {
  const auto files = ImportFiles(library_.get(), paths_, Threads(2),
                                 [](double share, std::string_view) { return share < 0.4; });
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, ErrorCode::kCancelled);
  const size_t kept = library_->Clips()->size();
  EXPECT_GE(kept, 1u);
}

}  // namespace
}  // namespace handhold::pipeline::import_test
