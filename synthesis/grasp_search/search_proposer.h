/// The grasp search as a proposer: what it finds is judged beside what grasp control finds
/// (synthesis/regrasp). Pinned by tests/synthesis/grasp_search/search_proposer_test.cc.
#pragma once

#include "synthesis/grasp_search/grasp_search.h"
#include "synthesis/regrasp/proposer.h"

namespace handhold::synthesis {

class SearchProposer : public Proposer {
 public:
  /// `searcher` must outlive it. `options`: what the wishes do not say.
  explicit SearchProposer(const GraspSearcher& searcher, const GraspSearchOptions& options = {})
      : searcher_(searcher), options_(options) {}

  std::string_view name() const override { return "search"; }
  /// Candidates are fits, `wishes.poses` of them, from four times as many starts; numbered over the
  /// types that match. kInvalid: the request's hand is not the searcher's, by its dof names.
  Result<ProposerReport> Propose(const GraspRequest& request, const ProposerSink& sink) override;

 private:
  const GraspSearcher& searcher_;
  GraspSearchOptions options_;
};

}  // namespace handhold::synthesis
