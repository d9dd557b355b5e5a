/// Finds contacts between posed shapes: a broad phase, then culling, then nearest points of every
/// pair closer than a margin.
///
/// Geometry only (database/geometry), never an engine's contacts: a replay must not share its
/// collider with the truth it is checked against. Order and features are the same from step to
/// step. Pinned by tests/synthesis/contact/contact_finder_test.cc (brute force on the props beside
/// it); speed: `contact.find` in tests/bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "database/base/result.h"
#include "database/geometry/distance.h"
#include "database/geometry/shape.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/contact/contact_set.h"

namespace handhold::synthesis {

/// A shape on a side. Shapes of one side are a union: a nearest point that lies inside another
/// shape of the same free or fixed thing is on no surface and makes no contact (unless that would
/// leave a penetrating pair of sides without any: then the shallowest stays).
struct Collider {
  ContactSide side;
  geometry::Shape shape;
  geometry::RigidTransform X_BS = {};
  std::optional<SurfaceLaw> law = std::nullopt;
  std::uint32_t group = 1;    ///< which masks it belongs to
  std::uint32_t meets = ~0u;  ///< two meet when each one's group is in the other's `meets`
  int max_points = 0;         ///< per pair; 0: 1 with a sphere or capsule, 4 for others
  /// A capsule that lies on a face touches at one of the two ends of where it lies, and a tremor
  /// makes its nearest point jump from one to the other. While their distances differ by less than
  /// this its one contact goes over from end to end instead, m; 0: the nearest point, always.
  double goes_over_m = 0.0;
};

struct FindStats {
  int pairs = 0;     ///< that may meet at all
  int near = 0;      ///< left by the boxes in the world
  int measured = 0;  ///< left by culling in the shape's own frame: nearest points were computed
};

class ContactFinder {
 public:
  /// kInvalid names what is wrong with the shape. Returns the collider's number.
  Result<int> Add(Collider collider);
  /// Spheres and capsules of all bodies of `skeleton`, as tree `tree`. Shapes of other kinds meet
  /// nothing: their names ("palm/box") are returned. Bodies joined to each other and, unless
  /// `meet_self`, all bodies of the tree ignore each other.
  Result<std::vector<std::string>> AddSkeleton(const model::Skeleton& skeleton, int tree,
                                               bool meet_self = false, double goes_over_m = 0.0);
  /// All shapes of a prop whose frame P is that of `side`. `friction` < 0: the prop's own; a prop
  /// that says no surface compliance gets `stiffness_N_per_m` (kRigid_N_per_m: it stays rigid).
  Status AddProp(const model::Prop& prop, const ContactSide& side, double friction = -1.0,
                 double stiffness_N_per_m = SurfaceLaw{}.stiffness_N_per_m);

  /// The two sides never meet. Two fixed things, and two shapes of one side, never do.
  void Ignore(const ContactSide& a, const ContactSide& b);

  /// All contacts with separation < margin_m, in order of colliders. `a` of each is the side of the
  /// lower rank in (link, body, fixed), of equals the one added first: the hand before what it
  /// touches. Does not allocate once `contacts` and the finder's own scratch have grown. The margin
  /// must exceed the fastest approach in one step.
  /// Pairs: a sphere or capsule with anything; boxes, cylinders, hulls and meshes among each other
  /// by a few of their corners (max_points, spread), with where edges cross for two boxes.
  Status Find(const ContactPoses& poses, double margin_m, ContactSet* contacts);

  const FindStats& stats() const { return stats_; }  ///< of the last Find
  int collider_count() const { return static_cast<int>(colliders_.size()); }
  const Collider& collider(int i) const { return colliders_[static_cast<size_t>(i)].collider; }
  /// Measures every pair that may meet, without culling: what Find is tested against. Slow.
  void set_culling(bool on) { culling_ = on; }

 private:
  struct Placed {
    Collider collider;
    geometry::Bounds local;                 ///< of the shape, in its own frame
    std::vector<geometry::Vec3> corners_S;  ///< spread points of a shape that is not round
    std::vector<int> siblings;              ///< other shapes of the same free or fixed thing
    geometry::RigidTransform X_WS;
    geometry::Bounds box_W;
  };
  struct Pair {
    int a = 0, b = 0;
    int union_of = 0;  ///< pairs of one collider a with shapes of one side: the union rule's group
  };
  struct Candidate {
    Contact contact;
    int a = 0, b = 0;
    bool hidden = false;
  };
  void MakePairs();
  bool MayMeet(const Placed& a, const Placed& b) const;
  bool CulledInFrame(const Placed& round, const Placed& other, double margin_m) const;
  Status Measure(const Pair& pair, double margin_m);
  Status MeasureRound(const Pair& pair, double margin_m);
  Status MeasureLying(const Pair& pair, const geometry::ShapeDistance& nearest);
  void MeasureCorners(const Pair& pair, double margin_m);
  void MeasureEdges(const Pair& pair, double margin_m);
  void Keep(const Pair& pair, const geometry::Vec3& p_W, const geometry::Vec3& normal_W,
            double separation_m, std::uint32_t place);
  void KeepSpread(size_t first, const Placed& of, int most);
  bool Hidden(const Candidate& candidate) const;

  std::vector<Placed> colliders_;
  std::vector<std::pair<ContactSide, ContactSide>> ignored_;
  std::vector<Pair> pairs_;
  bool pairs_made_ = false, culling_ = true;
  std::vector<Candidate> found_;
  std::vector<size_t> kept_;
  FindStats stats_;
};

}  // namespace handhold::synthesis
