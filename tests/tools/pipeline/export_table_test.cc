#include "tools/pipeline/export_table.h"

#include <gtest/gtest.h>

#include "tests/database/store/clip_fixture.h"
#include "tools/pipeline/inputs.h"

namespace handhold::pipeline::export_table_test {
namespace {

using artefact::Side;

artefact::Provenance Made(const std::string& step) {
  artefact::Provenance provenance;
  provenance.step = step;
  provenance.parameters_json = "{}";
  return provenance;
}

class ExportTableTest : public ::testing::Test {
 protected:
  template <typename T>
  Result<std::string> Csv(const T& value, bool contacts = false) {
    const std::string hash = library_->Save(value).value();
    const store::ArtefactInfo info = FindArtefact(*library_, hash, "").value();
    return ArtefactToCsv(*library_, info, contacts);
  }
  const store::TempDir dir_;
  std::unique_ptr<store::Library> library_ = store::Library::Create(dir_ / "lab").value();
};

TEST_F(ExportTableTest, APoseTrackHasAnglesAndWhatIsKnownOfThem) {
  artefact::PoseTrack t;
  t.provenance = Made("fit.pose");
  t.dof_names = {"root.rot_x", "root.rot_y", "root.rot_z", "root.lin_x",
                 "root.lin_y", "root.lin_z", "a.flex"};
  t.times = {Timestamp::FromSeconds(0.5)};
  t.q.resize(8, 1);
  t.q.col(0) << 1, 2, 3, 1, 0, 0, 0, 0.1;
  t.information_diagonal = Eigen::VectorXd::Constant(7, 4);
  t.information_diagonal(6, 0) = 0;
  EXPECT_EQ(Csv(t).value(),
            "time_s,root.x_m,root.y_m,root.z_m,root.qw,root.qx,root.qy,root.qz,a.flex_rad,"
            "root.rot_x_sd_rad,root.rot_y_sd_rad,root.rot_z_sd_rad,root.lin_x_sd_m,"
            "root.lin_y_sd_m,root.lin_z_sd_m,a.flex_sd_rad\n"
            "0.5,1,2,3,1,0,0,0,0.1,0.5,0.5,0.5,0.5,0.5,0.5,\n");
  EXPECT_EQ(Csv(t, true).error().code, ErrorCode::kInvalid);
}

TEST_F(ExportTableTest, ContactRowsNameTheirSides) {
  artefact::ContactTrack t;
  t.provenance = Made("fit.contact");
  t.dof_names = {"a.flex"};
  t.times = {Timestamp(), Timestamp::FromSeconds(0.002)};
  t.tau_Nm = Eigen::MatrixXd::Constant(1, 2, 0.25);
  artefact::Touch touch;
  touch.a = {Side::Kind::kHand, "R", "R.index.pad", 4};
  touch.b = {Side::Kind::kThing, "plate, flat", "", 0};
  touch.sensor = "B";
  touch.task = "exploring";
  t.touches = {touch};
  artefact::ContactRow row;
  row.frame = 1;
  row.f_onA_W = {1, 2, 3};
  t.rows = {row};
  EXPECT_EQ(Csv(t).value(),
            "time_s,touch,a,a_site,b,b_site,sensor,task,f_onA_x_N,f_onA_y_N,f_onA_z_N,m_onA_x_Nm,"
            "m_onA_y_Nm,m_onA_z_Nm,p_x_m,p_y_m,p_z_m,normal_x,normal_y,normal_z,offset_m,"
            "slip_m_per_s,a.flex_tau_Nm\n"
            "0.002,0,R,R.index.pad,\"plate, flat\",,B,exploring,1,2,3,0,0,0,,,,,,,,,0.25\n");
}

TEST_F(ExportTableTest, OtherKindsListTheirMembers) {
  artefact::Grasp g;
  g.provenance = Made("regrasp");
  g.name = "by the handle";
  g.scripted = true;
  g.q = Eigen::Vector2d(0.5, -1);
  g.scores = {{"margin", 1.5}};
  const std::string csv = Csv(g).value();
  for (const char* line : {"member,value\n", "name,by the handle\n", "scripted,true\n", "q.1,-1\n",
                           "scores.margin,1.5\n", "X_PH.R.0,1\n"})
    EXPECT_NE(csv.find(line), std::string::npos) << line << "in\n" << csv;
}

}  // namespace
}  // namespace handhold::pipeline::export_table_test
