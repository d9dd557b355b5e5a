// What is found by kind, clip, subject and hash, newest first, and what "newest" means.
#include "database/store/artefact_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "tests/database/store/clip_fixture.h"

namespace handhold::store::artefact_finder_test {
namespace {

using ::testing::ElementsAre;

class ArtefactFinder : public ::testing::Test {
 protected:
  void SetUp() override {
    auto library = Library::Create(folder_.path() + "/lab");
    ASSERT_TRUE(library) << library.error().message;
    library_ = *std::move(library);
  }
  /// A result made `at_s` seconds after some day, of these inputs.
  std::string Make(const std::string& kind, int at_s,
                   const std::vector<artefact::ProvenanceInput>& inputs) {
    JsonArtefact value;
    value.kind = kind;
    value.json = "{}";
    value.provenance.step = "test." + kind;
    value.provenance.version = 1;
    value.provenance.inputs = inputs;
    value.provenance.parameters_json = "{\"n\":" + std::to_string(at_s) + "}";
    value.provenance.made_utc = Timestamp::FromSeconds(1.7e9 + at_s);
    const auto hash = library_->Save(value);
    EXPECT_TRUE(hash) << hash.error().message;
    return *hash;
  }
  std::vector<std::string> Find(const ArtefactFilter& filter) {
    const auto found = FindArtefacts(library_->catalogue(), filter);
    EXPECT_TRUE(found) << found.error().message;
    std::vector<std::string> hashes;
    for (const ArtefactInfo& info : *found) hashes.push_back(info.hash);
    return hashes;
  }
  ClipRow Clip(const std::string& name, const std::string& subject) {
    recording::ClipInfo info;
    info.id = ClipId::New();
    info.name = name;
    info.subject = subject;
    const ClipId id = info.id;
    EXPECT_TRUE(WriteClip(recording::Clip(std::move(info)), library_->ClipPath(id), {}));
    EXPECT_TRUE(library_->Index(id));
    return *library_->FindClip(name);
  }

  TempDir folder_;
  std::unique_ptr<Library> library_;
};

TEST_F(ArtefactFinder, FindsByKindAndByWhatWasReadNewestFirst) {
  const std::string a1 = Make("a", 1, {{"clip", "c1", "one"}});
  const std::string b2 = Make("b", 2, {{"clip", "c1", "one"}, {"pose", a1, ""}});
  const std::string a3 = Make("a", 3, {{"clip", "c2", "two"}});
  const std::string a4 = Make("a", 4, {{"clip", "c1", "one"}, {"contact_clip", "c1", "one"}});
  EXPECT_THAT(Find({}), ElementsAre(a4, a3, b2, a1));
  EXPECT_THAT(Find({.kind = "a"}), ElementsAre(a4, a3, a1));
  EXPECT_THAT(Find({.kind = "a", .newest = 1}), ElementsAre(a4));
  EXPECT_THAT(Find({.kind = "a", .made_from = "c1"}), ElementsAre(a4, a1)) << "each once";
  EXPECT_THAT(Find({.made_from = a1}), ElementsAre(b2));
  EXPECT_THAT(Find({.made_from = "c1", .newest = 2}), ElementsAre(a4, b2));
  EXPECT_THAT(Find({.kind = "c"}), ElementsAre());
  const auto info = FindArtefacts(library_->catalogue(), {.made_from = a1});
  ASSERT_EQ(info->front().provenance.inputs.size(), 2u);
  EXPECT_EQ(info->front().provenance.inputs[1].hash, a1);
  EXPECT_EQ(info->front().provenance.step, "test.b");
}

TEST_F(ArtefactFinder, FindsByTheBeginningOfAHash) {
  const std::string a = Make("a", 1, {}), b = Make("a", 2, {});
  EXPECT_THAT(Find({.hash_begins = a}), ElementsAre(a));
  EXPECT_THAT(Find({.hash_begins = b.substr(0, 12)}), ElementsAre(b));
  EXPECT_THAT(Find({.hash_begins = "0000000000000000"}), ElementsAre());
}

TEST_F(ArtefactFinder, FindsBySubjectWhatWasMadeFromTheirClips) {
  const ClipRow one = Clip("one", "S1"), other = Clip("two", "S2");
  const std::string s1 = Make("skeleton", 1, {{"clip", one.sha256, "one"}});
  const std::string s2 = Make("skeleton", 2, {{"clip", other.sha256, "two"}});
  Make("skeleton", 3, {{"contact_clip", one.sha256, "one"}, {"clip", "elsewhere", ""}});
  EXPECT_THAT(Find({.kind = "skeleton", .subject = "S1"}), ElementsAre(s1));
  EXPECT_THAT(Find({.kind = "skeleton", .subject = "S2"}), ElementsAre(s2));
  LedgerEntry withdrawn;
  withdrawn.clip = other.id;
  withdrawn.kind = LedgerKind::kWithdrawn;
  withdrawn.author = "test";
  withdrawn.value = "asked";
  ASSERT_TRUE(library_->Say(withdrawn));
  EXPECT_THAT(Find({.kind = "skeleton", .subject = "S2"}), ElementsAre());
}

TEST_F(ArtefactFinder, WhatIsAskedForAgainIsTheNewestAlsoInACatalogueMadeAnew) {
  const std::string a = Make("a", 1, {}), b = Make("a", 2, {});
  EXPECT_THAT(Find({.kind = "a"}), ElementsAre(b, a));
  ASSERT_TRUE(library_->Renew(a));
  EXPECT_THAT(Find({.kind = "a"}), ElementsAre(a, b));
  ASSERT_TRUE(library_->Rebuild(false));
  EXPECT_THAT(Find({.kind = "a"}), ElementsAre(a, b));
  EXPECT_GT(RenewedAt(library_->ArtefactPath(a)), Timestamp::FromSeconds(1.7e9));
  EXPECT_EQ(RenewedAt(library_->ArtefactPath(b)), Timestamp());
  std::ofstream(RenewedPath(library_->ArtefactPath(a))) << "rubbish";
  ASSERT_TRUE(library_->Rebuild(false));
  EXPECT_THAT(Find({.kind = "a"}), ElementsAre(b, a)) << "a damaged note says nothing";
}

TEST_F(ArtefactFinder, EveryQuestionGoesByAnIndex) {
  for (const char* const sql :
       {"SELECT hash FROM artefact a WHERE a.kind='a' ORDER BY a.asked_utc_ns DESC, a.hash DESC "
        "LIMIT 1",
        "SELECT a.hash FROM artefact_input i CROSS JOIN artefact a ON a.hash=i.hash WHERE "
        "i.input='c' AND a.kind='a'",
        "SELECT hash FROM artefact a WHERE a.hash>='0a' AND a.hash<'0b'"}) {
    auto plan = library_->catalogue().Prepare(std::string("EXPLAIN QUERY PLAN ").append(sql));
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_TRUE(plan->ForEach([&](Statement& row) -> Status {
      EXPECT_EQ(row.String(3).find("SCAN"), std::string::npos) << sql << ": " << row.String(3);
      EXPECT_EQ(row.String(3).find("TEMP B-TREE"), std::string::npos)
          << sql << ": " << row.String(3);
      return {};
    }));
  }
}

}  // namespace
}  // namespace handhold::store::artefact_finder_test
