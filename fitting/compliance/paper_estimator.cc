#include "fitting/compliance/paper_estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "database/base/check.h"
#include "fitting/signal/missing.h"
#include "fitting/signal/polynomial.h"

namespace handhold::fitting {
namespace {

struct Slice {
  std::vector<double> t, y;
};

Slice Cut(std::span<const double> t, std::span<const double> y, double begin, double end) {
  Slice s;
  for (size_t i = 0; i < t.size(); ++i) {
    if (t[i] < begin || t[i] > end || !std::isfinite(y[i])) continue;
    s.t.push_back(t[i]);
    s.y.push_back(y[i]);
  }
  return s;
}

/// Slopes of one joint over the kept events of a task, pooled.
struct Pool {
  std::vector<double> angle, torque, angle_sd;
  std::map<std::string, int> reasons;
};

artefact::JointCompliance Answer(const std::string& dof, const Pool& pool) {
  artefact::JointCompliance joint;
  joint.dof = dof;
  double tt = 0, ta = 0;
  for (size_t i = 0; i < pool.angle.size(); ++i) {
    tt += pool.torque[i] * pool.torque[i];
    ta += pool.torque[i] * pool.angle[i];
  }
  const double c = tt > 0 ? ta / tt : 0.0;
  if (pool.angle.empty() || c <= 0) {
    joint.refusal = "no event gave a usable estimate:";
    for (const auto& [reason, count] : pool.reasons)
      joint.refusal += " " + std::to_string(count) + " x " + reason + ";";
    joint.upper_rad_per_Nm = std::numeric_limits<double>::infinity();
    return joint;
  }
  // Scatter between events; for a single event what its own slopes say.
  double meat = 0;
  for (size_t i = 0; i < pool.angle.size(); ++i) {
    const double r = pool.torque[i] * (pool.angle[i] - c * pool.torque[i]);
    meat += pool.angle.size() > 1 ? r * r : std::pow(pool.torque[i] * pool.angle_sd[i], 2);
  }
  const double count = static_cast<double>(pool.angle.size());
  const double sd = std::sqrt(meat * (count > 1 ? count / (count - 1) : 1.0)) / tt;
  joint.compliance_rad_per_Nm = c;
  joint.sd_log = sd / c;
  joint.lower_rad_per_Nm = c * std::exp(-1.96 * joint.sd_log);
  joint.upper_rad_per_Nm = c * std::exp(1.96 * joint.sd_log);
  return joint;
}

}  // namespace

PaperEstimate EstimateByExtrapolation(std::span<const double> time_s,
                                      std::span<const double> theta_rad,
                                      std::span<const double> tau_Nm,
                                      const PaperEstimatorOptions& options) {
  CHECK(time_s.size() == theta_rad.size() && time_s.size() == tau_Nm.size());
  PaperEstimate e;
  e.compliance_rad_per_Nm = kMissing;
  const double after = options.skip.seconds();
  const Slice pre = Cut(time_s, theta_rad, -options.before.seconds(), 0.0);
  const Slice post = Cut(time_s, theta_rad, after, after + options.after.seconds());
  const Slice torque = Cut(time_s, tau_Nm, after, after + options.after.seconds());
  auto theta_before = FitPolynomial(pre.t, pre.y, options.degree, 0.0);
  auto theta_after = FitPolynomial(post.t, post.y, options.degree, 0.0);
  auto tau_after = FitPolynomial(torque.t, torque.y, options.degree, 0.0);
  if (!theta_before || !theta_after || !tau_after) {
    e.discarded = "too few samples around the onset";
    return e;
  }
  e.angle_slope = theta_after->coefficient[1] - theta_before->coefficient[1];
  e.torque_slope = tau_after->coefficient[1];
  const double angle_sd = std::hypot(theta_after->SlopeSd(), theta_before->SlopeSd());
  const double torque_sd = tau_after->SlopeSd();
  if (e.torque_slope == 0) {
    e.discarded = "torque slope not told from 0";
    return e;
  }
  e.compliance_rad_per_Nm = e.angle_slope / e.torque_slope;
  e.sd_rad_per_Nm =
      std::hypot(angle_sd, e.compliance_rad_per_Nm * torque_sd) / std::abs(e.torque_slope);
  if (e.compliance_rad_per_Nm < 0) {
    e.discarded = "negative: extrapolation suggests a joint that moves against its torque (Fig. 8)";
  } else if (std::abs(e.torque_slope) <= options.undetermined_sd * torque_sd) {
    e.discarded = "torque slope not told from 0";
  } else if (std::abs(e.angle_slope) <= options.undetermined_sd * angle_sd) {
    e.discarded = "angle slope not told from its extrapolation";
  }
  return e;
}

Result<std::vector<artefact::ComplianceFit>> FitPaperCompliance(
    const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
    const artefact::ContactTrack& contact, const PaperEstimatorOptions& options) {
  if (pose.times != contact.times || pose.q.rows() != skeleton.nq()) {
    return Error{ErrorCode::kInvalid,
                 "paper estimator: pose and contact tracks must share their times and skeleton"};
  }
  if (options.degree < 1 || options.degree > 2)
    return Error{ErrorCode::kInvalid, "paper estimator: degree must be 1 or 2"};
  const int nv = skeleton.nv();
  std::vector<artefact::ComplianceFit> fits;
  std::vector<std::vector<Pool>> pools;
  const double reach =
      std::max(options.before.seconds(), options.skip.seconds() + options.after.seconds());
  for (size_t p = 0; p < contact.touches.size(); ++p) {
    const artefact::Touch& touch = contact.touches[p];
    size_t which = 0;
    while (which < fits.size() && fits[which].task != touch.task) ++which;
    if (which == fits.size()) {
      fits.push_back({});
      fits.back().estimator = "paper";
      fits.back().task = touch.task;
      pools.emplace_back(static_cast<size_t>(nv));
    }
    artefact::ComplianceFit& fit = fits[which];
    const Duration window = Duration::FromSeconds(reach) + Duration::Milliseconds(1);
    const auto first =
        std::lower_bound(pose.times.begin(), pose.times.end(), touch.onset - window) -
        pose.times.begin();
    const auto last = std::upper_bound(pose.times.begin(), pose.times.end(), touch.onset + window) -
                      pose.times.begin();
    const auto at_onset =
        std::lower_bound(pose.times.begin(), pose.times.end(), touch.onset) - pose.times.begin();
    if (last - first < 4 || at_onset >= last) {
      fit.discarded.push_back(
          {static_cast<int>(p), "", kMissing, "too few frames around the onset"});
      continue;
    }
    std::vector<double> t;
    Eigen::MatrixXd theta(last - first, nv), tau(last - first, nv);
    for (auto k = first; k < last; ++k) {
      t.push_back((pose.times[static_cast<size_t>(k)] - touch.onset).seconds());
      theta.row(k - first) = skeleton.Difference(pose.q.col(at_onset), pose.q.col(k)).transpose();
      tau.row(k - first) = contact.tau_Nm.col(k).transpose();
    }
    artefact::ComplianceFit::Event event;
    event.touch = static_cast<int>(p);
    event.compliance_rad_per_Nm = Eigen::VectorXd::Constant(nv, kMissing);
    bool any = false;
    for (int j = 0; j < nv; ++j) {
      const PaperEstimate e = EstimateByExtrapolation(t, {theta.col(j).data(), t.size()},
                                                      {tau.col(j).data(), t.size()}, options);
      Pool& pool = pools[which][static_cast<size_t>(j)];
      if (!e.discarded.empty()) {
        fit.discarded.push_back({static_cast<int>(p), skeleton.dof_names()[static_cast<size_t>(j)],
                                 e.compliance_rad_per_Nm, e.discarded});
        ++pool.reasons[e.discarded];
        continue;
      }
      any = true;
      event.compliance_rad_per_Nm[j] = e.compliance_rad_per_Nm;
      pool.angle.push_back(e.angle_slope);
      pool.torque.push_back(e.torque_slope);
      pool.angle_sd.push_back(e.sd_rad_per_Nm * std::abs(e.torque_slope));
    }
    fit.events.push_back(event);
    fit.events_used += any;
  }
  for (size_t f = 0; f < fits.size(); ++f) {
    std::vector<double> variances;
    for (int j = 0; j < nv; ++j) {
      fits[f].joints.push_back(
          Answer(skeleton.dof_names()[static_cast<size_t>(j)], pools[f][static_cast<size_t>(j)]));
      const auto& joint = fits[f].joints.back();
      if (joint.compliance_rad_per_Nm) variances.push_back(joint.sd_log * joint.sd_log);
    }
    fits[f].covariance_log = Eigen::Map<const Eigen::VectorXd>(
                                 variances.data(), static_cast<Eigen::Index>(variances.size()))
                                 .asDiagonal();
  }
  return fits;
}

}  // namespace handhold::fitting
