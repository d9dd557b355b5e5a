/// One clip as a query sees it: its row, and whatever else the plan asks for, fetched when first
/// asked. Internal to the store.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "database/store/library.h"
#include "database/store/query_plan.h"
#include "database/store/signal.h"

namespace handhold::store {

struct StoredEvent {
  int64_t sequence = 0;
  recording::Event event;
  int64_t number = 0;  ///< among its kind and origin in the clip, from 1
};

/// A value known to lie in [low, high]; exact when both are the same. `none`: there is no value.
struct Bounds {
  double low = 0.0, high = 0.0;
  bool none = false;
};

/// False for '~', which is for text.
bool Compare(Operator op, double value, double with);

/// The catalogue's prepared questions, shared by all clips of a run.
class QueryStatements {
 public:
  explicit QueryStatements(const Database& catalogue) : catalogue_(catalogue) {}
  /// The statement of this text, reset; prepared once.
  Result<Statement*> Get(const char* sql);

 private:
  const Database& catalogue_;
  std::map<const char*, Statement> statements_;
};

class QueryClip {
 public:
  QueryClip(const Library& library, QueryStatements& statements, ResultIndex& results, ClipRow row)
      : library_(library), statements_(statements), results_(results), row_(std::move(row)) {}

  const ClipRow& row() const { return row_; }
  bool opened() const { return reader_ != nullptr; }
  Result<const std::vector<StoredEvent>*> Events(const EventRef& ref);
  /// Texts of a field with several: tags, labels, streams, a property.
  Result<std::vector<std::string>> Texts(Field field, const std::string& key);
  /// Sum over the clip's force sensors of a feature ("contacts", "contact_s").
  Result<std::optional<double>> SumOfFeature(const char* name);
  Result<std::vector<double>> Quality(const Measure& measure);

  /// The signals that a measure means in this clip: one per sensor or stream name. `of_event`: only
  /// the sensor that the event belongs to, when it belongs to one.
  Result<const std::vector<Signal>*> Signals(const Measure& measure,
                                             const recording::Event* of_event);
  /// From the catalogue alone; low = -inf, high = inf where it knows nothing.
  Result<Bounds> Known(const Measure& measure, const Signal& signal,
                       const std::optional<Window>& window);
  /// From the samples, in SI.
  Result<Bounds> Measured(const Measure& measure, const Signal& signal,
                          const std::optional<Window>& window);

 private:
  struct Sensor {
    int stream_id = 0;
    std::string name;
    std::vector<SensorZone> zones;
    bool ascending = false;  ///< the zones begin and end one after the other
  };
  Result<const std::vector<Sensor>*> Sensors();
  Result<Bounds> KnownOfWindow(const Measure& measure, const Signal& signal, const Window& window);
  Result<Bounds> KnownOfClip(const Measure& measure, const Signal& signal);

  const Library& library_;
  QueryStatements& statements_;
  ResultIndex& results_;
  ClipRow row_;
  std::map<std::pair<std::string, std::string>, std::vector<StoredEvent>> events_;
  std::optional<std::vector<Sensor>> sensors_;
  /// By measure (it lives in the plan) and the sensor that its event belongs to.
  std::map<std::tuple<const Measure*, int, std::string>, std::vector<Signal>> signals_;
  std::unique_ptr<ClipReader> reader_;
};

}  // namespace handhold::store
