#include "tools/report/scene.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "database/base/check.h"

namespace handhold::report {
namespace {

using geometry::Vec3;
using text::Json;

Json Triple(const Vec3& v) { return Json::Array({v.x(), v.y(), v.z()}); }

Json Quaternion(const geometry::Mat3& R) {
  const Eigen::Vector4d q = geometry::ToQuaternion(R);
  return Json::Array({q[0], q[1], q[2], q[3]});
}

void SetPose(const geometry::RigidTransform& X, Json* to) {
  if (!X.p.isZero(0.0)) to->Set("p", Triple(X.p));
  if (!X.R.isIdentity(0.0)) to->Set("q", Quaternion(X.R));
}

// One component after the other: neighbours in time are near, neighbours in space are not.
template <typename Vector>
Json Components(const std::vector<Vector>& list, double step) {
  Json out = Json::Array();
  std::vector<double> column(list.size());
  for (Eigen::Index c = 0; c < Vector::RowsAtCompileTime; ++c) {
    for (size_t i = 0; i < list.size(); ++i) column[i] = list[i][c];
    out.Push(CodedNumbers(column, step));
  }
  return out;
}

Json TimesToJson(const std::vector<double>& times, double step) {
  if (times.size() >= 2) {
    const double even = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
    bool is_even = true;
    for (size_t i = 0; i < times.size() && is_even; ++i)
      is_even = std::abs(times.front() + even * static_cast<double>(i) - times[i]) <= step;
    if (is_even)
      return Json::Object({{"begin_s", times.front()},
                           {"step_s", even},
                           {"n", static_cast<int64_t>(times.size())}});
  }
  return CodedNumbers(times, step);
}

Json MeshToJson(const geometry::Mesh& mesh) {
  std::vector<double> p, i;
  for (const Vec3& v : mesh.vertices)
    for (int c = 0; c < 3; ++c) p.push_back(v[c]);
  for (const auto& triangle : mesh.triangles)
    for (const uint32_t index : triangle) i.push_back(index);
  return Json::Object({{"p", CodedNumbers(p, 1e-5)}, {"i", CodedNumbers(i, 1.0)}});
}

/// The mesh of a shape that is one; null for the others.
const geometry::MeshTree* SurfaceOf(const geometry::Shape& shape) {
  if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape)) return hull->surface.get();
  if (const auto* mesh = std::get_if<geometry::TriangleMesh>(&shape)) return mesh->surface.get();
  return nullptr;
}

bool SameShape(const geometry::Shape& a, const geometry::Shape& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, geometry::Sphere>)
          return x.radius_m == y.radius_m;
        else if constexpr (std::is_same_v<T, geometry::Box>)
          return x.size_m == y.size_m;
        else if constexpr (std::is_same_v<T, geometry::Capsule> ||
                           std::is_same_v<T, geometry::Cylinder>)
          return x.radius_m == y.radius_m && x.length_m == y.length_m;
        else
          return x.surface == y.surface;
      },
      a);
}

Json ShapeToJson(const geometry::Shape& shape, int* meshes) {
  if (SurfaceOf(shape)) return Json::Object({{"kind", "mesh"}, {"mesh", (*meshes)++}});
  Json out = Json::Object({{"kind", geometry::ShapeKind(shape)}});
  if (const auto* sphere = std::get_if<geometry::Sphere>(&shape)) out.Set("r", sphere->radius_m);
  if (const auto* box = std::get_if<geometry::Box>(&shape)) out.Set("size", Triple(box->size_m));
  if (const auto* capsule = std::get_if<geometry::Capsule>(&shape))
    out.Set("r", capsule->radius_m).Set("l", capsule->length_m);
  if (const auto* cylinder = std::get_if<geometry::Cylinder>(&shape))
    out.Set("r", cylinder->radius_m).Set("l", cylinder->length_m);
  return out;
}

Json NodeToJson(const SceneNode& node, const SceneSteps& steps) {
  Json out = Json::Object({{"name", node.name}, {"parent", node.parent}, {"thing", node.thing}});
  SetPose(node.X_PN, &out);
  if (node.track.time >= 0) {
    Json track = Json::Object({{"time", node.track.time}});
    if (!node.track.p.empty()) track.Set("p", Components(node.track.p, steps.place_m));
    if (!node.track.q.empty()) track.Set("q", Components(node.track.q, steps.quaternion));
    out.Set("move", std::move(track));
  }
  if (!node.shapes.empty()) {
    Json shapes = Json::Array();
    for (const SceneShape& placed : node.shapes) {
      Json shape = Json::Object({{"shape", placed.shape}});
      SetPose(placed.X_NS, &shape);
      shapes.Push(std::move(shape));
    }
    out.Set("shapes", std::move(shapes));
  }
  return out;
}

Json ContactsToJson(const SceneContacts& contacts, const SceneSteps& steps) {
  const std::vector<double> frames(contacts.frame.begin(), contacts.frame.end());
  const std::vector<double> touch(contacts.touch.begin(), contacts.touch.end());
  return Json::Object({{"time", contacts.time},
                       {"frame", CodedNumbers(frames, 1.0)},
                       {"p", Components(contacts.p_W, steps.place_m)},
                       {"n", Components(contacts.normal_W, 1e-3)},
                       {"f", Components(contacts.f_onHand_W, steps.force_N)},
                       {"friction", CodedNumbers(contacts.friction, 1e-3)},
                       {"slip", CodedNumbers(contacts.slip_m_per_s, 1e-5)},
                       {"touch", CodedNumbers(touch, 1.0)},
                       {"touches", Json::Array(std::span<const std::string>(contacts.touches))}});
}

Json MotionToJson(const SceneMotion& motion, const SceneSteps& steps) {
  Json out = Json::Object({{"name", motion.name}, {"source", motion.source}});
  for (const auto& [key, value] :
       {std::pair{"hash", &motion.hash}, {"verdict", &motion.verdict}, {"note", &motion.note}})
    if (!value->empty()) out.Set(key, *value);
  Json things = Json::Array(), nodes = Json::Array();
  for (const SceneThing& thing : motion.things)
    things.Push(Json::Object({{"name", thing.name}, {"role", thing.role}}));
  for (const SceneNode& node : motion.nodes) nodes.Push(NodeToJson(node, steps));
  out.Set("things", std::move(things)).Set("nodes", std::move(nodes));
  if (motion.markers.time >= 0) {
    Json p = Json::Array();
    for (const auto& marker : motion.markers.p_WM) {
      const Json components = Components(marker, steps.marker_m);
      for (const Json& component : components.elements()) p.Push(component);
    }
    out.Set(
        "markers",
        Json::Object({{"time", motion.markers.time},
                      {"names", Json::Array(std::span<const std::string>(motion.markers.names))},
                      {"p", std::move(p)}}));
  }
  if (motion.contacts.time >= 0) out.Set("contacts", ContactsToJson(motion.contacts, steps));
  return out;
}

double StepOf(const SceneChannel& channel) {
  if (channel.step > 0.0) return channel.step;
  double low = 0.0, high = 0.0;
  bool any = false;
  for (const double y : channel.y) {
    if (!std::isfinite(y)) continue;
    low = any ? std::min(low, y) : y, high = any ? std::max(high, y) : y, any = true;
  }
  return high > low ? (high - low) * 1e-5 : 1e-9;
}

}  // namespace

Json CodedNumbers(const std::vector<double>& values, double step) {
  CHECK(step > 0.0);
  Json::Elements d;
  d.reserve(values.size());
  int64_t last = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      d.emplace_back();
      continue;
    }
    const auto steps = static_cast<int64_t>(std::llround(value / step));
    d.emplace_back(steps - last);
    last = steps;
  }
  Json list = Json::Array();
  for (Json& element : d) list.Push(std::move(element));
  return Json::Object({{"scale", step}, {"offset", 0}, {"d", std::move(list)}});
}

int Scene::AddTimes(const std::vector<double>& times) {
  for (size_t i = 0; i < times_s.size(); ++i)
    if (times_s[i] == times) return static_cast<int>(i);
  times_s.push_back(times);
  return static_cast<int>(times_s.size()) - 1;
}

int Scene::AddShape(const geometry::Shape& shape) {
  for (size_t i = 0; i < shapes.size(); ++i)
    if (SameShape(shapes[i], shape)) return static_cast<int>(i);
  shapes.push_back(shape);
  return static_cast<int>(shapes.size()) - 1;
}

std::array<double, 2> Scene::Extent() const {
  double begin = std::numeric_limits<double>::infinity(), end = -begin;
  for (const std::vector<double>& times : times_s) {
    if (times.empty()) continue;
    begin = std::min(begin, times.front()), end = std::max(end, times.back());
  }
  if (!(begin <= end)) return {0.0, 0.0};
  return {begin, end};
}

Status CheckScene(const Scene& scene) {
  const auto wrong = [](const std::string& where, const std::string& what) -> Status {
    return Error{ErrorCode::kInvalid, "scene: " + where + ": " + what};
  };
  const auto frames = [&](int time) {
    return time >= 0 && time < static_cast<int>(scene.times_s.size())
               ? scene.times_s[static_cast<size_t>(time)].size()
               : std::numeric_limits<size_t>::max();
  };
  for (const SceneMotion& motion : scene.motions) {
    const auto things = static_cast<int>(motion.things.size());
    for (size_t i = 0; i < motion.nodes.size(); ++i) {
      const SceneNode& node = motion.nodes[i];
      const std::string where = motion.name + "/" + node.name;
      if (node.parent < -1 || node.parent >= static_cast<int>(i))
        return wrong(where, "its parent does not come before it");
      if (node.thing < 0 || node.thing >= things) return wrong(where, "no such thing");
      if (node.track.time >= 0) {
        const size_t n = frames(node.track.time);
        if ((!node.track.p.empty() && node.track.p.size() != n) ||
            (!node.track.q.empty() && node.track.q.size() != n))
          return wrong(where, "its track has another length than its times");
        for (const Eigen::Vector4d& q : node.track.q)
          if (!(std::abs(q.squaredNorm() - 1.0) < 1e-6)) return wrong(where, "no unit quaternion");
      }
      for (const SceneShape& shape : node.shapes)
        if (shape.shape < 0 || shape.shape >= static_cast<int>(scene.shapes.size()))
          return wrong(where, "no such shape");
    }
    if (motion.markers.time >= 0) {
      if (motion.markers.names.size() != motion.markers.p_WM.size())
        return wrong(motion.name, "as many markers as names");
      for (const auto& marker : motion.markers.p_WM)
        if (marker.size() != frames(motion.markers.time))
          return wrong(motion.name, "a marker has another length than its times");
    }
    const SceneContacts& c = motion.contacts;
    if (c.time >= 0) {
      const size_t rows = c.frame.size();
      for (const size_t size : {c.touch.size(), c.p_W.size(), c.normal_W.size(),
                                c.f_onHand_W.size(), c.friction.size(), c.slip_m_per_s.size()})
        if (size != rows) return wrong(motion.name, "contact columns differ in length");
      if (!std::is_sorted(c.frame.begin(), c.frame.end()))
        return wrong(motion.name, "contact rows are not by frame");
      for (size_t i = 0; i < rows; ++i) {
        if (c.frame[i] < 0 || static_cast<size_t>(c.frame[i]) >= frames(c.time))
          return wrong(motion.name, "a contact of no frame");
        if (c.touch[i] < 0 || static_cast<size_t>(c.touch[i]) >= c.touches.size())
          return wrong(motion.name, "a contact of no touch");
      }
    }
  }
  for (const SceneChannel& channel : scene.channels) {
    if (channel.y.size() != frames(channel.time) ||
        (!channel.sd.empty() && channel.sd.size() != channel.y.size()))
      return wrong(channel.name, "another length than its times");
    if (channel.motion < -1 || channel.motion >= static_cast<int>(scene.motions.size()))
      return wrong(channel.name, "no such motion");
  }
  for (const auto& plot : scene.plots)
    for (const int channel : plot)
      if (channel < 0 || channel >= static_cast<int>(scene.channels.size()))
        return wrong("plots", "no such channel");
  return {};
}

Json SceneToJson(const Scene& scene, const SceneSteps& steps) {
  const auto [begin, end] = scene.Extent();
  Json out = Json::Object({{"format", "handhold.scene"},
                           {"version", 1},
                           {"title", scene.title},
                           {"subtitle", scene.subtitle}});
  Json facts = Json::Array(), times = Json::Array(), shapes = Json::Array(), meshes = Json::Array();
  Json motions = Json::Array(), channels = Json::Array(), events = Json::Array();
  for (const auto& [key, value] : scene.facts) facts.Push(Json::Array({key, value}));
  for (const std::vector<double>& t : scene.times_s) times.Push(TimesToJson(t, steps.time_s));
  int mesh = 0;
  for (const geometry::Shape& shape : scene.shapes) {
    shapes.Push(ShapeToJson(shape, &mesh));
    if (const geometry::MeshTree* surface = SurfaceOf(shape))
      meshes.Push(MeshToJson(surface->mesh()));
  }
  for (const SceneMotion& motion : scene.motions) motions.Push(MotionToJson(motion, steps));
  for (const SceneChannel& channel : scene.channels) {
    const double step = StepOf(channel);
    Json one = Json::Object({{"name", channel.name},
                             {"group", channel.group},
                             {"unit", channel.unit},
                             {"motion", channel.motion},
                             {"time", channel.time},
                             {"y", CodedNumbers(channel.y, step)}});
    if (!channel.sd.empty()) one.Set("sd", CodedNumbers(channel.sd, step));
    if (!channel.parts.empty())
      one.Set("parts", Json::Array(std::span<const std::string>(channel.parts)));
    channels.Push(std::move(one));
  }
  for (const SceneEvent& event : scene.events) {
    Json one = Json::Object({{"kind", event.kind},
                             {"begin_s", event.begin_s},
                             {"end_s", event.end_s},
                             {"label", event.label}});
    if (!event.lane.empty()) one.Set("lane", event.lane);
    events.Push(std::move(one));
  }
  Json plots = Json::Array();
  for (const std::vector<int>& plot : scene.plots) {
    Json list = Json::Array();
    for (const int channel : plot) list.Push(channel);
    plots.Push(std::move(list));
  }
  out.Set("facts", std::move(facts)).Set("begin_s", begin).Set("end_s", end);
  out.Set("times", std::move(times)).Set("shapes", std::move(shapes));
  out.Set("meshes", std::move(meshes)).Set("motions", std::move(motions));
  out.Set("channels", std::move(channels)).Set("events", std::move(events));
  out.Set("plots", std::move(plots));
  if (scene.beside) out.Set("beside", true);
  if (scene.open_s) out.Set("open_s", *scene.open_s);
  return out;
}

}  // namespace handhold::report
