/// What `handhold view` answers: the pages of a library, made as they are asked for. Reads only.
///
///   /                 the clips, with facets, search and thumbnails
///   /clip/KEY         the page of a take (report::MakeTakePage)
///   /show?what=KEY    a player of clips and artefacts; `what` may be given several times
///   /live             a recording that runs
///   /api/clips        {"library", "clips", "total", "recording"}
///   /api/query?q=     {"columns", "rows", "clips", "more"} or {"error"}
///   /api/live         {"age_s", "live"}: what the recorder said last
///   /thumb/ID         a picture: PNG of the fitted hand, SVG of the markers without one
///
/// One Site belongs to one thread. Tests: tests/tools/viewer/site_test.cc.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "database/base/result.h"
#include "database/store/library.h"
#include "tools/live/publish.h"
#include "tools/viewer/http/server.h"

namespace handhold::viewer {

class Site {
 public:
  /// `live` may be null: then /api/live says `live_note`. It must outlive the site.
  static Result<std::unique_ptr<Site>> Open(const std::string& library,
                                            const live::LiveListener* live = nullptr,
                                            std::string live_note = "");
  Response Answer(const Request& request);

 private:
  Site() = default;
  Result<Response> Page(const Request& request);
  Result<Response> Clips() const;
  Result<Response> Ask(const std::string& query) const;
  Response Live() const;
  Result<Response> Thumb(const std::string& id);

  std::unique_ptr<store::Library> library_;
  const live::LiveListener* live_ = nullptr;
  std::string live_note_;
  std::map<std::string, Response> thumbs_;  ///< by clip, and the poses it shows
};

}  // namespace handhold::viewer
