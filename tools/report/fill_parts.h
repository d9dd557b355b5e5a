/// The parts of FillReport, one per section of the page. Private to tools/report.
#pragma once

#include "tools/report/fill.h"
#include "tools/report/measure.h"

namespace handhold::report {

/// What the parts share.
struct Filling {
  const ReportSources& from;
  const ReportOptions& options;
  double start_s = 0.0;   ///< clip time of session time 0; 0 without truth
  int shown_touch = -1;   ///< the contact that pictures and Fig. 3 show
  int shown_stroke = -1;  ///< the truth's stroke of that contact
  ReportData* data;
};

Status FillTake(Filling* f);          ///< streams, gaps, clocks, advice
Status FillStroke(Filling* f);        ///< pictures of one stroke
void FillContactFigures(Filling* f);  ///< like Fig. 3
void FillCompliance(Filling* f);      ///< like Table 1, with its figure
Status FillReplays(Filling* f);       ///< like Fig. 4, with criterion 9
void FillCriteria(Filling* f);        ///< 4 to 8
void AddCriterion(Filling* f, std::string number, std::string what, double value, double bound,
                  bool at_most, double scale, int decimals, const std::string& unit,
                  const std::string& note = "");

/// The C used by fits of one estimator and task, or null.
const artefact::ComplianceFit* FindFit(const std::vector<artefact::ComplianceFit>& fits,
                                       const std::string& estimator, const std::string& task);
/// "R.index.mcp.flex" -> "MP", as the paper says it; other dofs keep their name.
std::string JointTitle(const std::string& dof);

}  // namespace handhold::report
