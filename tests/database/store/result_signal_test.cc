// Queries and SQL reach what fits found: angles, torques, contact forces, compliances by name, of
// the clip's newest results.
#include "database/store/result_signal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/store/query.h"
#include "database/store/sql.h"
#include "tests/support/shown_library.h"

namespace handhold::store::result_signal_test {
namespace {

using handhold::testing::ShownLibrary;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ResultSignalTest : public ::testing::Test {
 protected:
  ResultSignalTest()
      : shown_(std::string("results_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {}

  QueryResult Ask(const std::string& text) {
    auto query = Query::Parse(text, *shown_.library);
    EXPECT_TRUE(query) << query.error().message;
    auto result = query->Run();
    EXPECT_TRUE(result) << result.error().message;
    return *std::move(result);
  }
  ErrorCode Refused(const std::string& text) {
    const auto query = Query::Parse(text, *shown_.library);
    return query ? ErrorCode::kCancelled : query.error().code;
  }
  std::vector<std::vector<SqlValue>> Sql(const std::string& sql) {
    std::vector<std::vector<SqlValue>> rows;
    auto session = SqlSession::Open(*shown_.library).value();
    const Status run =
        session->Run(sql, {.columns = [](const auto&) { return Status(); },
                           .row = [&](std::span<const SqlValue> row) -> Result<bool> {
                             rows.emplace_back(row.begin(), row.end());
                             return true;
                           }});
    EXPECT_TRUE(run) << run.error().message;
    return rows;
  }
  std::string Dof(size_t d) const { return shown_.hand->skeleton.dof_names()[d]; }

  ShownLibrary shown_;
};

// The wrist turns by 1 mrad a frame, 50 frames a second, from 0 to 99 mrad (5.67 degrees); the
// others stand at 0.3 rad.
TEST_F(ResultSignalTest, AnglesOverTheTakeAndAtItsEvents) {
  const std::string wrist = "angle(" + Dof(0) + ")";
  const QueryResult all = Ask("peak(" + wrist + ") > 5.6 deg");
  ASSERT_THAT(all.rows, SizeIs(1));
  ASSERT_THAT(all.columns, SizeIs(1));
  EXPECT_EQ(all.columns[0].unit, "deg") << "as it was asked";
  EXPECT_THAT(all.columns[0].key, ::testing::EndsWith("_deg"));
  EXPECT_NEAR(*all.rows[0].values[0], 0.099 * 180 / 3.14159265358979, 1e-10);
  EXPECT_EQ(Ask("peak(" + wrist + ") > 0.05 rad").columns[0].unit, "rad");
  EXPECT_THAT(Ask("peak(" + wrist + ") > 5.7 deg").rows, SizeIs(0));
  EXPECT_NEAR(*Ask("mean(angle(" + Dof(2) + ")) > 0 rad").rows.at(0).values[0], 0.3, 1e-12);
  EXPECT_NEAR(*Ask("range(" + wrist + ") > 0.02 rad").rows.at(0).values[0], 0.099, 1e-12);
  // Where other conditions leave no clip, none was asked for its results.
  EXPECT_THAT(Ask("task = nothing and peak(" + wrist + ") > 1 deg").hints,
              ::testing::Each(::testing::Not(::testing::HasSubstr("result"))));
  // The mark is at 1.25 s: frames 53 to 72.
  const QueryResult around = Ask("min(" + wrist + ") > 0.05 rad within 0.2 s of mark");
  ASSERT_THAT(around.rows, SizeIs(1));
  EXPECT_NEAR(*around.rows[0].values[0], 0.053, 1e-12);
  EXPECT_THAT(Ask("peak(" + wrist + ") > 0.0725 rad within 0.2 s of mark").rows, SizeIs(0));
  // Above 0.05 rad from frame 51 to frame 99: 48 steps.
  const QueryResult held = Ask(wrist + " > 0.0505 rad for 0.9 s");
  ASSERT_THAT(held.rows, SizeIs(1));
  EXPECT_NEAR(*held.rows[0].values[0], 0.96, 1e-9);
  EXPECT_THAT(Ask(wrist + " > 0.0505 rad for 1 s").rows, SizeIs(0));
  EXPECT_EQ(held.clips_opened, 0) << "the recording itself is not read";
}

TEST_F(ResultSignalTest, ForcesAndTorquesOfContacts) {
  EXPECT_NEAR(*Ask("peak(contact_force(R.index.pad)) > 2.9 N").rows.at(0).values[0], 3.0, 1e-12);
  EXPECT_NEAR(*Ask("mean(contact_force(plate)) > 1 N").rows.at(0).values[0], 1.5, 1e-12)
      << "half of the frames touch";
  EXPECT_NEAR(*Ask("contact_force(plate) > 2 N for 0.9 s").rows.at(0).values[0], 0.98, 1e-9);
  EXPECT_NEAR(*Ask("rms(torque(" + Dof(1) + ")) > 40 mNm").rows.at(0).values[0], 0.05, 1e-12);
}

// A box is side b of the hand that presses it down and side a on the table that it stands on: both
// forces act on it, and balance. Sides that were added alike would say 6 N.
TEST_F(ResultSignalTest, AForceActsOnItsSide) {
  auto track = Load<artefact::ContactTrack>(shown_.library->ArtefactPath(shown_.contact)).value();
  track.provenance.parameters_json = R"({"again": true})";
  track.provenance.made_utc = Timestamp::FromSeconds(1.5e9);
  track.touches[0].b.name = "box";
  artefact::Touch stands = track.touches[0];
  stands.a = {artefact::Side::Kind::kThing, "box", "", 0};
  stands.b.name = "table";
  track.touches.push_back(stands);
  const size_t pressed = track.rows.size();
  for (size_t i = 0; i < pressed; ++i) {  // 3 N up on the hand, so 3 N down on the box; 3 N up
    artefact::ContactRow row = track.rows[2 * i];
    row.touch = 1;
    track.rows.insert(track.rows.begin() + static_cast<std::ptrdiff_t>(2 * i + 1), row);
  }
  ASSERT_TRUE(shown_.library->Save(track));
  EXPECT_NEAR(*Ask("peak(contact_force(table)) > 1 N").rows.at(0).values[0], 3.0, 1e-12);
  EXPECT_NEAR(*Ask("peak(contact_force(box)) < 1 N").rows.at(0).values[0], 0.0, 1e-12);
}

TEST_F(ResultSignalTest, TheNewestResultAnswers) {
  auto track = Load<artefact::PoseTrack>(shown_.library->ArtefactPath(shown_.pose)).value();
  track.q.row(0) *= 2;
  track.provenance.parameters_json = R"({"again": true})";
  track.provenance.made_utc = Timestamp::FromSeconds(1.5e9);
  ASSERT_TRUE(shown_.library->Save(track));
  EXPECT_NEAR(*Ask("peak(angle(" + Dof(0) + ")) > 0.09 rad").rows.at(0).values[0], 0.198, 1e-12);
  ASSERT_TRUE(shown_.library->Renew(shown_.pose)) << "the older one is asked for again";
  EXPECT_NEAR(*Ask("peak(angle(" + Dof(0) + ")) > 0.09 rad").rows.at(0).values[0], 0.099, 1e-12);
}

TEST_F(ResultSignalTest, CompliancesByTaskWithoutRefusedJoints) {
  EXPECT_THAT(Ask("compliance(" + Dof(1) + ") > 0 rad/Nm").rows, SizeIs(0)) << "none was fitted";
  artefact::InteractionTrajectory fitted;
  fitted.provenance.step = "fit.compliance", fitted.provenance.version = 1;
  fitted.provenance.inputs = {shown_.clip.input()};
  fitted.provenance.parameters_json = "{}";
  fitted.dof_names = shown_.hand->skeleton.dof_names();
  for (const char* task : {"exploring", "scratching"}) {
    artefact::ComplianceFit fit;
    fit.estimator = "dynamic", fit.task = task;
    for (size_t d = 0; d < fitted.dof_names.size(); ++d) {
      artefact::JointCompliance joint;
      joint.dof = Dof(d);
      if (d == 1) joint.compliance_rad_per_Nm = fit.task == "exploring" ? 0.9 : 0.4;
      if (d != 1) joint.refusal = "not told from 0";
      fit.joints.push_back(joint);
    }
    fitted.fits.push_back(fit);
  }
  ASSERT_TRUE(shown_.library->Save(fitted));
  const QueryResult soft = Ask("compliance(" + Dof(1) + ") > 0.5 rad/Nm");
  ASSERT_THAT(soft.rows, SizeIs(1)) << "in one of its tasks";
  EXPECT_NEAR(*soft.rows[0].values[0], 0.9, 1e-12);
  EXPECT_THAT(Ask("compliance(" + Dof(1) + ") < 0.3 rad/Nm").rows, SizeIs(0));
  EXPECT_THAT(Ask("compliance(" + Dof(2) + ") > 0 rad/Nm").rows, SizeIs(0)) << "refused";
  EXPECT_THAT(Sql("SELECT value FROM results('" + shown_.clip.row.name +
                  "') WHERE quantity='compliance' AND value IS NOT NULL"),
              SizeIs(2));
}

TEST_F(ResultSignalTest, WhatCannotBeAskedIsSaid) {
  EXPECT_EQ(Refused("peak(angle(" + Dof(0) + ")) > 5 N"), ErrorCode::kInvalid) << "no force";
  EXPECT_EQ(Refused("angle(" + Dof(0) + ") > 5 deg"), ErrorCode::kInvalid)
      << "which of its values?";
  EXPECT_EQ(Refused("peak(angel(" + Dof(0) + ")) > 5 deg"), ErrorCode::kInvalid);
  EXPECT_EQ(Refused("occluded(angle(" + Dof(0) + ")) > 5 %"), ErrorCode::kInvalid);
  EXPECT_EQ(Refused("peak(angle(" + Dof(0) + ") > 5 deg"), ErrorCode::kInvalid);
  EXPECT_EQ(Refused("count(mark(x)) > 5"), ErrorCode::kInvalid);
  EXPECT_EQ(Refused("compliance(angle(x)) > 5 rad/Nm"), ErrorCode::kInvalid);
  EXPECT_EQ(Refused("peak(\"EMG (raw)\") > 5 V"), ErrorCode::kInvalid) << "a channel, not there";
  const QueryResult of_place = Ask("peak(torque(" + Dof(0) + ")) > 10 mN");
  EXPECT_THAT(of_place.rows, SizeIs(0));
  EXPECT_THAT(of_place.hints, Contains(HasSubstr("N m"))) << "a slip for mN m";
  const QueryResult misspelt = Ask("peak(angle(" + Dof(0) + "x)) > 5 deg");
  EXPECT_THAT(misspelt.rows, SizeIs(0));
  EXPECT_THAT(misspelt.hints, Contains(HasSubstr(Dof(0))));
}

TEST_F(ResultSignalTest, SqlReadsResultsAndContactRows) {
  const std::string clip = "'" + shown_.clip.row.name + "'";
  const auto angles = Sql("SELECT count(*), max(value), min(t_s), unit FROM results(" + clip +
                          ") WHERE quantity='angle' AND name='" + Dof(0) + "'");
  ASSERT_THAT(angles, SizeIs(1));
  EXPECT_EQ(std::get<int64_t>(angles[0][0]), 100);
  EXPECT_NEAR(std::get<double>(angles[0][1]), 0.099, 1e-12);
  EXPECT_EQ(std::get<std::string>(angles[0][3]), "rad");
  const auto rows =
      Sql("SELECT count(*), sum(fz_onA_W_N), min(a), min(b), min(nz_W) FROM "
          "contact_rows(" +
          clip + ")");
  EXPECT_EQ(std::get<int64_t>(rows.at(0)[0]), 50);
  EXPECT_NEAR(std::get<double>(rows[0][1]), 150.0, 1e-9);
  EXPECT_EQ(std::get<std::string>(rows[0][2]), "R.index.pad");
  EXPECT_EQ(std::get<std::string>(rows[0][3]), "plate");
  EXPECT_EQ(std::get<int64_t>(Sql("SELECT count(*) FROM results(" + clip +
                                  ") r JOIN clip c ON r.clip=c.name WHERE quantity='angle'")
                                  .at(0)[0]),
            400);
  EXPECT_EQ(std::get<int64_t>(Sql("SELECT count(*) FROM results WHERE clip IN (" + clip +
                                  ") AND quantity='torque'")
                                  .at(0)[0]),
            400);
  // As a join: every clip of the catalogue with its results.
  EXPECT_EQ(
      std::get<int64_t>(Sql("SELECT count(DISTINCT r.name) FROM clip c, results(c.id) r WHERE "
                            "r.quantity='torque'")
                            .at(0)[0]),
      static_cast<int64_t>(shown_.hand->skeleton.dof_names().size()));
}

TEST_F(ResultSignalTest, AResultThatCannotBeReadIsALoss) {
  const std::string path = shown_.library->ArtefactPath(shown_.pose);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const QueryResult result = Ask("peak(angle(" + Dof(0) + ")) > 5 deg");
  EXPECT_THAT(result.rows, SizeIs(0));
  ASSERT_THAT(result.issues, SizeIs(1));
  EXPECT_EQ(result.issues[0].severity, Severity::kLoss);
}

}  // namespace
}  // namespace handhold::store::result_signal_test
