/// A hand that is simulated now, in a browser on this machine: a page, and the newest frame that it
/// asks for thirty times a second. Whoever simulates never waits for it.
///
///   /              the page
///   /api/scene     the scene of the first frame that was shown; null: none yet
///   /api/frame     {"number", "time_s", "words", "places": [[x y z w x y z], ...] of the scene's
///   nodes
///                  in their parents, in their order, "contacts": as in a scene, of one frame}
///
/// Test: tests/tools/viewer/hand_page_test.cc.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "database/text/json.h"
#include "tools/viewer/http/server.h"

namespace handhold::viewer {

/// What there is to see at one moment.
struct HandMoment {
  double time_s = 0.0;
  const model::Skeleton& hand;
  Eigen::VectorXd q;
  struct Thing {
    const model::Prop* prop = nullptr;
    geometry::RigidTransform X_WP;
  };
  std::vector<Thing> things;
  struct Contact {
    geometry::Vec3 p_W, normal_W, f_onHand_W;
  };
  std::vector<Contact> contacts;
  std::vector<std::array<std::string, 2>> words;  ///< "grip", "3.20 N"
};

class HandPage {
 public:
  /// On loopback; port 0 takes a free one. kIo when somebody else listens there.
  static Result<std::unique_ptr<HandPage>> Serve(uint16_t port, const std::string& title);

  std::string url() const { return "http://" + server_->address().ToString() + "/"; }
  /// The newest moment. The hand and the things stay the same ones from call to call.
  Status Show(const HandMoment& moment);

 private:
  HandPage() = default;
  Response Answer(const Request& request) const;

  std::string title_;
  mutable std::mutex mutex_;
  std::string scene_ = "null", frame_ = "null";
  int number_ = 0;
  std::unique_ptr<Server> server_;  ///< last: its threads end before what they read goes
};

}  // namespace handhold::viewer
