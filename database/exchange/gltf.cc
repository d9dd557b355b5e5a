#include "database/exchange/gltf.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>

#include "database/base/check.h"

namespace handhold::exchange {
namespace {

using geometry::Mesh;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

static_assert(std::endian::native == std::endian::little, "glTF's buffers are little-endian");

// Numbers of the specification (section 5.1, 5.11).
constexpr int kFloat = 5126, kUnsignedInt = 5125, kUnsignedShort = 5123, kArrayBuffer = 34962,
              kElementBuffer = 34963;

template <typename T>
constexpr int kComponent = std::is_same_v<T, float>           ? kFloat
                           : std::is_same_v<T, std::uint16_t> ? kUnsignedShort
                                                              : kUnsignedInt;

/// A surface of revolution about Z: rings of (radius, z) from the lower pole to the upper one; a
/// radius of 0 is a pole.
Mesh Revolve(const std::vector<std::array<double, 2>>& rings, int segments) {
  Mesh mesh;
  std::vector<std::vector<uint32_t>> index;
  for (const auto& [radius, z] : rings) {
    std::vector<uint32_t> ring;
    const int count = radius > 0.0 ? segments : 1;
    for (int s = 0; s < count; ++s) {
      const double a = 2.0 * M_PI * s / segments;
      ring.push_back(static_cast<uint32_t>(mesh.vertices.size()));
      mesh.vertices.emplace_back(radius * std::cos(a), radius * std::sin(a), z);
    }
    index.push_back(std::move(ring));
  }
  const auto at = [&](size_t ring, int s) {
    const std::vector<uint32_t>& list = index[ring];
    return list.size() == 1 ? list[0] : list[static_cast<size_t>(s % segments)];
  };
  for (size_t r = 0; r + 1 < index.size(); ++r) {
    for (int s = 0; s < segments; ++s) {
      const uint32_t a = at(r, s), b = at(r, s + 1), c = at(r + 1, s), d = at(r + 1, s + 1);
      if (a != b) mesh.triangles.push_back({a, b, d});
      if (c != d) mesh.triangles.push_back({a, d, c});
    }
  }
  return mesh;
}

Mesh BoxMesh(const Vec3& size) {
  Mesh mesh;
  for (int face = 0; face < 6; ++face) {
    const int axis = face / 2;
    const double side = face % 2 == 0 ? 1.0 : -1.0;
    Vec3 n = Vec3::Zero(), u = Vec3::Zero(), v = Vec3::Zero();
    n[axis] = side, u[(axis + 1) % 3] = 1.0, v[(axis + 2) % 3] = side;
    const auto base = static_cast<uint32_t>(mesh.vertices.size());
    for (const auto& [s, t] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
      mesh.vertices.push_back(0.5 * size.cwiseProduct(n + s * u + t * v));
    mesh.triangles.push_back({base, base + 1, base + 2});
    mesh.triangles.push_back({base, base + 2, base + 3});
  }
  return mesh;
}

/// Rings of a sphere's lower or upper half, radius 0 at the pole, from the bottom up.
void AddCap(double r, double z, bool upper, int steps, std::vector<std::array<double, 2>>* rings) {
  for (int i = 0; i <= steps; ++i) {
    const double a = 0.5 * M_PI * (upper ? i : i - steps) / steps;
    const bool pole = upper ? i == steps : i == 0;
    rings->push_back({pole ? 0.0 : r * std::cos(a), z + r * std::sin(a)});
  }
}

/// Flat faces stay flat and round ones become round: a vertex of a mesh takes the mean normal of
/// its triangles that turn by less than 40 degrees.
struct Faces {
  std::vector<float> position, normal;
  std::vector<uint32_t> index;
};

Faces WithNormals(const Mesh& mesh) {
  std::vector<std::vector<uint32_t>> around(mesh.vertices.size());
  std::vector<Vec3> normals;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = mesh.triangles[t];
    normals.push_back(
        (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]));  // by
                                                                                            // area
    for (const uint32_t v : mesh.triangles[t]) around[v].push_back(static_cast<uint32_t>(t));
  }
  Faces faces;
  std::map<std::array<float, 6>, uint32_t> known;
  for (size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 own = normals[t].normalized();
    if (!own.allFinite() || normals[t].norm() < 1e-18) continue;  // no area: nothing to see
    for (const uint32_t v : mesh.triangles[t]) {
      Vec3 sum = Vec3::Zero();
      for (const uint32_t other : around[v])
        if (normals[other].normalized().dot(own) > 0.77) sum += normals[other];
      const Vec3 n = sum.norm() > 0.0 ? sum.normalized() : own;
      std::array<float, 6> key;
      for (int c = 0; c < 3; ++c) {
        key[static_cast<size_t>(c)] = static_cast<float>(mesh.vertices[v][c]);
        key[static_cast<size_t>(c) + 3] = static_cast<float>(n[c]);
      }
      const auto [it, fresh] = known.emplace(key, static_cast<uint32_t>(faces.position.size() / 3));
      if (fresh) {
        faces.position.insert(faces.position.end(), key.begin(), key.begin() + 3);
        faces.normal.insert(faces.normal.end(), key.begin() + 3, key.end());
      }
      faces.index.push_back(it->second);
    }
  }
  return faces;
}

class Writer {
 public:
  explicit Writer(const GltfFile& file) : file_(file) {}

  Result<std::string> Write() {
    for (const GltfMaterial& material : file_.materials) AddMaterial(material);
    if (!file_.times_s.empty()) {
      std::vector<float> times(file_.times_s.begin(), file_.times_s.end());
      times_ = Accessor(times, 1, "SCALAR", 0, true);
    }
    // Ours is Z up: one node turns all of it.
    const double half = std::sqrt(0.5);
    Json root = Json::Object(
        {{"name", "Z up to Y up"}, {"rotation", Json::Array({-half, 0.0, 0.0, half})}});
    Json roots = Json::Array();
    std::vector<Json> children(file_.nodes.size(), Json::Array());
    for (size_t i = 0; i < file_.nodes.size(); ++i) {
      const int parent = file_.nodes[i].parent;
      if (parent < -1 || parent >= static_cast<int>(i))
        return Wrong(file_.nodes[i], "its parent does not come before it");
      (parent < 0 ? roots : children[static_cast<size_t>(parent)])
          .Push(static_cast<int64_t>(i) + 1);
    }
    if (!roots.elements().empty()) root.Set("children", roots);
    nodes_.Push(std::move(root));
    std::vector<Json> made;
    for (size_t i = 0; i < file_.nodes.size(); ++i) {
      HANDHOLD_ASSIGN(Json node, Node(file_.nodes[i], static_cast<int64_t>(i) + 1));
      if (!children[i].elements().empty()) node.Set("children", children[i]);
      made.push_back(std::move(node));
    }
    for (Json& node : made) nodes_.Push(std::move(node));
    for (const GltfSkin& skin : file_.skins) HANDHOLD_TRY(Skin(skin));
    return Join();
  }

 private:
  static Error Wrong(const GltfNode& node, const std::string& what) {
    return Error{ErrorCode::kInvalid, "glTF: node '" + node.name + "': " + what};
  }

  void AddMaterial(const GltfMaterial& material) {
    Json m = Json::Object(
        {{"name", material.name},
         {"pbrMetallicRoughness",
          Json::Object({{"baseColorFactor", Json::Array(std::span<const double>(material.rgba))},
                        {"metallicFactor", 0.0},
                        {"roughnessFactor", material.roughness}})}});
    if (material.rgba[3] < 1.0) m.Set("alphaMode", "BLEND");
    materials_.Push(std::move(m));
  }

  /// A view of the buffer and the accessor of all of it.
  template <typename T>
  int64_t Accessor(const std::vector<T>& values, size_t width, const char* type, int target,
                   bool bounds, bool normalized = false) {
    const size_t offset = buffer_.size(), bytes = values.size() * sizeof(T);
    buffer_.append(reinterpret_cast<const char*>(values.data()), bytes);
    while (buffer_.size() % 4 != 0) buffer_ += '\0';
    Json view = Json::Object({{"buffer", 0}, {"byteOffset", offset}, {"byteLength", bytes}});
    if (target != 0) view.Set("target", target);
    views_.Push(std::move(view));
    Json accessor =
        Json::Object({{"bufferView", static_cast<int64_t>(views_.elements().size()) - 1},
                      {"componentType", kComponent<T>},
                      {"count", values.size() / width},
                      {"type", type}});
    if (normalized) accessor.Set("normalized", true);
    if (bounds) {
      Json min = Json::Array(), max = Json::Array();
      for (size_t c = 0; c < width; ++c) {
        T low = values[c], high = values[c];
        for (size_t i = c; i < values.size(); i += width)
          low = std::min(low, values[i]), high = std::max(high, values[i]);
        min.Push(static_cast<double>(low)), max.Push(static_cast<double>(high));
      }
      accessor.Set("min", std::move(min)).Set("max", std::move(max));
    }
    accessors_.Push(std::move(accessor));
    return static_cast<int64_t>(accessors_.elements().size()) - 1;
  }

  /// One mesh of a node: a primitive for each material.
  Result<int64_t> MeshOf(const GltfNode& node) {
    std::map<int, Mesh> by_material;
    for (const GltfShape& placed : node.shapes) {
      if (placed.material < 0 || placed.material >= static_cast<int>(file_.materials.size()))
        return Wrong(node, "no such material");
      HANDHOLD_TRY(geometry::CheckShape(placed.shape));
      Mesh& all = by_material[placed.material];
      const Mesh one = Triangulate(placed.shape);
      const auto base = static_cast<uint32_t>(all.vertices.size());
      for (const Vec3& v : one.vertices) all.vertices.push_back(placed.X_NS * v);
      for (auto triangle : one.triangles) {
        for (uint32_t& v : triangle) v += base;
        all.triangles.push_back(triangle);
      }
    }
    Json primitives = Json::Array();
    for (const auto& [material, mesh] : by_material) {
      const Faces faces = WithNormals(mesh);
      if (faces.index.empty()) continue;
      const int64_t position = Accessor(faces.position, 3, "VEC3", kArrayBuffer, true);
      const int64_t normal = Accessor(faces.normal, 3, "VEC3", kArrayBuffer, false);
      const int64_t index = Accessor(faces.index, 1, "SCALAR", kElementBuffer, false);
      primitives.Push(
          Json::Object({{"attributes", Json::Object({{"POSITION", position}, {"NORMAL", normal}})},
                        {"indices", index},
                        {"material", material}}));
    }
    if (primitives.elements().empty()) return int64_t{-1};
    meshes_.Push(Json::Object({{"name", node.name}, {"primitives", std::move(primitives)}}));
    return static_cast<int64_t>(meshes_.elements().size()) - 1;
  }

  Result<Json> Node(const GltfNode& node, int64_t index) {
    const size_t frames = file_.times_s.size();
    if ((!node.moves.empty() && node.moves.size() != frames) ||
        (!node.scales.empty() && node.scales.size() != frames))
      return Wrong(node, "moves in another number of frames than there are");
    Json out = Json::Object({{"name", node.name}});
    const RigidTransform& rest = node.moves.empty() ? node.X_PN : node.moves.front();
    if (!rest.p.allFinite() || !rest.R.allFinite()) return Wrong(node, "its pose is not finite");
    const Eigen::Vector4d q = geometry::ToQuaternion(rest.R);
    out.Set("translation", Json::Array({rest.p.x(), rest.p.y(), rest.p.z()}));
    out.Set("rotation", Json::Array({q[1], q[2], q[3], q[0]}));
    if (!node.shapes.empty()) {
      HANDHOLD_ASSIGN(const int64_t mesh, MeshOf(node));
      if (mesh >= 0) out.Set("mesh", mesh);
    }
    if (!node.extras.is_null()) out.Set("extras", node.extras);
    HANDHOLD_TRY(Animate(node, index));
    return out;
  }

  Status Animate(const GltfNode& node, int64_t index) {
    std::vector<float> p, q, s;
    bool moves = false, turns = false;
    Eigen::Vector4d last(1, 0, 0, 0);
    for (const RigidTransform& X : node.moves) {
      if (!X.p.allFinite() || !X.R.allFinite()) return Wrong(node, "a pose is not finite");
      moves |= X.p != node.moves.front().p;
      turns |= X.R != node.moves.front().R;
      Eigen::Vector4d w = geometry::ToQuaternion(X.R);
      if (w.dot(last) < 0.0) w = -w;  // viewers that do not look go the shorter way, too
      last = w;
      for (int c = 0; c < 3; ++c) p.push_back(static_cast<float>(X.p[c]));
      for (const int c : {1, 2, 3, 0}) q.push_back(static_cast<float>(w[c]));
    }
    for (const Vec3& scale : node.scales) {
      if (!scale.allFinite()) return Wrong(node, "a size is not finite");
      for (int c = 0; c < 3; ++c) s.push_back(static_cast<float>(scale[c]));
    }
    if (moves) Channel(index, "translation", p, 3, "VEC3", node.steps);
    if (turns) Channel(index, "rotation", q, 4, "VEC4", node.steps);
    if (!s.empty()) Channel(index, "scale", s, 3, "VEC3", node.steps);
    return {};
  }

  void Channel(int64_t node, const char* path, const std::vector<float>& values, size_t width,
               const char* type, bool steps) {
    const int64_t output = Accessor(values, width, type, 0, false);
    samplers_.Push(Json::Object(
        {{"input", times_}, {"output", output}, {"interpolation", steps ? "STEP" : "LINEAR"}}));
    channels_.Push(Json::Object({{"sampler", static_cast<int64_t>(samplers_.elements().size()) - 1},
                                 {"target", Json::Object({{"node", node}, {"path", path}})}}));
  }

  static Error WrongSkin(const GltfSkin& skin, const std::string& what) {
    return Error{ErrorCode::kInvalid, "glTF: skin '" + skin.name + "': " + what};
  }

  Status CheckSkin(const GltfSkin& skin) const {
    const auto nodes = static_cast<int>(file_.nodes.size());
    const size_t vertices = skin.p_M.size();
    if (skin.joints.empty() || skin.joints.size() != skin.X_MJ.size() ||
        skin.normal_M.size() != vertices || skin.joint.size() != vertices ||
        skin.weight.size() != vertices || skin.root < 0 || skin.root >= nodes)
      return WrongSkin(skin, "its parts do not fit together");
    for (const int node : skin.joints)
      if (node < 0 || node >= nodes) return WrongSkin(skin, "no such joint");
    for (size_t v = 0; v < vertices; ++v) {
      int sum = 0;
      for (size_t k = 0; k < 4; ++k) {
        if (skin.joint[v][k] >= skin.joints.size()) return WrongSkin(skin, "no such joint");
        sum += skin.weight[v][k];
      }
      if (sum != 65535) return WrongSkin(skin, "the weights of a vertex do not make a whole");
      if (!skin.p_M[v].allFinite() || !skin.normal_M[v].allFinite())
        return WrongSkin(skin, "a vertex is not finite");
    }
    for (const GltfSkin::Part& part : skin.parts) {
      if (part.material < 0 || part.material >= static_cast<int>(file_.materials.size()))
        return WrongSkin(skin, "no such material");
      for (const auto& triangle : part.triangles)
        for (const uint32_t v : triangle)
          if (v >= vertices) return WrongSkin(skin, "no such vertex");
    }
    return {};
  }

  /// A skinned mesh stands at the scene's top, as its own place plays no part (section 3.7.3.3).
  Status Skin(const GltfSkin& skin) {
    HANDHOLD_TRY(CheckSkin(skin));
    std::vector<float> position, normal, inverse;
    std::vector<std::uint16_t> joint, weight;
    for (size_t v = 0; v < skin.p_M.size(); ++v) {
      for (int c = 0; c < 3; ++c) {
        position.push_back(static_cast<float>(skin.p_M[v][c]));
        normal.push_back(static_cast<float>(skin.normal_M[v][c]));
      }
      joint.insert(joint.end(), skin.joint[v].begin(), skin.joint[v].end());
      weight.insert(weight.end(), skin.weight[v].begin(), skin.weight[v].end());
    }
    for (const RigidTransform& X_MJ : skin.X_MJ) {
      const RigidTransform X_JM = X_MJ.Inverse();
      for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) inverse.push_back(static_cast<float>(X_JM.R(r, c)));
        inverse.push_back(0.0F);
      }
      for (int r = 0; r < 3; ++r) inverse.push_back(static_cast<float>(X_JM.p[r]));
      inverse.push_back(1.0F);
    }
    const Json attributes =
        Json::Object({{"POSITION", Accessor(position, 3, "VEC3", kArrayBuffer, true)},
                      {"NORMAL", Accessor(normal, 3, "VEC3", kArrayBuffer, false)},
                      {"JOINTS_0", Accessor(joint, 4, "VEC4", kArrayBuffer, false)},
                      {"WEIGHTS_0", Accessor(weight, 4, "VEC4", kArrayBuffer, false, true)}});
    Json primitives = Json::Array();
    for (const GltfSkin::Part& part : skin.parts) {
      std::vector<uint32_t> index;
      for (const auto& triangle : part.triangles)
        index.insert(index.end(), triangle.begin(), triangle.end());
      if (index.empty()) continue;
      primitives.Push(
          Json::Object({{"attributes", attributes},
                        {"indices", Accessor(index, 1, "SCALAR", kElementBuffer, false)},
                        {"material", part.material}}));
    }
    if (primitives.elements().empty()) return WrongSkin(skin, "it has no triangle");
    Json joints = Json::Array();
    for (const int node : skin.joints) joints.Push(static_cast<int64_t>(node) + 1);
    skins_.Push(Json::Object({{"name", skin.name},
                              {"inverseBindMatrices", Accessor(inverse, 16, "MAT4", 0, false)},
                              {"skeleton", static_cast<int64_t>(skin.root) + 1},
                              {"joints", std::move(joints)}}));
    meshes_.Push(Json::Object({{"name", skin.name}, {"primitives", std::move(primitives)}}));
    top_.Push(static_cast<int64_t>(nodes_.elements().size()));
    nodes_.Push(Json::Object({{"name", skin.name},
                              {"mesh", static_cast<int64_t>(meshes_.elements().size()) - 1},
                              {"skin", static_cast<int64_t>(skins_.elements().size()) - 1}}));
    return {};
  }

  Result<std::string> Join() {
    Json scene = Json::Object({{"name", file_.scene_name}, {"nodes", std::move(top_)}});
    if (!file_.extras.is_null()) scene.Set("extras", file_.extras);
    Json out =
        Json::Object({{"asset", Json::Object({{"version", "2.0"}, {"generator", file_.generator}})},
                      {"scene", 0},
                      {"scenes", Json::Array({std::move(scene)})},
                      {"nodes", std::move(nodes_)}});
    const auto set = [&](const char* name, Json& list) {
      if (!list.elements().empty()) out.Set(name, std::move(list));
    };
    if (!channels_.elements().empty()) {
      out.Set("animations", Json::Array({Json::Object({{"name", "motion"},
                                                       {"channels", std::move(channels_)},
                                                       {"samplers", std::move(samplers_)}})}));
    }
    set("materials", materials_), set("meshes", meshes_), set("skins", skins_);
    set("accessors", accessors_);
    set("bufferViews", views_);
    if (!buffer_.empty())
      out.Set("buffers", Json::Array({Json::Object({{"byteLength", buffer_.size()}})}));
    HANDHOLD_ASSIGN(std::string json, text::WriteJson(out));
    while (json.size() % 4 != 0) json += ' ';
    // Section 4.4: a header of three words, then chunks of length, type and bytes.
    std::string glb;
    const auto word = [&glb](size_t value) {
      const auto v = static_cast<uint32_t>(value);
      glb.append(reinterpret_cast<const char*>(&v), 4);
    };
    const size_t binary = buffer_.empty() ? 0 : 8 + buffer_.size();
    word(0x46546C67), word(2), word(12 + 8 + json.size() + binary);
    word(json.size()), word(0x4E4F534A);
    glb += json;
    if (!buffer_.empty()) {
      word(buffer_.size()), word(0x004E4942);
      glb += buffer_;
    }
    return glb;
  }

  const GltfFile& file_;
  std::string buffer_;
  int64_t times_ = -1;
  Json nodes_ = Json::Array(), meshes_ = Json::Array(), materials_ = Json::Array();
  Json accessors_ = Json::Array(), views_ = Json::Array();
  Json samplers_ = Json::Array(), channels_ = Json::Array();
  Json skins_ = Json::Array(), top_ = Json::Array({0});  ///< top_: nodes of the scene
};

}  // namespace

Mesh Triangulate(const geometry::Shape& shape, int segments) {
  const int steps = std::max(2, segments / 4);
  std::vector<std::array<double, 2>> rings;
  if (const auto* box = std::get_if<geometry::Box>(&shape)) return BoxMesh(box->size_m);
  if (const auto* sphere = std::get_if<geometry::Sphere>(&shape)) {
    AddCap(sphere->radius_m, 0.0, false, steps, &rings);
    rings.pop_back();
    AddCap(sphere->radius_m, 0.0, true, steps, &rings);
    return Revolve(rings, segments);
  }
  if (const auto* capsule = std::get_if<geometry::Capsule>(&shape)) {
    AddCap(capsule->radius_m, -0.5 * capsule->length_m, false, steps, &rings);
    if (capsule->length_m == 0.0) rings.pop_back();
    AddCap(capsule->radius_m, 0.5 * capsule->length_m, true, steps, &rings);
    return Revolve(rings, segments);
  }
  if (const auto* cylinder = std::get_if<geometry::Cylinder>(&shape)) {
    const double r = cylinder->radius_m, z = 0.5 * cylinder->length_m;
    return Revolve({{0, -z}, {r, -z}, {r, z}, {0, z}}, segments);
  }
  if (const auto* hull = std::get_if<geometry::ConvexHull>(&shape)) return hull->surface->mesh();
  return std::get<geometry::TriangleMesh>(shape).surface->mesh();
}

Result<std::string> WriteGlb(const GltfFile& file) {
  for (size_t i = 0; i < file.times_s.size(); ++i) {
    if (!std::isfinite(file.times_s[i]) || file.times_s[i] < 0.0 ||
        (i > 0 && !(file.times_s[i] > file.times_s[i - 1])))
      return Error{ErrorCode::kInvalid, "glTF: times must ascend from 0"};
  }
  return Writer(file).Write();
}

}  // namespace handhold::exchange
