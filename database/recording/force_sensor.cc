#include "database/recording/force_sensor.h"

#include "database/base/check.h"

namespace handhold::recording {

geometry::Vec6 ForceSensor::Wrench(const Eigen::Ref<const Eigen::VectorXd>& raw) const {
  CHECK_EQ(raw.size(), calibration.cols());
  if (bias.size() == 0) return sign * (calibration * raw);
  CHECK_EQ(bias.size(), raw.size());
  return sign * (calibration * (raw - bias));
}

double ForceSensor::NormalForce(const Eigen::Ref<const Eigen::VectorXd>& raw) const {
  return -Wrench(raw).head<3>().dot(normal_S);
}

geometry::Vec3 ForceOnHand(const geometry::Vec3& f_onObject_W) { return -f_onObject_W; }

}  // namespace handhold::recording
