#include "tools/viewer/hand_page.h"

#include "database/geometry/rotation.h"
#include "tools/report/page.h"
#include "tools/report/scene.h"
#include "tools/report/scene_fill.h"

namespace handhold::viewer {
namespace {

using geometry::Vec3;
using text::Json;

/// One frame, at time 0 of a scene of its own.
report::Scene SceneOf(const HandMoment& moment, const std::string& title) {
  report::Scene scene;
  scene.title = title;
  const int time = scene.AddTimes({0.0});
  report::SceneMotion& motion = scene.motions.emplace_back();
  motion.name = title;
  motion.source = "synthesised";
  const int first[] = {0};
  report::AddHand("hand", moment.hand, moment.q, first, time, &scene, &motion);
  for (const HandMoment::Thing& thing : moment.things)
    report::AddProp(thing.prop->name, "prop", *thing.prop, {thing.X_WP}, time, &scene, &motion);
  return scene;
}

Json Place(const Vec3& p, const Eigen::Vector4d& q) {
  Json list = Json::Array();
  for (int i = 0; i < 3; ++i) list.Push(p[i]);
  for (int i = 0; i < 4; ++i) list.Push(q[i]);
  return list;
}

/// Of every node in its parent: a scene of one frame holds all as fixed places.
Json PlacesOf(const report::SceneMotion& motion) {
  Json places = Json::Array();
  for (const report::SceneNode& node : motion.nodes)
    places.Push(Place(node.X_PN.p, geometry::ToQuaternion(node.X_PN.R)));
  return places;
}

Json ContactsOf(const HandMoment& moment) {
  std::vector<double> frame(moment.contacts.size(), 0.0);
  std::array<std::vector<double>, 9> columns;
  for (const HandMoment::Contact& c : moment.contacts) {
    for (size_t i = 0; i < 3; ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      columns[i].push_back(c.p_W[k]);
      columns[3 + i].push_back(c.normal_W[k]);
      columns[6 + i].push_back(c.f_onHand_W[k]);
    }
  }
  const auto three = [&](size_t begin, double step) {
    Json list = Json::Array();
    for (size_t i = 0; i < 3; ++i) list.Push(report::CodedNumbers(columns[begin + i], step));
    return list;
  };
  const report::SceneSteps steps;
  return Json::Object({{"time", 0},
                       {"frame", report::CodedNumbers(frame, 1.0)},
                       {"p", three(0, steps.place_m)},
                       {"n", three(3, 1e-3)},
                       {"f", three(6, steps.force_N)},
                       {"touches", Json::Array()}});
}

}  // namespace

Result<std::unique_ptr<HandPage>> HandPage::Serve(uint16_t port, const std::string& title) {
  std::unique_ptr<HandPage> page(new HandPage());
  page->title_ = title;
  ServerOptions options;
  options.address = capture::wire::Address::Loopback(port);
  HandPage* const self = page.get();
  HANDHOLD_ASSIGN(page->server_, Server::Start(options, [self]() -> Result<Handler> {
                    return Handler([self](const Request& r) { return self->Answer(r); });
                  }));
  return page;
}

Status HandPage::Show(const HandMoment& moment) {
  const report::Scene scene = SceneOf(moment, title_);
  Json words = Json::Array();
  for (const auto& [name, value] : moment.words) words.Push(Json::Array({name, value}));
  const Json frame = Json::Object({{"number", number_},
                                   {"time_s", moment.time_s},
                                   {"words", std::move(words)},
                                   {"places", PlacesOf(scene.motions[0])},
                                   {"contacts", ContactsOf(moment)}});
  HANDHOLD_ASSIGN(std::string text, text::WriteJson(frame));
  std::string whole;
  if (number_ == 0) {
    HANDHOLD_TRY(report::CheckScene(scene));
    HANDHOLD_ASSIGN(whole, text::WriteJson(report::SceneToJson(scene)));
  }
  const std::lock_guard lock(mutex_);
  frame_ = std::move(text);
  if (number_++ == 0) scene_ = std::move(whole);
  return {};
}

Response HandPage::Answer(const Request& request) const {
  if (request.path == "/") {
    const auto page = report::PageWith(Json::Object({{"page", "hand"}}));
    if (!page) return {500, "text/plain; charset=utf-8", page.error().message + "\n"};
    return {200, "text/html; charset=utf-8", *page};
  }
  const std::lock_guard lock(mutex_);
  if (request.path == "/api/scene") return {200, "application/json", scene_};
  if (request.path == "/api/frame") return {200, "application/json", frame_};
  return {404, "text/plain; charset=utf-8", "there is no " + request.path + " here\n"};
}

}  // namespace handhold::viewer
