#include <algorithm>
#include <cmath>

#include "tools/report/fill_parts.h"
#include "tools/report/html.h"
#include "tools/report/scene_picture.h"

namespace handhold::report {
namespace {

using geometry::Vec3;

int FrameAt(const std::vector<Timestamp>& times, Timestamp t) {
  const auto at = std::lower_bound(times.begin(), times.end(), t);
  return static_cast<int>(
      std::min<std::ptrdiff_t>(at - times.begin(), static_cast<std::ptrdiff_t>(times.size()) - 1));
}

std::string Milliseconds(Duration d) { return Fixed(1e3 * d.seconds(), 0) + " ms"; }

}  // namespace

Status FillStroke(Filling* f) {
  const ReportSources& s = f->from;
  if (!f->options.pictures || !s.skeleton || !s.pose || !s.contact || !s.surface ||
      f->shown_touch < 0)
    return {};
  const artefact::Touch& touch = s.contact->touches[static_cast<size_t>(f->shown_touch)];
  const int first = FrameAt(s.contact->times, touch.onset),
            last = FrameAt(s.contact->times, touch.release);
  Vec3 focus = Vec3::Zero();
  int points = 0;
  for (int k = first; k <= last; ++k) {
    const Vec3 p = s.contact_frames.p_WC.col(k);
    if (p.allFinite()) focus += p, ++points;
  }
  if (points == 0) return {};
  focus /= points;

  Camera camera = SideView(focus + Vec3(-0.045, 0, 0.032), 0.235);
  camera.width = f->options.picture_width, camera.height = f->options.picture_height;
  const double m_per_N = 0.05 / std::max(0.1, touch.peak_force_N);
  const Duration contact = touch.release - touch.onset;
  const struct {
    Timestamp time;
    std::string what;
  } instants[] = {
      {touch.onset - Duration::Milliseconds(60),
       Milliseconds(Duration::Milliseconds(60)) + " before contact"},
      {touch.onset + Duration::Milliseconds(25),
       Milliseconds(Duration::Milliseconds(25)) + " after the onset"},
      {touch.onset + Duration::Nanoseconds(contact.ns() / 2),
       "mid-stroke, " + Milliseconds(Duration::Nanoseconds(contact.ns() / 2))},
      {touch.release - Duration::Milliseconds(30),
       Milliseconds(contact - Duration::Milliseconds(30)) + ", about to lift"},
  };
  for (const auto& instant : instants) {
    const int k = FrameAt(s.pose->times, instant.time);
    PictureScene scene;
    scene.skeleton = s.skeleton;
    scene.hands = {{s.pose->q.col(k), 1.0}};
    scene.props = {{s.surface, s.X_WSurface}};
    scene.fade_begin_m = 0.095, scene.fade_end_m = 0.14;
    Picture picture;
    picture.image = DrawScene(scene, camera);
    picture.title = instant.what;
    const Vec3 p = s.contact_frames.p_WC.col(k), force = s.contact_frames.f_onHand_W.col(k);
    if (p.allFinite()) {
      picture.marks = ForceMarks(camera, p, force, m_per_N);
      picture.alternative = "The finger touches the surface; the force on it is " +
                            Fixed(force.norm(), 2) + " N, " + Fixed(force.z(), 2) +
                            " N of it upwards.";
    } else {
      picture.alternative = "The finger is above the surface; no force above the threshold.";
    }
    f->data->stroke.push_back(std::move(picture));
  }
  f->data->stroke_caption =
      "One " + (touch.task.empty() ? std::string("stroke") : touch.task + " stroke") + ", " +
      Fixed(touch.onset.seconds(), 2) +
      " s into the take, as fitted: the hand's collision shapes at the fitted joint "
      "angles (small grey spheres: the markers it was fitted to), the surface (one line per "
      "centimetre), and the "
      "measured force on the finger at the contact point (" +
      Fixed(1e3 * m_per_N, 0) + " mm of arrow per newton).";
  return {};
}

}  // namespace handhold::report
