#include "database/store/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "database/store/bytes.h"
#include "database/store/schema.h"
#include "tests/database/store/clip_fixture.h"

namespace handhold::store::sqlite_test {
namespace {

using ::testing::HasSubstr;

Database Memory() {
  DatabaseOptions options;
  options.mode = OpenMode::kReadWrite;
  return Database::Open(":memory:", options).value();
}

TEST(Sqlite, VersionsThatCorruptAreRefused) {
  EXPECT_TRUE(CheckSqliteVersion(3'051'003));
  EXPECT_TRUE(CheckSqliteVersion(3'053'002));
  EXPECT_TRUE(CheckSqliteVersion(4'000'000));
  for (const int old : {3'007'000, 3'040'001, 3'050'007, 3'051'002}) {
    const Status refused = CheckSqliteVersion(old);
    ASSERT_FALSE(refused) << old;
    EXPECT_EQ(refused.error().code, ErrorCode::kVersion);
  }
  EXPECT_THAT(CheckSqliteVersion(3'040'001).error().message, HasSubstr("SQLite 3.40.1"));
  EXPECT_GE(LinkedSqliteVersion(), kOldestSqlite);
}

TEST(Sqlite, BindsAndReadsEveryType) {
  Database db = Memory();
  ASSERT_TRUE(db.Execute("CREATE TABLE t(a ANY)"));
  Statement put = db.Prepare("INSERT INTO t VALUES(?1)").value();
  const Bytes blob = {1, 0, 2};
  ASSERT_TRUE(put.Bind(1, int64_t{-7}).Run());
  ASSERT_TRUE(put.Bind(1, 0.5).Run());
  ASSERT_TRUE(put.Bind(1, std::nan("")).Run());
  ASSERT_TRUE(put.Bind(1, std::string_view("a\0b", 3)).Run());
  ASSERT_TRUE(put.Bind(1, std::string_view()).Run());
  ASSERT_TRUE(put.Bind(1, std::span<const uint8_t>(blob)).Run());
  Statement get = db.Prepare("SELECT a FROM t ORDER BY rowid").value();
  ASSERT_TRUE(get.Step().value());
  EXPECT_EQ(get.Integer(0), -7);
  ASSERT_TRUE(get.Step().value());
  EXPECT_EQ(get.Real(0), 0.5);
  ASSERT_TRUE(get.Step().value());
  EXPECT_TRUE(std::isnan(get.Real(0)));
  ASSERT_TRUE(get.Step().value());
  EXPECT_EQ(get.String(0), std::string("a\0b", 3));
  ASSERT_TRUE(get.Step().value());
  EXPECT_FALSE(get.IsNull(0));
  ASSERT_TRUE(get.Step().value());
  EXPECT_TRUE(std::ranges::equal(get.Blob(0), blob));
  EXPECT_FALSE(get.Step().value());
}

TEST(Sqlite, TransactionsRollBackUnlessCommitted) {
  Database db = Memory();
  ASSERT_TRUE(db.Execute("CREATE TABLE t(a)"));
  {
    Transaction lost = Transaction::Begin(db).value();
    ASSERT_TRUE(db.Execute("INSERT INTO t VALUES(1)"));
  }
  EXPECT_EQ(db.QueryInteger("SELECT count(*) FROM t").value(), 0);
  Transaction kept = Transaction::Begin(db).value();
  ASSERT_TRUE(db.Execute("INSERT INTO t VALUES(1)"));
  ASSERT_TRUE(kept.Commit());
  EXPECT_EQ(db.QueryInteger("SELECT count(*) FROM t").value(), 1);
}

TEST(Sqlite, WorkIsLimited) {
  Database db = Memory();
  db.LimitWork(100'000);
  const auto endless = db.QueryInteger(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n");
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::kCancelled);
}

TEST(Sqlite, CreateNeverOverwrites) {
  const TempDir dir;
  DatabaseOptions create;
  create.mode = OpenMode::kCreate;
  ASSERT_TRUE(Database::Open(dir / "a?b#c%.db", create).value().Execute("CREATE TABLE t(a)"));
  EXPECT_TRUE(std::filesystem::exists(dir / "a?b#c%.db")) << "names are names, not URIs";
  EXPECT_FALSE(Database::Open(dir / "a?b#c%.db", create));
  EXPECT_FALSE(Database::Open(dir / "none.db", {}));
  EXPECT_FALSE(std::filesystem::exists(dir / "none.db"));
}

TEST(Schema, EveryKindMigratesFromNothingAndPassesItsOwnCheck) {
  const TempDir dir;
  for (const FileKind kind : {FileKind::kClip, FileKind::kCatalogue, FileKind::kLedger}) {
    const std::string path = dir / std::string(FileKindName(kind));
    DatabaseOptions options;
    options.mode = OpenMode::kCreate;
    Database db = Database::Open(path, options).value();
    ASSERT_TRUE(Migrate(db, kind, 0));
    EXPECT_EQ(CheckHeader(db, kind).value(), NewestRevision(kind));
    EXPECT_TRUE(CheckSchema(db, kind));
    ASSERT_TRUE(db.Execute("CREATE TABLE of_a_later_program(a)"));
    EXPECT_TRUE(CheckSchema(db, kind)) << "what we do not know is left alone";
    ASSERT_TRUE(db.Execute("CREATE VIEW trap AS SELECT 1"));
    EXPECT_EQ(CheckSchema(db, kind).error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace handhold::store::sqlite_test
