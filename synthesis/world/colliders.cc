#include "synthesis/world/engine.h"

namespace handhold::synthesis::internal {
namespace {

dGeomID MakeTriMesh(const geometry::MeshTree& tree, dSpaceID space, ColliderData* collider) {
  const geometry::Mesh& mesh = tree.mesh();
  for (const geometry::Vec3& v : mesh.vertices)
    collider->vertices.insert(collider->vertices.end(), {v.x(), v.y(), v.z()});
  for (const auto& t : mesh.triangles)
    collider->indices.insert(collider->indices.end(), {t[0], t[1], t[2]});
  collider->mesh = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(collider->mesh, collider->vertices.data(), 3 * sizeof(double),
                              static_cast<int>(mesh.vertices.size()), collider->indices.data(),
                              static_cast<int>(collider->indices.size()), 3 * sizeof(dTriIndex));
  return dCreateTriMesh(space, collider->mesh, nullptr, nullptr, nullptr);
}

}  // namespace

Status MakeGeom(const ColliderSpec& spec, const BodyData& body, dSpaceID space,
                ColliderData* collider) {
  if (Status ok = geometry::CheckShape(spec.shape); !ok)
    return ok.error().Within("collider " + spec.name);
  HANDHOLD_TRY(CheckPose(spec.X_BS, "collider " + spec.name));
  bool mesh = false;
  if (const auto* s = std::get_if<geometry::Sphere>(&spec.shape)) {
    collider->geom = dCreateSphere(space, s->radius_m);
  } else if (const auto* c = std::get_if<geometry::Capsule>(&spec.shape)) {
    collider->geom = c->length_m > 0 ? dCreateCapsule(space, c->radius_m, c->length_m)
                                     : dCreateSphere(space, c->radius_m);
  } else if (const auto* b = std::get_if<geometry::Box>(&spec.shape)) {
    collider->geom = dCreateBox(space, b->size_m.x(), b->size_m.y(), b->size_m.z());
  } else if (const auto* y = std::get_if<geometry::Cylinder>(&spec.shape)) {
    collider->geom = dCreateCylinder(space, y->radius_m, y->length_m);
  } else if (const auto* h = std::get_if<geometry::ConvexHull>(&spec.shape)) {
    collider->geom = MakeTriMesh(*h->surface, space, collider), mesh = true;
  } else if (const auto* t = std::get_if<geometry::TriangleMesh>(&spec.shape)) {
    collider->geom = MakeTriMesh(*t->surface, space, collider), mesh = true;
  }
  collider->mask = spec.mask;
  collider->max_contacts = spec.max_contacts > 0 ? spec.max_contacts : mesh ? 1 : 8;
  const OdeMatrix R(spec.X_BS.R);
  if (body.id == nullptr) {
    dGeomSetPosition(collider->geom, spec.X_BS.p.x(), spec.X_BS.p.y(), spec.X_BS.p.z());
    dGeomSetRotation(collider->geom, R.m);
  } else {
    dGeomSetBody(collider->geom, body.id);
    const geometry::Vec3 p = spec.X_BS.p - body.p_BCom;  // ODE's body frame starts at the centre of
                                                         // mass
    dGeomSetOffsetPosition(collider->geom, p.x(), p.y(), p.z());
    dGeomSetOffsetRotation(collider->geom, R.m);
  }
  return {};
}

}  // namespace handhold::synthesis::internal
