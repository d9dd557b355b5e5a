#include "tools/lab/engine_run.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>

#include "database/base/minimum_jerk.h"
#include "synthesis/world/skeleton_in_world.h"
#include "synthesis/world/world.h"
#include "tools/lab/program.h"

namespace handhold::lab {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kChatter_s = 0.005;
constexpr int kSeriesRate_Hz = 1000, kSessionRate_Hz = 500;

/// Sum of the contacts of one step.
struct StepContact {
  Vec3 f_onHand_W = Vec3::Zero(), torque_onHand_W = Vec3::Zero();  // torque about W's origin
  Vec3 p_W = Vec3::Constant(kNaN), normal_W = Vec3::Constant(kNaN);
  double slip_m_per_s = kNaN, normal_N = 0.0;
};

StepContact SumContacts(const synthesis::World& world) {
  StepContact sum;
  Vec3 p = Vec3::Zero(), n = Vec3::Zero();
  double slip = 0;
  for (const synthesis::ContactReading& c : world.contacts()) {
    const double normal = c.normal_force_N();
    if (!(normal > 0)) continue;
    sum.f_onHand_W += c.f_onA_W;
    sum.torque_onHand_W += c.p_W.cross(c.f_onA_W);
    sum.normal_N += normal;
    p += normal * c.p_W, n += normal * c.normal_W, slip += normal * c.slip_W.norm();
  }
  if (sum.normal_N > 0) {
    sum.p_W = p / sum.normal_N, sum.normal_W = n.normalized(),
    sum.slip_m_per_s = slip / sum.normal_N;
  }
  return sum;
}

/// A growing series, row by row.
struct SeriesBuilder {
  double begin_s = 0.0;
  std::vector<double> theta, theta_dot, tip, force, point, normal, slip;

  static Eigen::MatrixXd Shape(const std::vector<double>& values, Eigen::Index columns) {
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        values.data(), static_cast<Eigen::Index>(values.size()) / columns, columns);
  }
  static void Push(const auto& v, std::vector<double>* out) {
    out->insert(out->end(), v.data(), v.data() + v.size());
  }
  TruthSeries Finish(double rate_hz, Eigen::Index nv) const {
    TruthSeries s;
    s.begin_s = begin_s, s.rate_hz = rate_hz;
    s.theta = Shape(theta, nv), s.p_W_tip = Shape(tip, 3), s.theta_dot = Shape(theta_dot, nv);
    s.f_onHand_W = Shape(force, 3), s.p_W_contact = Shape(point, 3), s.normal_W = Shape(normal, 3);
    s.slip_m_per_s = Shape(slip, 1);
    return s;
  }
};

class Runner {
 public:
  Runner(const Laboratory& lab, const RunRequest& request)
      : lab_(lab), request_(request), h_(lab.options.step_s), nv_(lab.skeleton->nv()) {}

  Status Build() {
    HANDHOLD_ASSIGN(world_, synthesis::World::Create());
    HANDHOLD_ASSIGN(auto hand, synthesis::SkeletonInWorld::Add(*lab_.skeleton, world_.get(),
                                                               {.colliders = false}));
    hand_ = std::make_unique<synthesis::SkeletonInWorld>(std::move(hand));
    if (request_.surface == "none") return {};
    const model::NamedFrame& tip = lab_.skeleton->frames()[static_cast<size_t>(lab_.tip_frame)];
    // Only the fingertip touches: a sphere, for which the engine's colliders are exact.
    HANDHOLD_TRY(world_->AddCollider({.name = "fingertip",
                                      .body = hand_->engine_body(tip.body),
                                      .X_BS = RigidTransform::Translation(tip.X_BF.p),
                                      .shape = geometry::Sphere{lab_.plate.tip_radius_m},
                                      .mask = synthesis::ColliderMask::Hand()}));
    const model::Prop& prop = Prop();
    const synthesis::ContactLaw law{1.0 / prop.surface_compliance_m_per_N,
                                    lab_.surface_damping_Ns_per_m, request_.friction};
    for (const model::PropShape& shape : prop.shapes) {
      HANDHOLD_ASSIGN(const int collider, world_->AddCollider({.name = prop.name + "/" + shape.name,
                                                               .X_BS = lab_.X_WPlate * shape.X_PS,
                                                               .shape = shape.shape,
                                                               .law = law}));
      colliders_.push_back(collider);
    }
    return {};
  }

  Result<EngineRecord> Run() {
    HANDHOLD_TRY(Build());
    record_.run.name = request_.name, record_.run.surface = request_.surface,
    record_.run.friction = request_.friction;
    record_.run.strokes.resize(lab_.program.strokes.size());
    bool placed = false;
    for (const ProgramSegment& segment : lab_.program.segments) {
      const bool touches = segment.take.name != "range_of_motion" && segment.take.name != "free";
      if (!request_.whole_session && !touches) continue;
      if (!placed) HANDHOLD_TRY(hand_->SetConfiguration(segment.q.row(0).transpose()));
      placed = true;
      HANDHOLD_TRY(RunSegment(segment));
    }
    if (request_.whole_session) {
      PushState(&session_);
      record_.run.session = session_.Finish(kSessionRate_Hz, nv_);
    }
    return std::move(record_);
  }

 private:
  /// What moves on beyond its stroke is heavy for the springs and dampers that hold it.
  Error SwingsOn(double t_s) const {
    char text[320];
    std::snprintf(text, sizeof text,
                  "the finger touches the surface outside its strokes, at %.2f s: it swings on "
                  "after them. Its palm is heavy (palm_mass is %.3g) or its joints are soft and "
                  "little damped: give it a lighter palm, smaller compliances or longer time "
                  "constants",
                  t_s, lab_.options.palm_mass);
    return {ErrorCode::kInvalid, text};
  }

  const model::Prop& Prop() const {
    return request_.surface == "bumped_plate" ? lab_.bumped : lab_.flat;
  }

  Status PlaceSurface(int stroke) {
    if (request_.surface != "bumped_plate") return {};
    for (size_t i = 0; i < colliders_.size(); ++i) {
      HANDHOLD_TRY(world_->MoveFixedCollider(
          colliders_[i], lab_.X_WBumped[static_cast<size_t>(stroke)] * Prop().shapes[i].X_PS));
    }
    return {};
  }

  Vec3 Tip() const {
    const model::NamedFrame& tip = lab_.skeleton->frames()[static_cast<size_t>(lab_.tip_frame)];
    return hand_->X_WB(tip.body) * tip.X_BF.p;
  }
  void PushState(SeriesBuilder* series) const {
    SeriesBuilder::Push(hand_->q(), &series->theta);
    SeriesBuilder::Push(Tip(), &series->tip);
  }
  void MarkerPositions(std::vector<double>* out) const {
    out->clear();
    std::map<int, RigidTransform> poses;
    for (const model::MarkerAttachment& marker : lab_.skeleton->markers()) {
      const auto [it, fresh] = poses.try_emplace(marker.body);
      if (fresh) it->second = hand_->X_WB(marker.body);
      SeriesBuilder::Push(Vec3(it->second * marker.p_BM), out);
    }
  }

  /// The reflex: a shift of all commands that begins after contact and fades after release.
  double Reflex(double t_s) const {
    if (!request_.reflex || !(onset_s_ > -1)) return 0.0;
    return lab_.options.reflex_rad *
           MinimumJerk((t_s - onset_s_ - lab_.options.reflex_delay_s) / 0.020) *
           (1.0 - MinimumJerk((t_s - last_contact_s_ - 0.030) / 0.100));
  }

  void NoteContact(double t_s, const StepContact& contact, int stroke) {
    if (!(contact.normal_N > 0)) return;
    std::vector<TruthContact>& contacts = record_.run.contacts;
    if (contacts.empty() || contacts.back().stroke != stroke ||
        t_s - contacts.back().release_s > kChatter_s) {
      contacts.push_back({stroke, t_s, t_s, 0.0});
      if (onset_s_ < 0) onset_s_ = t_s;
    }
    contacts.back().release_s = t_s + h_;
    contacts.back().peak_normal_force_N =
        std::max(contacts.back().peak_normal_force_N, contact.normal_N);
    last_contact_s_ = t_s + h_;
  }

  /// Markers of every frame whose instant lies in [t, t + h), on the straight line between the
  /// step's ends.
  void RecordMarkersBefore(double t_s) {
    const double rate = kSessionRate_Hz * (1.0 + lab_.options.sensor.marker_clock_ppm * 1e-6);
    frame_due_ = request_.sensors && static_cast<double>(frame_) / rate < t_s + h_;
    if (frame_due_) MarkerPositions(&before_);
  }
  void RecordMarkersAfter(double t_s) {
    if (!frame_due_) return;
    const double rate = kSessionRate_Hz * (1.0 + lab_.options.sensor.marker_clock_ppm * 1e-6);
    MarkerPositions(&after_);
    const double s = (static_cast<double>(frame_) / rate - t_s) / h_;
    for (size_t i = 0; i < before_.size(); ++i)
      record_.markers_W.push_back(before_[i] + s * (after_[i] - before_[i]));
    ++frame_;
  }

  /// The engine's springs are each joint's own. What a neighbour's departure adds through K(i, j)
  /// and B(i, j) is put into the joint's target and rate, from the step's beginning: stable, as the
  /// shares are below 1.
  void Couple(const PlantedImpedance& impedance, Eigen::VectorXd* target,
              Eigen::VectorXd* rate) const {
    if (impedance.coupling.size() == 0) return;
    const Eigen::VectorXd away = hand_->q() - *target, drift = hand_->v() - *rate;
    for (Eigen::Index i = 0; i + 1 < nv_; ++i) {
      for (const auto& [a, b] : {std::pair{i, i + 1}, std::pair{i + 1, i}}) {
        const double share = impedance.coupling[i] * std::sqrt(impedance.compliance_rad_per_Nm[a] /
                                                               impedance.compliance_rad_per_Nm[b]);
        (*target)[a] += share * away[b];
        (*rate)[a] += share *
                      std::sqrt(impedance.time_constant_s[b] / impedance.time_constant_s[a]) *
                      drift[b];
      }
    }
  }

  Status RunSegment(const ProgramSegment& segment) {
    const PlantedImpedance& impedance = lab_.impedances[static_cast<size_t>(segment.impedance)];
    const Eigen::VectorXd stiffness = impedance.compliance_rad_per_Nm.cwiseInverse();
    const Eigen::VectorXd damping = stiffness.cwiseProduct(impedance.time_constant_s);
    const CommandCurve curve(segment.command);
    const int64_t first = std::llround(segment.take.begin_s / h_),
                  last = std::llround(segment.take.end_s / h_);
    const int64_t series_every = std::llround(1.0 / (kSeriesRate_Hz * h_)),
                  session_every = std::llround(1.0 / (kSessionRate_Hz * h_));
    int next_stroke = segment.first_stroke;
    const int stroke_end = segment.first_stroke + segment.stroke_count;
    const bool touches = segment.take.name != "free" && segment.take.name != "range_of_motion";
    int stroke = -1;
    SeriesBuilder series;
    WrenchTrace trace;
    std::vector<double> trace_rows;
    StepContact previous;
    Eigen::VectorXd target(nv_), rate(nv_);
    for (int64_t i = first; i < last; ++i) {
      const double t = static_cast<double>(i) * h_;
      if (stroke < 0 && next_stroke < stroke_end && touches &&
          i >= std::llround(lab_.program.strokes[static_cast<size_t>(next_stroke)].begin_s / h_)) {
        stroke = next_stroke++;
        series = {}, trace = {}, trace_rows.clear(), onset_s_ = -2, last_contact_s_ = -2;
        series.begin_s = trace.begin_s = t;
        HANDHOLD_TRY(PlaceSurface(stroke));
      }
      if (request_.whole_session && i % session_every == 0) PushState(&session_);
      const bool sample = stroke >= 0 && i % series_every == 0;
      if (sample) {
        PushState(&series);
        SeriesBuilder::Push(hand_->v(), &series.theta_dot);
      }
      RecordMarkersBefore(t);
      curve.Evaluate(t + h_ - segment.take.begin_s, &target, &rate);
      target += lab_.flexion_sign * Reflex(t + h_);
      rate += lab_.flexion_sign * ((Reflex(t + h_) - Reflex(t)) / h_);
      Couple(impedance, &target, &rate);
      HANDHOLD_TRY(hand_->SetDrives(target, rate, stiffness, damping));
      HANDHOLD_TRY(world_->Step(h_));
      RecordMarkersAfter(t);
      const StepContact contact = SumContacts(*world_);
      if (stroke < 0 && contact.normal_N > 0) return SwingsOn(t);
      if (stroke >= 0) {
        NoteContact(t, contact, stroke);
        if (sample) {
          const StepContact& where = contact.normal_N > 0 ? contact : previous;
          SeriesBuilder::Push(Vec3(0.5 * (previous.f_onHand_W + contact.f_onHand_W)),
                              &series.force);
          SeriesBuilder::Push(where.p_W, &series.point);
          SeriesBuilder::Push(where.normal_W, &series.normal);
          series.slip.push_back(where.slip_m_per_s);
        }
        if (request_.sensors) {
          SeriesBuilder::Push(Vec3(-contact.f_onHand_W), &trace_rows);
          SeriesBuilder::Push(Vec3(-contact.torque_onHand_W), &trace_rows);
        }
      }
      previous = contact;
      if (stroke >= 0 &&
          i + 1 >= std::llround(lab_.program.strokes[static_cast<size_t>(stroke)].end_s / h_)) {
        record_.run.strokes[static_cast<size_t>(stroke)] = series.Finish(kSeriesRate_Hz, nv_);
        if (request_.sensors) {
          trace.rows = SeriesBuilder::Shape(trace_rows, 6);
          record_.traces.push_back(std::exchange(trace, {}));
        }
        stroke = -1;
      }
    }
    return {};
  }

  const Laboratory& lab_;
  const RunRequest& request_;
  const double h_;
  const Eigen::Index nv_;
  std::unique_ptr<synthesis::World> world_;
  std::unique_ptr<synthesis::SkeletonInWorld> hand_;
  std::vector<int> colliders_;
  EngineRecord record_;
  SeriesBuilder session_;
  double onset_s_ = -2, last_contact_s_ = -2;
  int64_t frame_ = 0;
  bool frame_due_ = false;
  std::vector<double> before_, after_;
};

}  // namespace

Result<EngineRecord> RunEngine(const Laboratory& laboratory, const RunRequest& request) {
  Result<EngineRecord> record = Runner(laboratory, request).Run();
  if (!record) return record.error().Within("run " + request.name);
  return record;
}

}  // namespace handhold::lab
