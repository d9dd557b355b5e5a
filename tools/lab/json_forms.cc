#include "tools/lab/json_forms.h"

namespace handhold::lab {

using text::Json;
using text::JsonView;

namespace {

struct FaultsOut {
  Json out = Json::Object({});
  void Field(const char* name, double& value) {
    if (value != 0.0) out.Set(name, value);
  }
  void Field(const char* name, geometry::Vec3& value) {
    if (value != geometry::Vec3::Zero()) out.Set(name, NumbersToJson(value));
  }
};

struct FaultsIn {
  const JsonView& view;
  Status status = {};
  template <typename T, typename Read>
  void Take(const char* name, T* value, Read read) {
    if (!status || !view.Has(name)) return;
    const Result<T> got = read();
    if (got) {
      *value = *got;
    } else {
      status = got.error();
    }
  }
  void Field(const char* name, double& value) {
    Take(name, &value, [&] { return view.Get<double>(name); });
  }
  void Field(const char* name, geometry::Vec3& value) {
    Take(name, &value, [&] { return Vec3FromJson(view, name); });
  }
};

}  // namespace

Json NumbersToJson(const Eigen::VectorXd& v) {
  return Json::Array(std::span<const double>(v.data(), static_cast<size_t>(v.size())));
}

Json PoseToJson(const geometry::RigidTransform& X) {
  Json R = Json::Array();
  for (Eigen::Index i = 0; i < 9; ++i) R.Push(X.R(i / 3, i % 3));
  return Json::Object({{"p_m", NumbersToJson(X.p)}, {"R", std::move(R)}});
}

Json FaultsToJson(const SensorFaults& faults) {
  SensorFaults copy = faults;
  FaultsOut archive;
  Visit(archive, copy);
  return std::move(archive.out);
}

Json TakesToJson(const std::vector<TruthTake>& takes) {
  Json out = Json::Array();
  for (const TruthTake& t : takes) {
    out.Push(Json::Object({{"name", t.name}, {"begin_s", t.begin_s}, {"end_s", t.end_s}}));
  }
  return out;
}

Result<Eigen::VectorXd> NumbersFromJson(const JsonView& view, std::string_view key) {
  HANDHOLD_ASSIGN(const std::vector<double> numbers, view.Get<std::vector<double>>(key));
  return Eigen::VectorXd(
      Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size())));
}

Result<geometry::Vec3> Vec3FromJson(const JsonView& view, std::string_view key) {
  HANDHOLD_ASSIGN(const auto v, view.GetFixed<3>(key));
  return geometry::Vec3(v[0], v[1], v[2]);
}

Result<geometry::RigidTransform> PoseFromJson(const JsonView& view) {
  geometry::RigidTransform X;
  HANDHOLD_ASSIGN(X.p, Vec3FromJson(view, "p_m"));
  HANDHOLD_ASSIGN(const auto R, view.GetFixed<9>("R"));
  for (Eigen::Index i = 0; i < 9; ++i) X.R(i / 3, i % 3) = R[static_cast<size_t>(i)];
  return X;
}

Result<SensorFaults> FaultsFromJson(const JsonView& view) {
  SensorFaults faults;
  FaultsIn archive{view};
  Visit(archive, faults);
  HANDHOLD_TRY(archive.status);
  return faults;
}

Result<std::vector<TruthTake>> TakesFromJson(const JsonView& view, std::string_view key) {
  std::vector<TruthTake> takes;
  HANDHOLD_ASSIGN(const std::vector<JsonView> items, view.GetItems(key));
  for (const JsonView& item : items) {
    TruthTake take;
    HANDHOLD_ASSIGN(take.name, item.Get<std::string>("name"));
    HANDHOLD_ASSIGN(take.begin_s, item.Get<double>("begin_s"));
    HANDHOLD_ASSIGN(take.end_s, item.Get<double>("end_s"));
    takes.push_back(std::move(take));
  }
  return takes;
}

}  // namespace handhold::lab
