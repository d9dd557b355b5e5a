#include "database/model/site.h"

namespace handhold::model {

int SiteAt(const Skeleton& skeleton, int body, const geometry::Vec3& out_B) {
  int best = -1;
  double cosine = 0.0;
  for (size_t i = 0; i < skeleton.sites().size(); ++i) {
    const ContactSite& site = skeleton.sites()[i];
    if (site.body != body || !(site.normal_B.dot(out_B) > cosine)) continue;
    best = static_cast<int>(i);
    cosine = site.normal_B.dot(out_B);
  }
  return best;
}

int OnlyTip(const Skeleton& skeleton) {
  int only = -1;
  for (size_t i = 0; i < skeleton.frames().size(); ++i) {
    if (!skeleton.frames()[i].name.ends_with("tip")) continue;
    if (only >= 0) return -1;
    only = static_cast<int>(i);
  }
  return only;
}

}  // namespace handhold::model
