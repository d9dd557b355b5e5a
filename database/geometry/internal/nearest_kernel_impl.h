// The traversal itself; included once per instruction set, inside an anonymous namespace of that
// file. See nearest_kernel.h for what it may use.

// Eight floats.
#if defined(__AVX2__)
struct F8 {
  __m256 v;
};
inline F8 Load(const float* p) { return {_mm256_load_ps(p)}; }
inline F8 All(float x) { return {_mm256_set1_ps(x)}; }
inline F8 operator+(F8 a, F8 b) { return {_mm256_add_ps(a.v, b.v)}; }
inline F8 operator-(F8 a, F8 b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline F8 operator*(F8 a, F8 b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline F8 operator/(F8 a, F8 b) { return {_mm256_div_ps(a.v, b.v)}; }
// Max and Min answer b when a is not a number.
inline F8 Max(F8 a, F8 b) { return {_mm256_max_ps(a.v, b.v)}; }
inline F8 Min(F8 a, F8 b) { return {_mm256_min_ps(a.v, b.v)}; }
// Lanes of a where condition >= 0, of b elsewhere.
inline F8 SelectNonNegative(F8 condition, F8 a, F8 b) {
  return {_mm256_blendv_ps(b.v, a.v, _mm256_cmp_ps(condition.v, _mm256_setzero_ps(), _CMP_GE_OQ))};
}
inline unsigned MaskLessEqual(F8 a, F8 b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)));
}
inline void Store(float* p, F8 a) { _mm256_store_ps(p, a.v); }
#elif defined(__SSE2__)
struct F8 {
  __m128 l, h;
};
inline F8 Load(const float* p) { return {_mm_load_ps(p), _mm_load_ps(p + 4)}; }
inline F8 All(float x) { return {_mm_set1_ps(x), _mm_set1_ps(x)}; }
inline F8 operator+(F8 a, F8 b) { return {_mm_add_ps(a.l, b.l), _mm_add_ps(a.h, b.h)}; }
inline F8 operator-(F8 a, F8 b) { return {_mm_sub_ps(a.l, b.l), _mm_sub_ps(a.h, b.h)}; }
inline F8 operator*(F8 a, F8 b) { return {_mm_mul_ps(a.l, b.l), _mm_mul_ps(a.h, b.h)}; }
inline F8 operator/(F8 a, F8 b) { return {_mm_div_ps(a.l, b.l), _mm_div_ps(a.h, b.h)}; }
inline F8 Max(F8 a, F8 b) { return {_mm_max_ps(a.l, b.l), _mm_max_ps(a.h, b.h)}; }
inline F8 Min(F8 a, F8 b) { return {_mm_min_ps(a.l, b.l), _mm_min_ps(a.h, b.h)}; }
inline __m128 Blend(__m128 condition, __m128 a, __m128 b) {
  const __m128 m = _mm_cmpge_ps(condition, _mm_setzero_ps());
  return _mm_or_ps(_mm_and_ps(m, a), _mm_andnot_ps(m, b));
}
inline F8 SelectNonNegative(F8 condition, F8 a, F8 b) {
  return {Blend(condition.l, a.l, b.l), Blend(condition.h, a.h, b.h)};
}
inline unsigned MaskLessEqual(F8 a, F8 b) {
  return static_cast<unsigned>(_mm_movemask_ps(_mm_cmple_ps(a.l, b.l)) |
                               _mm_movemask_ps(_mm_cmple_ps(a.h, b.h)) << 4);
}
inline void Store(float* p, F8 a) {
  _mm_store_ps(p, a.l);
  _mm_store_ps(p + 4, a.h);
}
#else
struct F8 {
  float v[8];
};
template <typename Op>
inline F8 Each(Op op) {
  F8 out;
  for (int i = 0; i < 8; ++i) out.v[i] = op(i);
  return out;
}
inline F8 Load(const float* p) {
  return Each([&](int i) { return p[i]; });
}
inline F8 All(float x) {
  return Each([&](int) { return x; });
}
inline F8 operator+(F8 a, F8 b) {
  return Each([&](int i) { return a.v[i] + b.v[i]; });
}
inline F8 operator-(F8 a, F8 b) {
  return Each([&](int i) { return a.v[i] - b.v[i]; });
}
inline F8 operator*(F8 a, F8 b) {
  return Each([&](int i) { return a.v[i] * b.v[i]; });
}
inline F8 operator/(F8 a, F8 b) {
  return Each([&](int i) { return a.v[i] / b.v[i]; });
}
inline F8 Max(F8 a, F8 b) {
  return Each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline F8 Min(F8 a, F8 b) {
  return Each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline F8 SelectNonNegative(F8 condition, F8 a, F8 b) {
  return Each([&](int i) { return condition.v[i] >= 0 ? a.v[i] : b.v[i]; });
}
inline unsigned MaskLessEqual(F8 a, F8 b) {
  unsigned mask = 0;
  for (int i = 0; i < 8; ++i) mask |= static_cast<unsigned>(a.v[i] <= b.v[i]) << i;
  return mask;
}
inline void Store(float* p, F8 a) {
  for (int i = 0; i < 8; ++i) p[i] = a.v[i];
}
#endif

struct V8 {
  F8 x, y, z;
};
inline V8 LoadV(const float (&p)[3][8]) { return {Load(p[0]), Load(p[1]), Load(p[2])}; }
inline V8 operator-(V8 a, V8 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline F8 Dot(V8 a, V8 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline V8 Cross(V8 a, V8 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

inline F8 BoxDistance2(const Node8& node, V8 p) {
  const F8 zero = All(0.0f);
  const V8 lo = LoadV(node.lo) - p, hi = p - LoadV(node.hi);
  const V8 d = {Max(Max(lo.x, hi.x), zero), Max(Max(lo.y, hi.y), zero), Max(Max(lo.z, hi.z), zero)};
  return Dot(d, d);
}

// Squared distance of the origin to segments r + t e, 0 <= t <= 1 (a point when e = 0: then 0/0 is
// clamped to 0).
inline F8 SegmentDistance2(V8 r, V8 e) {
  const F8 t = Min(Max((All(0.0f) - Dot(r, e)) / Dot(e, e), All(0.0f)), All(1.0f));
  const V8 q = {r.x + t * e.x, r.y + t * e.y, r.z + t * e.z};
  return Dot(q, q);
}

// A triangle's distance is that of its plane where the foot of the perpendicular is inside, and
// that of its edges otherwise. Inside is told by in-plane distances to the edges, which are as
// accurate for needles as for other triangles. Without a normal everything is "inside" at distance
// 0: such triangles always go to the exact measure.
inline F8 TriangleDistance2(const Leaf8& leaf, V8 p) {
  const V8 a = LoadV(leaf.a) - p, ab = LoadV(leaf.ab), ac = LoadV(leaf.ac), n = LoadV(leaf.n);
  const V8 b = {a.x + ab.x, a.y + ab.y, a.z + ab.z};
  const V8 bc = ac - ab;
  const V8 c = {a.x + ac.x, a.y + ac.y, a.z + ac.z};
  const F8 edges =
      Min(Min(SegmentDistance2(a, ab), SegmentDistance2(b, bc)), SegmentDistance2(a, ac));
  const V8 ca = {All(0.0f) - ac.x, All(0.0f) - ac.y, All(0.0f) - ac.z};
  // Seen from the origin, the corner at r with edge e leaves the origin on its inner side where n .
  // (r x e) >= 0.
  const F8 inside = Min(Min(Dot(n, Cross(a, ab)), Dot(n, Cross(b, bc))), Dot(n, Cross(c, ca)));
  const F8 height = Dot(n, a);
  return SelectNonNegative(inside, height * height, edges);
}

inline void VisitLeaf(NearestQuery& query, const Leaf8& leaf, V8 p) {
  const F8 d2 = TriangleDistance2(leaf, p);
  unsigned mask = MaskLessEqual(d2, All(query.bound)) & ((1u << leaf.count) - 1u);
  if (mask == 0) return;
  alignas(32) float distance2[8];
  Store(distance2, d2);
  // The nearest first: it usually rules the others out.
  while (mask != 0) {
    int best = __builtin_ctz(mask);
    for (unsigned m = mask & (mask - 1); m != 0; m &= m - 1) {
      const int i = __builtin_ctz(m);
      if (distance2[i] < distance2[best]) best = i;
    }
    if (distance2[best] > query.bound) return;
    mask &= ~(1u << best);
    query.measure(query, leaf.first + static_cast<std::uint32_t>(best));
  }
}

struct StackEntry {
  std::int32_t child;
  float distance2;
};

// Depth first, nearest child first. The stack holds at most seven per level, and BuildBvh keeps
// trees below 64 levels.
inline void Traverse(NearestQuery& query) {
  const V8 p = {All(query.p[0]), All(query.p[1]), All(query.p[2])};
  StackEntry stack[512];
  int size = 0;
  stack[size++] = {0, 0.0f};
  while (size > 0) {
    const StackEntry top = stack[--size];
    if (top.distance2 > query.bound) continue;
    if (top.child < 0) {
      VisitLeaf(query, query.leaves[~top.child], p);
      continue;
    }
    const Node8& node = query.nodes[top.child];
    const F8 d2 = BoxDistance2(node, p);
    unsigned mask = MaskLessEqual(d2, All(query.bound));
    alignas(32) float distance2[8];
    Store(distance2, d2);
    const int begin = size;
    for (; mask != 0; mask &= mask - 1) {
      const int i = __builtin_ctz(mask);
      // Insertion keeps the farthest deepest.
      int at = size++;
      for (; at > begin && stack[at - 1].distance2 < distance2[i]; --at) stack[at] = stack[at - 1];
      stack[at] = {node.child[i], distance2[i]};
    }
  }
}
