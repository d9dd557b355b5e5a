#include "fitting/signal/find_site.h"

#include "database/base/names.h"

namespace handhold::fitting {

Result<const model::ContactSite*> FindSite(const model::Skeleton& skeleton,
                                           const std::string& name) {
  const std::vector<model::ContactSite>& sites = skeleton.sites();
  if (sites.empty()) {
    return Error{ErrorCode::kInvalid, "skeleton '" + skeleton.name() +
                                          "' has no contact site: its file needs \"sites\", the "
                                          "parts of the hand that touch"};
  }
  if (name.empty() && sites.size() == 1) return &sites.front();
  std::vector<std::string> names;
  for (const model::ContactSite& site : sites) {
    if (site.name == name) return &site;
    names.push_back(site.name);
  }
  if (!name.empty()) {
    return Error{ErrorCode::kNotFound, "skeleton '" + skeleton.name() + "' has no contact site '" +
                                           name + "'" + DidYouMean(name, names)};
  }
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "'" : ", '") + n + "'";
  return Error{ErrorCode::kInvalid,
               "skeleton '" + skeleton.name() +
                   "' can touch with several sites, name the one that did: " + all};
}

}  // namespace handhold::fitting
