#include "tools/viewer/site.h"

#include <algorithm>
#include <cmath>

#include "database/model/kinematics.h"
#include "database/store/query.h"
#include "tools/pipeline/inputs.h"
#include "tools/report/html.h"
#include "tools/report/page.h"
#include "tools/report/png.h"
#include "tools/report/scene_load.h"
#include "tools/report/scene_picture.h"
#include "tools/report/take_page.h"

namespace handhold::viewer {
namespace {

using geometry::Vec3;
using text::Json;

constexpr int64_t kMostClips = 20'000, kMostRows = 2'000;
constexpr size_t kMostThumbs = 500;
constexpr int kThumbWidth = 192, kThumbHeight = 120;

Result<Response> JsonResponse(const Json& value) {
  HANDHOLD_ASSIGN(std::string body, text::WriteJson(value));
  return Response{200, "application/json", std::move(body)};
}

Result<Response> PageResponse(const Json& data) {
  HANDHOLD_ASSIGN(std::string body, report::PageWith(data));
  return Response{200, "text/html; charset=utf-8", std::move(body)};
}

std::string Minutes(Timestamp utc) {
  const std::string text = FormatUtc(utc);
  return text.substr(0, std::min<size_t>(16, text.size()));
}

/// The middle of the motion, seen from its right side.
Result<Response> HandPicture(const store::Library& library, const store::ArtefactInfo& info) {
  HANDHOLD_ASSIGN(const auto pose,
                  store::Load<artefact::PoseTrack>(library.ArtefactPath(info.hash)));
  HANDHOLD_ASSIGN(const auto input, pipeline::RequireInput(info, "skeleton"));
  HANDHOLD_ASSIGN(const auto found, pipeline::LoadSkeletonArtefact(library, input.hash));
  if (pose.times.empty()) return Error{ErrorCode::kNotFound, "no pose"};
  report::PictureScene scene;
  scene.skeleton = &found.skeleton;
  scene.hands = {{.q = pose.q.col(pose.q.cols() / 2)}};
  model::KinematicsData data(found.skeleton);
  model::ComputePoses<double>(found.skeleton, scene.hands[0].q, &data);
  geometry::Bounds bounds;
  for (int b = 1; b < found.skeleton.body_count(); ++b)
    bounds.Include(data.X_WB[static_cast<size_t>(b)].p);
  report::Camera camera = report::SideView(bounds.centre(), 1.6 * bounds.diagonal_m() + 0.06);
  camera.width = kThumbWidth, camera.height = kThumbHeight;
  return Response{200, "image/png", report::EncodePng(report::DrawScene(scene, camera))};
}

/// Markers as dots, from above, at the first moment from the middle on at which some are seen.
Result<Response> MarkerPicture(const recording::ClipSource& clip) {
  std::string dots;
  geometry::Bounds bounds;
  std::vector<Vec3> seen;
  if (const auto* stream = clip.FirstOfKind(recording::StreamKind::kMarkers)) {
    const TimeRange extent = clip.Extent(stream->id);
    const Timestamp middle = extent.begin + Duration::Nanoseconds(extent.length().ns() / 2);
    HANDHOLD_ASSIGN(const recording::SampleWindow window,
                    clip.Read(stream->id, {middle, middle + Duration::Seconds(1)}));
    const int per_item = stream->channels_per_item();
    for (int i = 0; i < window.count() && seen.empty(); ++i) {
      for (int c = 0; c < stream->channel_count(); c += per_item) {
        const Vec3 p(window.value(c, i), window.value(c + 1, i), window.value(c + 2, i));
        if (p.allFinite()) seen.push_back(p), bounds.Include(p);
      }
    }
  }
  const double size = std::max(1e-3, (bounds.max - bounds.min).head<2>().maxCoeff());
  for (const Vec3& p : seen) {
    const Vec3 d = p - bounds.centre();
    dots += "<circle cx='" + report::Fixed(96 + 90 * d.x() / size, 1) + "' cy='" +
            report::Fixed(60 - 90 * d.y() / size, 1) + "' r='3' fill='#4a90c2'/>";
  }
  return Response{200, "image/svg+xml",
                  "<svg xmlns='http://www.w3.org/2000/svg' width='192' height='120' "
                  "viewBox='0 0 192 120'>" +
                      dots + "</svg>"};
}

}  // namespace

Result<std::unique_ptr<Site>> Site::Open(const std::string& library, const live::LiveListener* live,
                                         std::string live_note) {
  auto site = std::unique_ptr<Site>(new Site());
  HANDHOLD_ASSIGN(site->library_, store::Library::Open(library));
  site->live_ = live, site->live_note_ = std::move(live_note);
  return site;
}

Response Site::Answer(const Request& request) {
  Result<Response> response = Page(request);
  if (response) return *std::move(response);
  const bool missing = response.error().code == ErrorCode::kNotFound;
  return {missing                                        ? 404
          : response.error().code == ErrorCode::kInvalid ? 400
                                                         : 500,
          "text/plain; charset=utf-8", response.error().message + "\n"};
}

Result<Response> Site::Page(const Request& request) {
  const std::string& path = request.path;
  const pipeline::StepContext context{.library = *library_};
  if (path == "/") return PageResponse(Json::Object({{"page", "library"}}));
  if (path == "/live") return PageResponse(Json::Object({{"page", "live"}}));
  if (path.starts_with("/clip/")) {
    HANDHOLD_ASSIGN(report::TakePage page, report::MakeTakePage(context, path.substr(6)));
    page.data.Set("library", "../");
    return PageResponse(page.data);
  }
  if (path == "/show") {
    const auto [first, last] = request.query.equal_range("what");
    std::vector<std::string> keys;
    for (auto it = first; it != last; ++it) keys.push_back(it->second);
    if (keys.empty()) return Error{ErrorCode::kInvalid, "show what? /show?what=CLIP"};
    HANDHOLD_ASSIGN(const report::LoadedScene loaded, report::LoadScene(context, keys));
    return PageResponse(
        Json::Object({{"page", "scene"}, {"scene", report::SceneToJson(loaded.scene)}}));
  }
  if (path == "/api/clips") return Clips();
  if (path == "/api/query") return Ask(request.Query("q"));
  if (path == "/api/live") return Live();
  if (path.starts_with("/thumb/")) return Thumb(path.substr(7));
  return Error{ErrorCode::kNotFound, "there is no " + path + " here"};
}

Result<Response> Site::Clips() const {
  HANDHOLD_ASSIGN(const auto rows, library_->Clips({.limit = kMostClips}));
  HANDHOLD_ASSIGN(const store::LibraryInfo info, library_->Info());
  Json list = Json::Array();
  for (const store::ClipRow& row : rows) {
    list.Push(Json::Object({{"id", row.id},
                            {"name", row.name},
                            {"subject", row.subject},
                            {"session", row.session},
                            {"task", row.task},
                            {"prop", row.prop},
                            {"utc", Minutes(row.utc_start)},
                            {"length_s", row.length.seconds()},
                            {"closed", row.closed},
                            {"keep", row.keep},
                            {"red", row.red_count},
                            {"gaps", row.gap_count},
                            {"lost", row.lost_samples},
                            {"rating", row.rating ? Json(*row.rating) : Json()},
                            {"tags", Json::Array(std::span<const std::string>(row.tags))}}));
  }
  const auto heard = live_ ? live_->Newest() : std::nullopt;
  return JsonResponse(Json::Object({{"library", info.path},
                                    {"total", info.clips},
                                    {"clips", std::move(list)},
                                    {"recording", heard && heard->age_s < 3.0}}));
}

Result<Response> Site::Ask(const std::string& text) const {
  const auto query = store::Query::Parse(text, *library_);
  if (!query) return JsonResponse(Json::Object({{"error", query.error().message}}));
  const auto found = query->Run({.limit = kMostRows});
  if (!found) return JsonResponse(Json::Object({{"error", found.error().message}}));
  Json columns = Json::Array({"clip"}), rows = Json::Array(), clips = Json::Array();
  if (found->rows_are_events)
    columns.Push("event").Push("time_s").Push("length_s").Push("text").Push("stroke");
  for (const store::QueryColumn& column : found->columns) columns.Push(column.key);
  std::string last;
  for (const store::QueryRow& row : found->rows) {
    Json cells = Json::Array({row.clip_name});
    if (found->rows_are_events) {
      if (row.event) {
        cells.Push(row.event->kind).Push(report::Fixed(row.event->clip_time.seconds(), 3));
        cells.Push(report::Fixed(row.event->length.seconds(), 3)).Push(row.event->text);
        cells.Push(row.stroke == 0 ? Json() : Json(row.stroke));
      } else {
        for (int i = 0; i < 5; ++i) cells.Push(Json());
      }
    }
    for (const auto& value : row.values)
      cells.Push(value ? Json(report::Significant(*value, 5)) : Json());
    rows.Push(std::move(cells));
    if (row.clip_id != last) clips.Push(row.clip_id);
    last = row.clip_id;
  }
  return JsonResponse(Json::Object({{"columns", std::move(columns)},
                                    {"rows", std::move(rows)},
                                    {"clips", std::move(clips)},
                                    {"more", found->more}}));
}

Response Site::Live() const {
  const auto heard = live_ ? live_->Newest() : std::nullopt;
  std::string body;
  if (heard) {
    body = "{\"age_s\":" + report::Fixed(heard->age_s, 3) + ",\"live\":" + heard->json + "}";
  } else {
    body = "{\"age_s\":0,\"live\":null" +
           (live_note_.empty() ? "" : ",\"note\":" + text::QuoteJson(live_note_)) + "}";
  }
  return {200, "application/json", std::move(body)};
}

Result<Response> Site::Thumb(const std::string& id) {
  const pipeline::StepContext context{.library = *library_};
  HANDHOLD_ASSIGN(const pipeline::FoundClip clip, pipeline::FindClip(context, id));
  std::vector<std::string> chosen;
  const auto pose = pipeline::FindResult(context, "", "pose_track", clip, "fit pose", &chosen);
  const std::string key = clip.row.id + (pose ? pose->hash : "");
  if (const auto known = thumbs_.find(key); known != thumbs_.end()) return known->second;
  Result<Response> picture = pose ? HandPicture(*library_, *pose) : Result<Response>(pose.error());
  if (!picture) {
    HANDHOLD_ASSIGN(const auto reader, library_->OpenClip(clip.row.id));
    picture = MarkerPicture(*reader);
  }
  if (!picture) return picture.error();
  if (thumbs_.size() >= kMostThumbs) thumbs_.clear();
  return thumbs_[key] = *picture;
}

}  // namespace handhold::viewer
