// NOTICES.md lists what the product includes and links, and what tools/setup fetches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house/source_tree.h"
#include "tests/support/command.h"
#include "tests/support/paths.h"

namespace handhold::house::notices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Notice {
  std::string version, licence;
  std::string as;                     // "static, `libsqlite3`"; only in the first table
  std::vector<std::string> includes;  // "Eigen", "sqlite3.h"; only in the first table
};

std::string Trim(std::string text) {
  const auto begin = text.find_first_not_of(" `\t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" `\t") - begin + 1);
}

std::vector<std::string> Split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(Trim(part));
  return parts;
}

// Rows of every table whose first column is "name".
std::map<std::string, Notice> ParseNotices(const std::string& markdown) {
  std::map<std::string, Notice> notices;
  std::istringstream in(markdown);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| ")) continue;
    std::vector<std::string> cells = Split(line, '|');  // cells[0] is what stands before the first
                                                        // bar
    if (cells.size() < 6 || cells[1] == "name") continue;
    Notice& notice = notices[cells[1]];
    notice.version = cells[2];
    notice.licence = cells[3];
    if (cells.size() > 6) {
      notice.as = line;
      for (const std::string& header : Split(cells[5], ',')) {
        if (!header.empty()) notice.includes.push_back(header);
      }
    }
  }
  return notices;
}

const std::map<std::string, Notice>& Notices() {
  static const auto notices = ParseNotices(ReadText(support::SourceDir() + "/NOTICES.md"));
  return notices;
}

// C++ (no suffix), C, POSIX and the compiler's own headers.
bool IsSystemHeader(const std::string& header) {
  if (header.find('.') == std::string::npos && header.find('/') == std::string::npos) return true;
  static const std::set<std::string> posix = {
      "dirent.h",  "dlfcn.h",   "endian.h",   "errno.h",  "execinfo.h", "fcntl.h", "fenv.h",
      "ftw.h",     "ifaddrs.h", "langinfo.h", "locale.h", "malloc.h",   "netdb.h", "poll.h",
      "pthread.h", "pwd.h",     "regex.h",    "sched.h",  "signal.h",   "spawn.h", "stdio.h",
      "stdlib.h",  "string.h",  "termios.h",  "time.h",   "unistd.h"};
  return posix.count(header) != 0 || header.ends_with("intrin.h") || header == "cpuid.h" ||
         Under(header, "sys") || Under(header, "netinet") || Under(header, "arpa") ||
         Under(header, "net") || Under(header, "linux");
}

// Foreign includes of product files that no notice names.
std::vector<std::string> UnnoticedIncludes(const SourceTree& tree,
                                           const std::map<std::string, Notice>& notices) {
  std::vector<std::string> findings;
  for (const auto& [path, file] : tree) {
    if (Under(path, "tests")) continue;
    for (const Include& include : file.includes) {
      if (include.quoted || IsSystemHeader(include.path)) continue;
      const bool noticed = std::any_of(notices.begin(), notices.end(), [&](const auto& entry) {
        return std::any_of(entry.second.includes.begin(), entry.second.includes.end(),
                           [&](const auto& header) { return Under(include.path, header); });
      });
      if (!noticed) findings.push_back(path + ": <" + include.path + "> is in no notice");
    }
  }
  return findings;
}

// Shared libraries an executable asks for, without their versions: "libode".
std::vector<std::string> Libraries(const std::string& executable) {
  std::vector<std::string> names;
  const auto result = support::RunCommand("LC_ALL=C readelf --dynamic --wide " + executable);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  std::istringstream in(result.output);
  for (std::string line; std::getline(in, line);) {
    const std::size_t open = line.find('[');
    if (line.find("(NEEDED)") == std::string::npos || open == std::string::npos) continue;
    names.push_back(line.substr(open + 1, line.find(".so", open) - open - 1));
  }
  return names;
}

std::vector<std::string> UnnoticedLibraries(const std::vector<std::string>& libraries,
                                            const std::map<std::string, Notice>& notices) {
  std::vector<std::string> findings;
  for (std::string name : libraries) {
    // The sanitizers of preset dev are the compiler's and never shipped.
    if (name == "libasan" || name == "libubsan" || name == "libtsan") continue;
    // "ld-linux-x86-64" and "libc" are the runtime of every program.
    if (name.starts_with("ld-linux")) name = "ld-linux";
    const bool noticed = std::any_of(notices.begin(), notices.end(), [&](const auto& entry) {
      return entry.second.as.find("`" + name + "`") != std::string::npos;
    });
    if (!noticed) findings.push_back(name + " is linked and in no notice");
  }
  return findings;
}

TEST(Notices, CoverEveryForeignInclude) {
  const SourceTree tree = LoadTree(support::SourceDir());
  EXPECT_GE(tree.size(), 100u);
  EXPECT_THAT(UnnoticedIncludes(tree, Notices()), IsEmpty());
}

TEST(Notices, CoverEveryLinkedLibrary) {
  const auto libraries = Libraries(HANDHOLD_LINKED);
  EXPECT_GE(libraries.size(), 3u);  // at least the C and C++ runtime: the list was read
  EXPECT_THAT(libraries, ::testing::Contains("libstdc++"));
  EXPECT_THAT(UnnoticedLibraries(libraries, Notices()), IsEmpty());
}

TEST(Notices, HaveVersionAndLicence) {
  EXPECT_GE(Notices().size(), 30u);
  for (const auto& [name, notice] : Notices()) {
    EXPECT_FALSE(notice.version.empty()) << name;
    EXPECT_FALSE(notice.licence.empty()) << name;
  }
}

// The lines of a NAME='...' block of tools/setup.
std::vector<std::string> SetupTable(const std::string& name) {
  const std::string script = ReadText(support::SourceDir() + "/tools/setup");
  const std::string opening = "\n" + name + "='\n";
  const std::size_t begin = script.find(opening);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + opening.size();
  std::vector<std::string> lines;
  for (const auto& line : Split(script.substr(from, script.find("\n'\n", from) - from), '\n')) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

TEST(Notices, AgreeWithWhatSetupFetches) {
  std::map<std::string, std::string> fetched;
  for (const std::string& line : SetupTable("python_table")) {
    const std::size_t equals = line.find("==");
    ASSERT_NE(equals, std::string::npos) << line;
    fetched[line.substr(0, equals)] = line.substr(equals + 2, line.find(' ') - equals - 2);
  }
  const std::size_t from_pypi = fetched.size();
  // A Python of its own: what both have has a row for each.
  for (const std::string& line : SetupTable("opensim_table")) {
    const std::size_t equals = line.find("==");
    ASSERT_NE(equals, std::string::npos) << line;
    const std::string name = line.substr(0, equals);
    fetched[fetched.count(name) == 0 ? name : name + " (for opensim)"] =
        line.substr(equals + 2, line.find(' ') - equals - 2);
  }
  EXPECT_EQ(fetched.size() - from_pypi, 2u);
  const std::size_t from_both = fetched.size();
  for (const std::string& line : SetupTable("npm_table")) {
    std::istringstream in(line);
    std::string name, version;
    in >> name >> version;
    fetched[name] = version;
  }
  EXPECT_GE(from_pypi, 10u);
  EXPECT_GE(fetched.size() - from_both, 3u);
  const std::map<std::string, std::string> built = {
      {"sqlite3", "SQLite"}, {"ezc3d", "ezc3d"}, {"vicon", "Vicon DataStream SDK"}};
  const std::string script = ReadText(support::SourceDir() + "/tools/setup");
  for (const auto& [recipe, name] : built) {
    const std::size_t at = script.rfind("package " + recipe + " ");
    ASSERT_NE(at, std::string::npos) << recipe;
    std::istringstream in(script.substr(at + 8 + recipe.size()));
    in >> fetched[name];
  }
  for (const auto& [name, version] : fetched) {
    const auto notice = Notices().find(name);
    ASSERT_NE(notice, Notices().end()) << name << " " << version << " is in no notice";
    EXPECT_EQ(notice->second.version, version) << name;
  }
}

// ---- canaries ----

TEST(NoticesCanary, AnUnknownIncludeIsFound) {
  SourceTree tree;
  AddFile(tree, "database/text/a.cc",
          "#include <vector>\n#include <sys/socket.h>\n"
          "#include <nlohmann/json.hpp>\n#include <fmt/format.h>\n");
  EXPECT_THAT(UnnoticedIncludes(tree, Notices()),
              ElementsAre("database/text/a.cc: <fmt/format.h> is in no notice"));
  EXPECT_THAT(UnnoticedIncludes(tree, {}), ::testing::SizeIs(2));
}

TEST(NoticesCanary, AnUnknownLibraryIsFound) {
  EXPECT_THAT(UnnoticedLibraries({"libc", "libode", "libfftw3"}, Notices()),
              ElementsAre("libfftw3 is linked and in no notice"));
  // Really read from an executable: a shell links none of ours, and something.
  EXPECT_THAT(UnnoticedLibraries(Libraries("/bin/sh"), {}),
              ::testing::Contains(HasSubstr("libc is")));
}

}  // namespace
}  // namespace handhold::house::notices_test
