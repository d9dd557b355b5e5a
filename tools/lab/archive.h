/// Runs as flat lists of doubles, for files and for pipes between our own processes. One list of
/// fields serves both directions.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "tools/lab/engine_run.h"
#include "tools/lab/truth.h"

namespace handhold::lab {

/// Matrices are kept as rows, columns, then values column by column.
struct Packer {
  std::vector<double> out;
  void Number(double& v) { out.push_back(v); }
  void Matrix(Eigen::MatrixXd& m) {
    out.push_back(static_cast<double>(m.rows())), out.push_back(static_cast<double>(m.cols()));
    out.insert(out.end(), m.data(), m.data() + m.size());
  }
  size_t Count(size_t n) {
    out.push_back(static_cast<double>(n));
    return n;
  }
};

struct Unpacker {
  const std::vector<double>& in;
  size_t at = 0;
  bool good = true;  ///< false: the list ended early or holds sizes that cannot be

  void Number(double& v) { v = Take(); }
  void Matrix(Eigen::MatrixXd& m) {
    const size_t rows = Count(0), columns = Count(0);
    if (!good || (rows != 0 && columns > (in.size() - at) / rows)) {
      good = false;
      return;
    }
    m = Eigen::Map<const Eigen::MatrixXd>(in.data() + at, static_cast<Eigen::Index>(rows),
                                          static_cast<Eigen::Index>(columns));
    at += rows * columns;
  }
  size_t Count(size_t) {
    const double n = Take();
    if (!(n >= 0) || n > static_cast<double>(in.size()) ||
        n != static_cast<double>(static_cast<size_t>(n)))
      good = false;
    return good ? static_cast<size_t>(n) : 0;
  }
  double Take() {
    if (at >= in.size()) good = false;
    return good ? in[at++] : 0.0;
  }
};

template <typename Archive>
void Fields(Archive& a, TruthSeries& s) {
  a.Number(s.begin_s), a.Number(s.rate_hz);
  a.Matrix(s.theta), a.Matrix(s.p_W_tip), a.Matrix(s.theta_dot), a.Matrix(s.f_onHand_W),
      a.Matrix(s.p_W_contact), a.Matrix(s.normal_W);
  Eigen::MatrixXd slip = s.slip_m_per_s;
  a.Matrix(slip);
  s.slip_m_per_s = slip.size() > 0 ? Eigen::VectorXd(slip.col(0)) : Eigen::VectorXd();
}

template <typename Archive>
void SeriesFields(Archive& a, TruthRun& run) {
  Fields(a, run.session);
  run.strokes.resize(a.Count(run.strokes.size()));
  for (TruthSeries& s : run.strokes) Fields(a, s);
}

template <typename Archive>
void Fields(Archive& a, EngineRecord& r) {
  a.Number(r.run.friction);
  SeriesFields(a, r.run);
  r.run.contacts.resize(a.Count(r.run.contacts.size()));
  for (TruthContact& c : r.run.contacts) {
    double stroke = c.stroke;
    a.Number(stroke), a.Number(c.onset_s), a.Number(c.release_s), a.Number(c.peak_normal_force_N);
    c.stroke = static_cast<int>(stroke);
  }
  Eigen::MatrixXd markers = Eigen::Map<const Eigen::VectorXd>(
      r.markers_W.data(), static_cast<Eigen::Index>(r.markers_W.size()));
  a.Matrix(markers);
  r.markers_W.assign(markers.data(), markers.data() + markers.size());
  r.traces.resize(a.Count(r.traces.size()));
  for (WrenchTrace& t : r.traces) a.Number(t.begin_s), a.Matrix(t.rows);
}

}  // namespace handhold::lab
