// Who may see whom: the project keeps the tables of tests/house/tables.cc, and each check bites.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/house/rules.h"
#include "tests/support/paths.h"

namespace handhold::house::layering_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The least number of files and includes a guard must have seen before its silence counts.
constexpr std::size_t kLeastFiles = 100;
constexpr std::size_t kLeastIncludes = 400;

const SourceTree& Project() {
  static const SourceTree tree = LoadTree(support::SourceDir());
  return tree;
}

TEST(Project, IsAllThere) {
  EXPECT_GE(Project().size(), kLeastFiles);
  std::size_t includes = 0;
  for (const auto& [path, file] : Project()) includes += file.includes.size();
  EXPECT_GE(includes, kLeastIncludes);
}

TEST(Project, KeepsItsLayers) { EXPECT_THAT(CheckLayers(Project()), IsEmpty()); }
TEST(Project, KeepsItsFences) { EXPECT_THAT(CheckFences(Project()), IsEmpty()); }
TEST(Project, KeepsTruthIndependent) { EXPECT_THAT(CheckIndependence(Project()), IsEmpty()); }

// A rule about a folder that does not exist guards nothing: a rename must reach the tables.
TEST(Tables, NameFoldersThatExist) {
  const auto exists = [](std::string_view prefix) {
    for (const auto& [path, file] : Project()) {
      if (Under(path, prefix) || path.starts_with(std::string(prefix) + ".")) return true;
    }
    return false;
  };
  for (const char* needed :
       {"database/model/kinematics", "database/model/dynamics", "database/recording",
        "synthesis/contact", "tools/lab", "tools/lab/truth.h"}) {
    EXPECT_TRUE(exists(needed)) << needed;
  }
}

// ---- canaries: each breach is reported, with the stated message, and nothing else is ----

TEST(LayerCanary, FittingMayNotSeeTheStore) {
  SourceTree tree;
  AddFile(tree, "database/store/clip_writer.h", "");
  AddFile(tree, "fitting/signal/gaps.cc",
          "\n  #  include \"database/store/clip_writer.h\" // why\n");
  EXPECT_THAT(CheckLayers(tree),
              ElementsAre(HasSubstr("fitting/signal/gaps.cc:2: fitting may not include "
                                    "\"database/store/clip_writer.h\"; it may see: ")));
}

TEST(LayerCanary, RecordingSeesOnlyTwoHeadersOfGeometry) {
  SourceTree tree;
  AddFile(tree, "database/geometry/rotation.h", "");
  AddFile(tree, "database/geometry/mesh.h", "");
  AddFile(tree, "database/recording/a.h", "#include \"database/geometry/rotation.h\"\n");
  AddFile(tree, "database/recording/b.h", "#include \"database/geometry/mesh.h\"\n");
  EXPECT_THAT(CheckLayers(tree), ElementsAre(HasSubstr("database/recording/b.h:1: ")));
}

TEST(LayerCanary, TheLongestLayerDecides) {
  SourceTree tree;
  AddFile(tree, "synthesis/world/world.h", "");
  AddFile(tree, "synthesis/interaction/a.cc", "#include \"synthesis/world/world.h\"\n");
  AddFile(tree, "synthesis/contact/b.cc", "#include \"synthesis/world/world.h\"\n");
  EXPECT_THAT(CheckLayers(tree), ElementsAre(HasSubstr("synthesis/contact/b.cc:1: ")));
}

TEST(LayerCanary, AModuleWithoutALayerIsAFinding) {
  SourceTree tree;
  AddFile(tree, "tools/gadget/gadget.cc", "");
  EXPECT_THAT(CheckLayers(tree), ElementsAre(HasSubstr("its module has no layer")));
}

TEST(LayerCanary, AnIncludeIsWrittenFromTheRoot) {
  SourceTree tree;
  AddFile(tree, "database/base/check.h", "");
  AddFile(tree, "database/base/check.cc", "#include \"check.h\"\n");
  EXPECT_THAT(CheckLayers(tree), ElementsAre(HasSubstr("\"check.h\" is no file of the project")));
}

TEST(LayerCanary, CommentsAndStringsAreNotIncludes) {
  SourceTree tree;
  AddFile(tree, "database/base/a.cc",
          "// #include \"fitting/x.h\"\n/*\n#include <sqlite3.h>\n*/\n"
          "const char* s = \"/* not a comment\";\n#include <ode/ode.h>\n");
  EXPECT_THAT(CheckLayers(tree), IsEmpty());
  EXPECT_THAT(CheckFences(tree), ElementsAre(HasSubstr("database/base/a.cc:6: ODE (ode/ode.h) only "
                                                       "in synthesis/world")));
}

TEST(FenceCanary, EveryFenceBites) {
  for (const Fence& fence : Fences()) {
    for (const std::string_view header : fence.headers) {
      SourceTree tree;
      const std::string line = "#include <" + std::string(header) + ">\n";
      AddFile(tree, "nowhere/outside.cc", line);
      AddFile(tree, "tests/nowhere_test.cc", line);
      for (const std::string_view allowed : fence.allowed_in) {
        AddFile(tree, std::string(allowed) + "/inside.cc", line);
      }
      EXPECT_THAT(CheckFences(tree),
                  ElementsAre(HasSubstr("nowhere/outside.cc:1: " + std::string(fence.what) + " (")))
          << header;
    }
  }
}

TEST(IndependenceCanary, FollowsIncludesAndImplementations) {
  SourceTree tree;
  AddFile(tree, "tools/lab/subject.cc", "#include \"database/model/prop.h\"\n");
  AddFile(tree, "database/model/prop.h", "#include \"database/model/inner.h\"\n");
  AddFile(tree, "database/model/inner.h", "");
  AddFile(tree, "database/model/inner.cc", "#include \"database/model/kinematics.h\"\n");
  AddFile(tree, "database/model/kinematics.h", "");
  EXPECT_THAT(CheckIndependence(tree),
              ElementsAre("the lab's truth shares no code with what is tested against it: "
                          "tools/lab/subject.cc -> database/model/prop.h -> "
                          "database/model/inner.h -> database/model/inner.cc -> "
                          "database/model/kinematics.h"));
}

TEST(IndependenceCanary, EveryRuleBites) {
  for (const Independence& rule : Independences()) {
    for (const std::string_view from : rule.from) {
      for (const std::string_view never : rule.never) {
        SourceTree tree;
        const std::string secret = std::string(never) + "/secret.h";
        AddFile(tree, secret, "");
        AddFile(tree, "schemas/between.h", "#include \"" + secret + "\"\n");
        AddFile(tree, std::string(from) + "/planted.cc", "#include \"schemas/between.h\"\n");
        EXPECT_THAT(CheckIndependence(tree),
                    ::testing::Contains(::testing::AllOf(
                        ::testing::StartsWith(std::string(rule.name)), HasSubstr(" -> " + secret))))
            << from << " " << never;
      }
    }
  }
}

TEST(IndependenceCanary, SeesWhatIsHarmless) {
  SourceTree tree;
  AddFile(tree, "tools/lab/subject.cc", "#include \"database/model/skeleton.h\"\n");
  AddFile(tree, "database/model/skeleton.h", "");
  AddFile(tree, "database/model/kinematics.h", "");
  AddFile(tree, "database/model/kinematics.cc", "#include \"database/model/skeleton.h\"\n");
  EXPECT_THAT(CheckIndependence(tree), IsEmpty());
}

}  // namespace
}  // namespace handhold::house::layering_test
