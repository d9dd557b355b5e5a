/// A query with every name looked up, every unit converted and every window known: what query.cc
/// evaluates. Internal to the store; what it means is in schemas/README.md, "Queries".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/time.h"
#include "database/store/query_syntax.h"
#include "database/store/query_units.h"
#include "database/store/result_signal.h"
#include "database/store/signal.h"
#include "database/store/sqlite.h"

namespace handhold::store {

/// Events of one kind. Bare contact_on and contact_off are the indexer's; other kinds anybody's.
struct EventRef {
  std::string kind;    ///< empty: any
  std::string origin;  ///< empty: anybody's
  bool operator==(const EventRef&) const = default;
};

enum class Field {
  kId,
  kName,
  kSubject,
  kSession,
  kTask,
  kProp,
  kTag,       ///< any of them
  kLabel,     ///< the value of a grasp or other label
  kStream,    ///< the name of any stream
  kMarker,    ///< of any marker or body
  kChannel,   ///< of any channel, calibrated ones too ("plate.normal_force")
  kProperty,  ///< properties[key]
  kText,      ///< free text: notes, event texts, properties, text streams
  kDate,
  kDuration,
  kRating,
  kUnrated,
  kWithdrawn,
  kTake,
  kGaps,
  kLost,
  kRed,
  kContacts,
  kContactTime,
  kClosed,
  kKeep,
  kEventTime,  ///< the rest: of the row's event
  kEventLength,
  kEventText,
  kOrigin,
};

/// What a test compares.
struct Measure {
  enum class Function { kPeak, kMin, kMean, kRms, kRange, kMissing, kCount, kQuality, kHeld };
  enum class Target {
    kSensors,  ///< one calibrated channel of the event's sensor, else of any
    kSensor,   ///< of the sensor named
    kChannel,  ///< a recorded channel, of the stream named or of any
    kResult,   ///< what the newest results of the clip say: `result` of `channel`
  };
  Function function = Function::kPeak;
  Target target = Target::kSensors;
  std::string source;                ///< sensor or stream; empty: any
  std::string channel;               ///< recorded channel
  Derived derived = Derived::kNone;  ///< of a channel: what is made of it; `channel` is then an x
  std::string other;                 ///< of a distance: the other's x
  int sensor_channel = 0;            ///< calibrated channel
  ResultQuantity result = ResultQuantity::kAngle;
  EventRef event;       ///< of kCount
  std::string quality;  ///< of kQuality: the item's `what`; `source` its stream
  // Of kHeld, which answers the longest time for which it holds: the condition on the channel.
  Operator held_op = Operator::kGreater;
  double held_value = 0.0;                        ///< SI
  Dimension held_dimension = Dimension::kNumber;  ///< of the channel
  Dimension dimension = Dimension::kNumber;
  std::string label;  ///< "peak(normal_force)"
};

struct PlanNode {
  enum class Kind { kAnd, kOr, kNot, kWithin, kField, kMeasure, kPattern, kHasEvent };
  Kind kind = Kind::kAnd;
  std::vector<PlanNode> children = {};
  // kWithin; kPattern: `events` in turn, `lengths` between them; kHasEvent: events[0].
  std::vector<EventRef> events = {};
  std::vector<Duration> lengths = {};
  Side side = Side::kAround;
  // kField, kMeasure.
  Operator op = Operator::kEqual;
  Field field = Field::kId;
  std::string key = {};                 ///< of kProperty
  std::vector<std::string> texts = {};  ///< texts to compare with (several: any of them)
  std::vector<double> numbers = {};     ///< numbers, in SI
  Timestamp date_begin, date_end;       ///< the span that a date names
  std::optional<size_t> measure = {};   ///< index in QueryPlan::measures
  /// 0: the clip's row decides; 1: other tables of the catalogue; 2: samples may have to be read.
  int cost = 0;
};

struct QueryPlan {
  std::string text;
  std::optional<EventRef> rows;  ///< the events that are the rows; none: clips
  PlanNode root;
  struct Column {
    Measure measure;
    std::string key;                      ///< "peak_normal_force_N"
    const Unit* unit = nullptr;           ///< in which it is answered; null: SI
    std::optional<PlanNode> window = {};  ///< the kWithin around it (without its children)
    std::string_view UnitName() const {
      return unit != nullptr ? unit->name : SiUnit(measure.dimension);
    }
  };
  std::vector<Column> measures;  ///< in the order of the text
  bool asks_withdrawn = false;   ///< else clips that are withdrawn are left out
};

/// Looks every name up in the catalogue. kInvalid and kNotFound name the column and the nearest.
Result<QueryPlan> PlanQuery(std::string_view text, const Database& catalogue);

}  // namespace handhold::store
