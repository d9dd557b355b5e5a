// The library's pages: what each address answers, and that nothing is written.
#include "tools/viewer/site.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shown_library.h"

namespace handhold::viewer::site_test {
namespace {

using handhold::testing::ShownLibrary;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;
using text::Json;

Response Ask(Site& site, const std::string& path,
             std::multimap<std::string, std::string> query = {}) {
  return site.Answer({.path = path, .query = std::move(query)});
}
Json JsonOf(const Response& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.type, "application/json");
  return *text::ParseJson(response.body);
}

TEST(SiteTest, ListsClipsWithTheirQuality) {
  ShownLibrary shown("list");
  ASSERT_TRUE(shown.Say(store::LedgerKind::kTag, "good", ""));
  auto site = *Site::Open(shown.library->path());
  const Json list = JsonOf(Ask(*site, "/api/clips"));
  EXPECT_EQ(*list.Find("total")->integer(), 1);
  EXPECT_FALSE(*list.Find("recording")->boolean());
  const Json& clip = list.Find("clips")->elements().at(0);
  EXPECT_EQ(*clip.Find("name")->string(), shown.clip.row.name);
  EXPECT_EQ(*clip.Find("tags")->elements().at(0).string(), "good");
  EXPECT_EQ(*clip.Find("gaps")->integer(), 0);
  EXPECT_TRUE(clip.Find("rating")->is_null());
  EXPECT_NEAR(*clip.Find("length_s")->number(), 2.0, 0.01);
}

TEST(SiteTest, TakesTheQueryLanguage) {
  ShownLibrary shown("query");
  auto site = *Site::Open(shown.library->path());
  const Json hard = JsonOf(Ask(*site, "/api/query", {{"q", "peak(normal_force) > 2 N"}}));
  ASSERT_EQ(hard.Find("error"), nullptr) << *text::WriteJson(hard);
  EXPECT_THAT(hard.Find("clips")->elements(), SizeIs(1));
  const Json harder = JsonOf(Ask(*site, "/api/query", {{"q", "peak(normal_force) > 4 N"}}));
  EXPECT_THAT(harder.Find("clips")->elements(), SizeIs(0));
  const Json wrong = JsonOf(Ask(*site, "/api/query", {{"q", "peek(force) > 4"}}));
  ASSERT_NE(wrong.Find("error"), nullptr);
  EXPECT_THAT(*wrong.Find("error")->string(), HasSubstr("peek"));
}

TEST(SiteTest, PagesAndPictures) {
  ShownLibrary shown("pages");
  auto site = *Site::Open(shown.library->path());
  for (const std::string& path :
       {std::string("/"), std::string("/live"), "/clip/" + shown.clip.row.id}) {
    const Response page = Ask(*site, path);
    EXPECT_EQ(page.status, 200) << page.body.substr(0, 200);
    EXPECT_THAT(page.type, StartsWith("text/html"));
    EXPECT_THAT(page.body, StartsWith("<!doctype html>"));
  }
  EXPECT_EQ(Ask(*site, "/show", {{"what", shown.pose}, {"what", shown.motion}}).status, 200);
  EXPECT_EQ(Ask(*site, "/show").status, 400);
  const Response thumb = Ask(*site, "/thumb/" + shown.clip.row.id);
  EXPECT_EQ(thumb.type, "image/png");
  EXPECT_THAT(thumb.body, StartsWith("\x89PNG"));
  EXPECT_EQ(Ask(*site, "/thumb/" + shown.clip.row.id).body, thumb.body);
  for (const char* path :
       {"/clip/nobody", "/thumb/nobody", "/nothing", "/../etc/passwd", "/api/clips/../../x"})
    EXPECT_EQ(Ask(*site, path).status, 404) << path;
}

TEST(SiteTest, LiveSaysWhatWasHeardOrWhyNot) {
  ShownLibrary shown("live");
  auto deaf = *Site::Open(shown.library->path(), nullptr, "the port is taken");
  EXPECT_EQ(*JsonOf(Ask(*deaf, "/api/live")).Find("note")->string(), "the port is taken");
  auto listener = *live::LiveListener::Open(0);
  auto publisher = *live::LivePublisher::Open(listener->port());
  capture::HealthSnapshot health;
  health.take = "stroke_002";
  for (int i = 0; i < 100 && !listener->Newest(); ++i) {
    publisher.Say(health);
    capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(20));
  }
  auto site = *Site::Open(shown.library->path(), listener.get());
  const Json live = JsonOf(Ask(*site, "/api/live"));
  EXPECT_EQ(*live.Find("live")->Find("take")->string(), "stroke_002");
  EXPECT_TRUE(*JsonOf(Ask(*site, "/api/clips")).Find("recording")->boolean());
}

TEST(SiteTest, WritesNothing) {
  ShownLibrary shown("reads");
  const auto state = [&] {
    std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shown.library->path())) {
      const std::string name = entry.path().string();
      if (!entry.is_regular_file() || name.ends_with("-wal") || name.ends_with("-shm")) continue;
      files[name] = {entry.file_size(), entry.last_write_time()};
    }
    return files;
  };
  auto site = *Site::Open(shown.library->path());
  const auto before = state();
  for (const std::string& path : {std::string("/"), "/clip/" + shown.clip.row.id,
                                  std::string("/api/clips"), "/thumb/" + shown.clip.row.id})
    EXPECT_EQ(Ask(*site, path).status, 200);
  JsonOf(Ask(*site, "/api/query", {{"q", "peak(normal_force) > 2 N"}}));
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace handhold::viewer::site_test
