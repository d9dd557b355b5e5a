#include "database/exchange/file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/database/exchange/fixtures.h"

namespace {
bool no_links = false, no_flags = false;
}

// What a FAT (no hard links) and an exFAT (no RENAME_NOREPLACE either) answer; else the kernel's.
extern "C" int link(const char* from, const char* to) noexcept {
  if (no_links) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned int flags) noexcept {
  if (no_flags) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

namespace handhold::exchange::file_writer_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Writer : public testing::ScratchFolder {
 protected:
  void TearDown() override {
    no_links = no_flags = false;
    ScratchFolder::TearDown();
  }
  Status Put(const std::string& text) const {
    HANDHOLD_ASSIGN(FileWriter file, FileWriter::Create(Path("out")));
    HANDHOLD_TRY(file.Write(std::string_view(text)));
    return file.Publish();
  }
  std::string Text(const std::string& name) const {
    std::ifstream in(Path(name));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(Path("")))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Writer, FileSystemsWithoutHardLinks) {
  for (const bool flags : {true, false}) {
    no_links = true;
    no_flags = !flags;
    const Status put = Put("mine");
    ASSERT_TRUE(put.has_value()) << put.error().message;
    EXPECT_EQ(Text("out"), "mine");
    EXPECT_EQ(Names(), std::vector<std::string>{"out"}) << "nothing else is left";
    fs::remove(Path("out"));
  }
}

// A file of that name that comes into being while ours is written is never replaced.
TEST_F(Writer, NeverReplacesWhateverTheFileSystemCan) {
  for (const auto& [links, flags] : {std::pair(true, true), {false, true}, {false, false}}) {
    no_links = no_flags = false;
    FileWriter file = FileWriter::Create(Path("out")).value();
    ASSERT_TRUE(file.Write(std::string_view("mine")).has_value());
    std::ofstream(Path("out")) << "theirs";
    no_links = !links;
    no_flags = !flags;
    EXPECT_THAT(file.Publish().error().message, HasSubstr("exists already"));
    EXPECT_EQ(Text("out"), "theirs");
    fs::remove(Path("out"));
  }
}

// OUT.part may be somebody's: it is neither written nor removed.
TEST_F(Writer, AnothersPartIsNotTouched) {
  std::ofstream(Path("out.part")) << "theirs";
  {
    FileWriter file = FileWriter::Create(Path("out")).value();
    ASSERT_TRUE(file.Write(std::string_view("dropped")).has_value());
  }
  EXPECT_EQ(Names(), std::vector<std::string>{"out.part"}) << "what was not published is removed";
  ASSERT_TRUE(Put("mine").has_value());
  EXPECT_EQ(Text("out"), "mine");
  EXPECT_EQ(Text("out.part"), "theirs");
  EXPECT_EQ(Names().size(), 2u);
}

}  // namespace
}  // namespace handhold::exchange::file_writer_test
