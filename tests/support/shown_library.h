/// A library with one take of a finger on a plate and results made by hand: for tests of pages.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "database/artefact/kind.h"
#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "tools/pipeline/inputs.h"

namespace handhold::testing {

/// 2 s of one marker (the second never seen) and one force sensor; 100 frames of pose; a touch from
/// 0.5 s to 1.5 s with 3 N upwards; a motion that the same hand makes 1 cm further along x.
class ShownLibrary {
 public:
  explicit ShownLibrary(const std::string& name) {
    const std::string folder = ::testing::TempDir() + "/shown_" + name;
    std::filesystem::remove_all(folder);
    library = store::Library::Create(folder).value();
    recording::ClipInfo info;
    info.task = "stroke", info.subject = "S01", info.host_start_ns = 1'000'000'000;
    info = library->NewTake(info).value();
    recording::Clip take(info);
    AddStreams(&take, info.host_start_ns);
    EXPECT_TRUE(store::WriteClip(take, library->ClipPath(info.id), {}));
    EXPECT_TRUE(library->Index(info.id));
    clip = pipeline::FindClip(context(), info.name).value();
    std::vector<std::string> chosen;
    pipeline::HandChoice finger;
    finger.key = "finger4";
    hand = std::make_unique<pipeline::FoundSkeleton>(
        pipeline::FindSkeleton(context(), finger, clip, &chosen).value());
    plate = std::make_unique<pipeline::FoundProp>(
        pipeline::FindProp(context(), "flat_plate", 1.0, &chosen).value());
    SaveResults();
  }
  /// What somebody says of the clip.
  Status Say(store::LedgerKind kind, const std::string& name, const std::string& value) {
    store::LedgerEntry entry;
    entry.clip = clip.row.id, entry.kind = kind, entry.author = "ana";
    entry.name = name, entry.value = value;
    HANDHOLD_ASSIGN(const std::string uid, library->Say(entry));
    return uid.empty() ? Status(Error{ErrorCode::kInvalid, "no entry"}) : Status();
  }
  /// Another motion of the same step on the same plate, newer; its hash.
  std::string SaveSecondMotion() {
    artefact::Motion moved = store::Load<artefact::Motion>(library->ArtefactPath(motion)).value();
    moved.provenance.made_utc = Timestamp::FromSeconds(1e9 + ++made_);
    moved.provenance.parameters_json = R"({"at_m": 0.02})";
    moved.objects[0].X_WP = {geometry::RigidTransform::Translation({0.02, 0, 0})};
    return library->Save(moved).value();
  }
  pipeline::StepContext context() { return {.library = *library}; }

  std::unique_ptr<store::Library> library;
  pipeline::FoundClip clip;
  std::unique_ptr<pipeline::FoundSkeleton> hand;
  std::unique_ptr<pipeline::FoundProp> plate;
  std::string pose, contact, motion;  ///< hashes
  static constexpr int kFrames = 100;

 private:
  static void AddStreams(recording::Clip* take, int64_t start_ns) {
    recording::StreamInfo markers;
    markers.name = "vicon/markers", markers.kind = recording::StreamKind::kMarkers;
    markers.rate = {50, 1};
    for (const char* c : {"A.x", "A.y", "A.z", "B.x", "B.y", "B.z"})
      markers.channels.push_back({c, "m", 1e-5});
    recording::SampleBlock block;
    block.stream_id = take->AddStream(markers, recording::ClockMap::Identity(start_ns));
    block.count = kFrames;
    block.values.assign(3 * kFrames, 0.25);
    block.values.resize(6 * kFrames, std::numeric_limits<double>::quiet_NaN());
    take->Append(block);
    recording::StreamInfo force;
    force.name = "plate/wrench", force.kind = recording::StreamKind::kForceTorque;
    force.rate = {1000, 1};
    for (const char* c : {"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"})
      force.channels.push_back({c, "count", 1});
    recording::SampleBlock raw;
    raw.stream_id = take->AddStream(force, recording::ClockMap::Identity(start_ns));
    raw.count = 2000;
    raw.values.assign(6 * 2000, 0.0);
    for (int i = 500; i < 1500; ++i) raw.value(2, i) = -3000;  // pressed down
    take->Append(raw);
    recording::ForceSensor sensor;
    sensor.name = "plate", sensor.stream_id = raw.stream_id;
    sensor.calibration = 1e-3 * Eigen::Matrix<double, 6, 6>::Identity();
    sensor.bias = Eigen::VectorXd::Zero(6);
    take->AddForceSensor(sensor);
    recording::Event mark;
    mark.clip_time = Timestamp::FromSeconds(1.25), mark.kind = "mark", mark.origin = "operator";
    mark.text = "look here";
    take->AddEvent(mark);
  }
  artefact::Provenance Made(const std::string& step,
                            std::vector<artefact::ProvenanceInput> inputs) {
    artefact::Provenance p;
    p.made_utc = Timestamp::FromSeconds(1e9 + ++made_);
    p.step = step, p.version = 1, p.inputs = std::move(inputs), p.parameters_json = "{}";
    return p;
  }
  void SaveResults() {
    const model::Skeleton& skeleton = hand->skeleton;
    artefact::PoseTrack track;
    track.provenance = Made("fit.pose", {clip.input(), hand->input()});
    track.skeleton_hash = hand->hash, track.dof_names = skeleton.dof_names();
    track.q.resize(skeleton.nq(), kFrames);
    for (int k = 0; k < kFrames; ++k) {
      track.times.push_back(Timestamp::FromSeconds(0.02 * k));
      Eigen::VectorXd v = Eigen::VectorXd::Constant(skeleton.nv(), 0.3);
      v[0] = 0.001 * k;
      track.q.col(k) = skeleton.Integrate(skeleton.ZeroConfiguration(), v);
    }
    track.information_diagonal.setConstant(skeleton.nv(), kFrames, 1e4);
    track.marker_residual_m.resize(0, kFrames);
    track.at_limit.setConstant(skeleton.nv(), kFrames, false);
    pose = library->Save(track).value();

    artefact::Touch touch;
    touch.a = {artefact::Side::Kind::kHand, "R", "R.index.pad", 1};
    touch.b.name = "plate";
    touch.onset = Timestamp::FromSeconds(0.5), touch.release = Timestamp::FromSeconds(1.5);
    touch.peak_force_N = 3.0, touch.task = "exploring";
    std::vector<artefact::ContactRow> rows;
    for (int k = 25; k < 75; ++k) {
      artefact::ContactRow row;
      row.frame = k, row.f_onA_W = {0, 0, 3.0};
      row.p_W = {0.1, 0, 0}, row.normal_W = {0, 0, 1};
      rows.push_back(row);
    }
    artefact::ContactTrack contacts;
    contacts.provenance =
        Made("fit.contact", {clip.input(), {"pose", pose, ""}, hand->input(), plate->input()});
    contacts.skeleton_hash = hand->hash, contacts.dof_names = track.dof_names;
    contacts.times = track.times, contacts.touches = {touch}, contacts.rows = rows;
    contacts.things = {{"plate", "flat_plate", plate->hash, {}}};
    contacts.tau_Nm.setConstant(skeleton.nv(), kFrames, 0.05);
    contact = library->Save(contacts).value();

    artefact::Motion moved;
    moved.provenance = Made("synth.interaction", {{"contact", contact, ""}, hand->input()});
    moved.times = track.times;
    artefact::StageHand played;
    played.skeleton.hash = hand->hash;
    moved.Add(played) = {"R", track.dof_names, track.q};
    artefact::StageThing stood =
        artefact::Placed(plate->prop, geometry::RigidTransform::Translation({0.01, 0, 0}));
    stood.name = "plate", stood.prop.hash = plate->hash;
    moved.Add(stood);
    for (artefact::ContactRow& row : rows) row.slip_m_per_s = 0.002;
    moved.touches = {touch}, moved.rows = rows;
    moved.series = {{"equilibrium_residual", "rad", Eigen::VectorXd::Zero(kFrames)}};
    moved.verdict = {artefact::Verdict::Kind::kSlipped, Timestamp::FromSeconds(1.2), "plate"};
    motion = library->Save(moved).value();
  }
  int made_ = 0;
};

}  // namespace handhold::testing
