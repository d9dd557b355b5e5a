#include "database/store/sql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/database/store/query_oracle.h"

namespace handhold::store::sql_test {
namespace {

using oracle::Figure;
using oracle::Take;
using oracle::World;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Rows = std::vector<std::vector<SqlValue>>;

const World& TheWorld() {
  static const TempDir* dir = new TempDir;
  static const World* world = new World(oracle::MakeWorld(*dir / "lab?1#", 8, 31));
  return *world;
}

Status RunInto(SqlSession& session, const std::string& sql, Rows& rows,
               const SqlOptions& options = {}, int64_t enough = -1) {
  return session.Run(sql,
                     {.columns = [](const std::vector<std::string>&) -> Status { return {}; },
                      .row = [&](std::span<const SqlValue> values) -> Result<bool> {
                        rows.emplace_back(values.begin(), values.end());
                        return static_cast<int64_t>(rows.size()) != enough;
                      }},
                     options);
}
Rows Ask(const std::string& sql, const SqlOptions& options = {}) {
  auto session = SqlSession::Open(*TheWorld().library).value();
  Rows rows;
  const Status status = RunInto(*session, sql, rows, options);
  EXPECT_TRUE(status) << sql << ": " << status.error().message;
  return rows;
}
Error Refused(const std::string& sql, const SqlOptions& options = {}) {
  auto session = SqlSession::Open(*TheWorld().library).value();
  Rows rows;
  const Status status = RunInto(*session, sql, rows, options);
  EXPECT_FALSE(status) << sql;
  return status ? Error{} : status.error();
}
double Real(const SqlValue& v) {
  return std::holds_alternative<int64_t>(v) ? static_cast<double>(std::get<int64_t>(v))
                                            : std::get<double>(v);
}
std::vector<uint8_t> Bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(in), {});
}

TEST(Sql, ReadsCatalogueAndLedger) {
  const World& world = TheWorld();
  const Rows clips = Ask("SELECT name, subject FROM clip ORDER BY utc_start_ns");
  ASSERT_EQ(clips.size(), world.takes.size());
  for (size_t k = 0; k < clips.size(); ++k)
    EXPECT_EQ(std::get<std::string>(clips[k][1]), world.takes[k].clip.info().subject);
  int64_t said = 0;
  for (const Take& take : world.takes)
    said += static_cast<int64_t>(take.tags.size()) + (take.rating ? 1 : 0);
  EXPECT_EQ(std::get<int64_t>(Ask("SELECT count(*) FROM ledger.entry WHERE author='ana'")[0][0]),
            said);
  EXPECT_GT(Ask("SELECT rowid FROM note_text WHERE note_text MATCH 'slip*'").size(), 0u);
  EXPECT_GT(Ask("PRAGMA table_info(clip)").size(), 10u);
  EXPECT_EQ(Ask("SELECT 1 AS a, 2.5, 'x', NULL, x'00ff'")[0].size(), 5u);
  EXPECT_EQ(
      Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 5) SELECT i FROM n")
          .size(),
      5u);
  EXPECT_EQ(
      Ask("SELECT name FROM clip WHERE name=:n", {.parameters = {{"n", "stroke_002"}}}).size(), 1u);
  EXPECT_EQ(std::get<int64_t>(Ask("SELECT :x + 1", {.parameters = {{"x", "41"}}})[0][0]), 42);
}

TEST(Sql, SamplesAreTheSamples) {
  for (const Take& take : TheWorld().takes) {
    const std::string name = take.clip.info().name;
    for (int s = 0; s < static_cast<int>(take.clip.force_sensors().size()); ++s) {
      const auto truth = oracle::NormalForce(take, s);
      const std::string sensor = take.clip.force_sensors()[static_cast<size_t>(s)].name;
      const Rows rows = Ask("SELECT t_s, value, channel, counter, t_ns FROM samples('" + name +
                            "', '" + sensor + "', 'normal_force')");
      ASSERT_EQ(rows.size(), truth.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        ASSERT_EQ(Real(rows[i][0]), truth[i].first);
        ASSERT_EQ(Real(rows[i][1]), truth[i].second);
        ASSERT_EQ(std::get<int64_t>(rows[i][3]), static_cast<int64_t>(i));
        ASSERT_EQ(std::get<int64_t>(rows[i][4]), static_cast<int64_t>(i) * 1'000'000);
      }
      EXPECT_EQ(std::get<std::string>(rows[0][2]), sensor + ".normal_force");
    }
    // Both ends belong to the window; hidden markers are NULL; two channels alternate.
    const Rows rows = Ask("SELECT t_s, channel, value FROM samples('" + name +
                          "', 'vicon/markers', ' RIFT.x, RTIP.y', 1.0, 3.0)");
    const auto x = oracle::Channel(take, "RIFT.x"), y = oracle::Channel(take, "RTIP.y");
    ASSERT_EQ(rows.size(), 2u * 201u);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto& [t, value] = (i % 2 == 0 ? x : y)[100 + i / 2];
      ASSERT_EQ(Real(rows[i][0]), t);
      ASSERT_EQ(std::get<std::string>(rows[i][1]), i % 2 == 0 ? "RIFT.x" : "RTIP.y");
      if (std::isnan(value)) {
        ASSERT_TRUE(std::holds_alternative<std::monostate>(rows[i][2]));
      } else {
        ASSERT_EQ(Real(rows[i][2]), value);
      }
    }
  }
  EXPECT_EQ(Ask("SELECT DISTINCT channel FROM samples('stroke_001', 'vicon/markers')").size(), 9u);
  EXPECT_EQ(Ask("SELECT DISTINCT channel FROM samples('stroke_001', 'plate', '*', 0, 0)").size(),
            7u);
  EXPECT_EQ(Ask("SELECT * FROM samples('stroke_001', 'plate', 'fx', 5, 9)").size(), 0u);
  EXPECT_EQ(Ask("SELECT * FROM samples('stroke_001', 'plate', 'fx', 3, 1)").size(), 0u);
  EXPECT_EQ(Ask("SELECT * FROM samples(NULL, 'plate')").size(), 0u);
  // Joined to the catalogue, clip by clip.
  EXPECT_EQ(Ask("SELECT c.name, count(*) FROM clip c, samples(c.clip, 'vicon/markers', 'RIFT.x') "
                "GROUP BY c.name")
                .size(),
            TheWorld().takes.size());
}

TEST(Sql, FunctionsAgreeWithBruteForce) {
  std::mt19937_64 rng(9);
  const auto roll = [&](int n) { return static_cast<int>(rng() % static_cast<uint64_t>(n)); };
  int compared = 0;
  for (int k = 0; k < 60; ++k) {
    const Take& take = TheWorld().takes[static_cast<size_t>(roll(8))];
    const int sensors = static_cast<int>(take.clip.force_sensors().size());
    const double t0 = 0.01 * roll(300), t1 = t0 + 0.01 * roll(200), threshold = 0.01 * roll(400);
    char window[100];
    std::snprintf(window, sizeof window, "%.17g, %.17g", t0, t1);
    const std::string clip = "'" + take.clip.info().name + "', ";
    const oracle::Span span{t0, t1};
    const auto marker = oracle::Channel(take, "RMCP.z");
    const Rows rms = Ask("SELECT rms(" + clip + "'vicon/markers', 'RMCP.z', " + window + ")");
    if (const auto truth = Figure("rms", marker, span)) {
      EXPECT_NEAR(Real(rms[0][0]), *truth, 1e-12);
    } else {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(rms[0][0]));
    }
    if (sensors == 0) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(
          Ask("SELECT peak(" + clip + "'plate', 'normal_force', 0, 1)")[0][0]))
          << "this clip has no plate; another has";
      continue;
    }
    const int s = roll(sensors);
    const std::string source = roll(2) == 0 ? take.clip.force_sensors()[static_cast<size_t>(s)].name
                               : s == 0     ? "plate/wrench"
                                            : "wall/wrench";
    const auto force = oracle::NormalForce(take, s);
    EXPECT_EQ(Real(Ask("SELECT peak(" + clip + "'" + source + "', 'normal_force', " + window +
                       ")")[0][0]),
              *Figure("peak", force, span));
    int above = 0;
    for (const auto& [t, f] : force) above += span.Holds(t) && f >= threshold ? 1 : 0;
    char number[40];
    std::snprintf(number, sizeof number, ", %.17g)", threshold);
    EXPECT_NEAR(
        Real(Ask("SELECT contact_ms(" + clip + "'" + source + "', " + window + number)[0][0]),
        above, 1e-9)
        << "1000 Hz: a millisecond a sample";
    ++compared;
  }
  EXPECT_GT(compared, 30);
  EXPECT_EQ(Ask("SELECT peak(clip, 'plate', 'normal_force', NULL, NULL) FROM clip").size(), 8u);
}

TEST(Sql, WhatWritesOrReachesOutIsRefusedAndNothingChanges) {
  const World& world = TheWorld();
  const auto before = Bytes(world.library->path() + "/catalogue.db"),
             ledger = Bytes(world.library->path() + "/ledger.db");
  const std::string outside = ::testing::TempDir() + "/outside.db";
  std::filesystem::remove(outside);
  for (const std::string& sql :
       std::vector<std::string>{"DELETE FROM clip",
                                "INSERT INTO ledger.entry DEFAULT VALUES",
                                "UPDATE clip SET name='x'",
                                "DROP TABLE clip",
                                "CREATE TABLE t(a)",
                                "CREATE TEMP TABLE t(a)",
                                "CREATE VIEW v AS SELECT 1",
                                "ATTACH '" + outside + "' AS x",
                                "DETACH ledger",
                                "VACUUM",
                                "VACUUM INTO '" + outside + "'",
                                "BEGIN",
                                "BEGIN IMMEDIATE",
                                "COMMIT",
                                "SAVEPOINT s",
                                "PRAGMA journal_mode=WAL",
                                "PRAGMA user_version=9",
                                "PRAGMA query_only=OFF",
                                "PRAGMA writable_schema=ON",
                                "PRAGMA wal_checkpoint",
                                "REINDEX",
                                "ANALYZE",
                                "ALTER TABLE clip RENAME TO clap",
                                "CREATE INDEX i ON clip(name)",
                                "CREATE TRIGGER t AFTER INSERT ON clip BEGIN SELECT 1; END",
                                "REPLACE INTO clip_property VALUES(1, 'a', 'b')",
                                "WITH x AS (SELECT 1) DELETE FROM clip",
                                "SELECT load_extension('x')",
                                "INSERT INTO note_text(note_text) VALUES('rebuild')",
                                "EXPLAIN DELETE FROM clip"}) {
    const Error error = Refused(sql);
    EXPECT_EQ(error.code, ErrorCode::kInvalid) << sql;
    EXPECT_FALSE(error.message.empty());
  }
  EXPECT_THAT(Refused("DELETE FROM clip").message,
              AllOf(HasSubstr("only reads"), HasSubstr("DELETE")));
  EXPECT_FALSE(std::filesystem::exists(outside));
  EXPECT_EQ(Bytes(world.library->path() + "/catalogue.db"), before);
  EXPECT_EQ(Bytes(world.library->path() + "/ledger.db"), ledger);
  // The canary: the same connection does read.
  EXPECT_EQ(Ask("SELECT count(*) FROM clip").size(), 1u);
}

TEST(Sql, MistakesAreNamed) {
  EXPECT_THAT(Refused("SELECT nme FROM clip").message,
              AllOf(HasSubstr("nme"), HasSubstr("column 8")));
  EXPECT_THAT(Refused("SELEC 1").message, HasSubstr("SELEC"));
  EXPECT_THAT(Refused("").message, HasSubstr("no SQL"));
  EXPECT_THAT(Refused("-- nothing").message, HasSubstr("no SQL"));
  EXPECT_THAT(Refused("SELECT 1; SELECT 2").message, HasSubstr("one statement at a time"));
  EXPECT_EQ(Ask("SELECT 1; -- and no more").size(), 1u);
  EXPECT_THAT(Refused("SELECT * FROM samples('stroke_001')").message,
              HasSubstr("a clip and a stream"));
  EXPECT_THAT(Refused("SELECT * FROM samples('strok_001', 'plate')").message,
              HasSubstr("did you mean 'stroke_001'"));
  EXPECT_THAT(Refused("SELECT peak('strok_001', 'plate', 'fx', 0, 1)").message,
              ::testing::StartsWith("no clip 'strok_001'"));
  EXPECT_THAT(Refused("SELECT name FROM clips").message, HasSubstr("did you mean 'clip'"));
  EXPECT_THAT(Refused("SELECT name FROM ledger.entri").message,
              HasSubstr("did you mean 'ledger.entry'"));
  EXPECT_THAT(Refused("SELECT * FROM samples('stroke_001', 'plat')").message,
              HasSubstr("did you mean 'plate'"));
  EXPECT_THAT(Refused("SELECT peak('stroke_001', 'plate', 'normal_forc', 0, 1)").message,
              HasSubstr("did you mean"));
  for (const char* what : {"SELECT peak('stroke_001', 'plate', 'fx', 0, 'abc')",
                           "SELECT rms('stroke_001', 'plate', 'fx', 'abc', NULL)",
                           "SELECT contact_ms('stroke_001', 'plate', 0, 1, 'abc')",
                           "SELECT * FROM samples('stroke_001', 'plate', 'fx', 0, 'abc')"})
    EXPECT_THAT(Refused(what).message, HasSubstr("'abc', which is no number")) << what;
  EXPECT_EQ(Ask("SELECT peak('stroke_001', 'plate', 'fx', '0', '1.5')").size(), 1u);
  EXPECT_THAT(Refused("SELECT peak(999, 'plate', 'fx', 0, 1)").message, HasSubstr("999"));
  EXPECT_THAT(Refused("SELECT :a").message, HasSubstr("--param a="));
  EXPECT_THAT(Refused("SELECT 1", {.parameters = {{"b", "1"}}}).message, HasSubstr("':b'"));
}

TEST(Sql, DamageIsNotTheStatementsMistake) {
  const TempDir dir;
  const World world = oracle::MakeWorld(dir / "lab", 2, 7);
  const ClipRow victim = world.library->FindClip("stroke_001").value();
  {
    std::fstream file(dir / ("lab/clips/" + victim.path),
                      std::ios::in | std::ios::out | std::ios::binary);
    for (int64_t at = 4096; at < victim.bytes; at += 512) {
      file.seekp(at);
      file.write("damage", 6);
    }
  }
  auto session = SqlSession::Open(*world.library).value();
  for (const char* sql : {"SELECT peak('stroke_001', 'plate', 'normal_force', NULL, NULL)",
                          "SELECT count(value) FROM samples('stroke_001', 'plate')"}) {
    Rows rows;
    const Status status = RunInto(*session, sql, rows);
    ASSERT_FALSE(status) << sql;
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt) << status.error().message;
    EXPECT_THAT(status.error().message, HasSubstr(victim.id));
    const Status mistake = RunInto(*session, "SELECT peak('x', 'plate', 'fx', 0, 1)", rows);
    ASSERT_FALSE(mistake);
    EXPECT_EQ(mistake.error().code, ErrorCode::kInvalid) << "and the next one is its own";
  }
}

TEST(Sql, WorkIsLimited) {
  const Error endless =
      Refused("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n",
              {.time_limit = Duration::Milliseconds(50)});
  EXPECT_EQ(endless.code, ErrorCode::kTimeout) << endless.message;
  EXPECT_EQ(Refused("SELECT length(zeroblob(900000000))").code, ErrorCode::kInvalid);
  auto session = SqlSession::Open(*TheWorld().library).value();
  Rows rows;
  ASSERT_TRUE(RunInto(*session,
                      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "
                      "SELECT i FROM n",
                      rows, {}, 3));
  EXPECT_EQ(rows.size(), 3u) << "a sink that has enough ends it";
  rows.clear();
  EXPECT_TRUE(RunInto(*session, "SELECT 1", rows)) << "and the session goes on";
}

}  // namespace
}  // namespace handhold::store::sql_test
