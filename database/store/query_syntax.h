/// The query language's grammar: text to a tree, with the column of every part. Knows no library;
/// names are looked up in query_plan.h. Normative: schemas/README.md, "Queries".
///
///   query      = [ rows "where" ] or
///   or         = and { "or" and }
///   and        = not { "and" not }
///   not        = "not" not | windowed
///   windowed   = primary [ "within" quantity ( "of" | "after" | "before" ) event ]
///   primary    = "(" or ")" | test | name | pattern
///   test       = operand operator value [ "for" quantity ] | name "in" "(" value { "," value } ")"
///   operand    = name | name "(" argument { "," argument } ")"
///   argument   = event | name "(" name ")"
///   pattern    = event "then" event "within" quantity { "then" event "within" quantity }
///   event      = name [ "by" name ]
///   operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~"
///   value      = quantity | date | name | string
///   quantity   = number [ unit ]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"

namespace handhold::store {

/// A word of the query and where it stands (byte offset from 0).
struct Word {
  std::string text;
  size_t at = 0;
};

/// "contact_on by fit.contact". An empty origin: see query_plan.h. As an argument also
/// "angle(R.index.pip.flex)": of a kind, `of` something.
struct EventSyntax {
  Word kind, origin;
  Word of = {};
};

struct ValueSyntax {
  enum class Kind { kQuantity, kDate, kText } kind = Kind::kText;
  Word text;            ///< of kDate and kText
  double number = 0.0;  ///< of kQuantity
  Word unit;            ///< of kQuantity: "N", "N m", "%", or empty
  size_t at = 0;
};

enum class Operator { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast, kMatches };
std::string_view OperatorText(Operator op);
enum class Side { kAround, kAfter, kBefore };

struct SyntaxNode {
  enum class Kind {
    kAnd,      ///< children
    kOr,       ///< children
    kNot,      ///< one child
    kWithin,   ///< one child; quantity, side, events[0]
    kTest,     ///< operand (and arguments, is_call), op, values (several: "in")
    kName,     ///< operand: a flag ("closed") or an event's kind; events[0]
    kPattern,  ///< events in turn; quantities between them in `values`
  };
  Kind kind = Kind::kName;
  size_t at = 0;
  std::vector<SyntaxNode> children = {};
  Word operand = {};
  bool is_call = false;
  std::vector<EventSyntax> arguments = {};  ///< "by" only where an event is meant
  Operator op = Operator::kEqual;
  std::vector<ValueSyntax> values = {};
  std::optional<ValueSyntax> hold = {};  ///< of kTest: "for 0.5 s"
  Side side = Side::kAround;
  std::vector<EventSyntax> events = {};
};

struct QuerySyntax {
  std::optional<Word> rows;  ///< "clips", "contacts", ...
  SyntaxNode condition;
};

/// kInvalid, naming the column and showing it, for what is not in the grammar. At most 10 000
/// characters, 100 levels deep.
Result<QuerySyntax> ParseQuery(std::string_view text);

/// An error about column `at` of `text`: "query, column 8: <what>", the text, and a caret below it.
Error QueryError(std::string_view text, size_t at, const std::string& what);

}  // namespace handhold::store
