#include "database/store/query_syntax.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "database/base/names.h"
#include "database/store/query_units.h"

namespace handhold::store {
namespace {

constexpr size_t kLongestQuery = 10'000;
constexpr int kDeepest = 100;

struct Token {
  enum class Kind { kName, kString, kNumber, kDate, kPunctuation, kEnd } kind = Kind::kEnd;
  std::string text;
  size_t at = 0;
  double number = 0.0;
  bool Is(std::string_view punctuation) const {
    return kind == Kind::kPunctuation && text == punctuation;
  }
};

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNamePart(char c) {
  return IsNameStart(c) || IsDigit(c) || c == '.' || c == '/' || c == ':' || c == '-';
}

/// "2026-11-18", "2026-11-18T12:30", "2026-11-18T12:30:05Z".
size_t DateLength(std::string_view text) {
  static constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  size_t n = 0;
  for (; n < kShape.size() && n < text.size(); ++n) {
    if (kShape[n] == 'd' ? !IsDigit(text[n]) : text[n] != kShape[n]) break;
  }
  const size_t length = n >= 19 ? 19 : n >= 16 ? 16 : n >= 10 ? 10 : 0;
  return length > 10 && length < text.size() && text[length] == 'Z' ? length + 1 : length;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Tokens() {
    std::vector<Token> tokens;
    for (;;) {
      HANDHOLD_ASSIGN(Token token, Next());
      tokens.push_back(std::move(token));
      if (tokens.back().kind == Token::Kind::kEnd) return tokens;
    }
  }

 private:
  Result<Token> Next() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    Token token;
    token.at = at_;
    if (at_ == text_.size()) return token;
    const char c = text_[at_];
    if (IsNameStart(c)) {
      while (at_ < text_.size() && IsNamePart(text_[at_])) token.text += text_[at_++];
      token.kind = Token::Kind::kName;
      return token;
    }
    if (c == '"' || c == '\'') return String(c);
    if (IsDigit(c) || c == '-' || c == '.') return Number();
    for (const std::string_view two : {"!=", "<=", ">=", "<", ">", "=", "~", "(", ")", ",", "%"}) {
      if (text_.substr(at_, two.size()) != two) continue;
      token.kind = Token::Kind::kPunctuation;
      token.text = two;
      at_ += two.size();
      return token;
    }
    return QueryError(text_, at_, "unexpected character '" + std::string(1, c) + "'");
  }

  Result<Token> String(char quote) {
    Token token{Token::Kind::kString, "", at_};
    for (++at_; at_ < text_.size(); ++at_) {
      // A quote within is written twice, as in SQL.
      if (text_[at_] == quote && text_.substr(at_ + 1, 1) != text_.substr(at_, 1)) break;
      if (text_[at_] == quote) ++at_;
      token.text += text_[at_];
    }
    if (at_ == text_.size())
      return QueryError(text_, token.at, "the text that begins here has no closing quote");
    ++at_;
    return token;
  }

  Result<Token> Number() {
    Token token{Token::Kind::kNumber, "", at_};
    if (const size_t length = DateLength(text_.substr(at_)); length > 0) {
      token.kind = Token::Kind::kDate;
      token.text = text_.substr(at_, length);
      at_ += length;
      return token;
    }
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), token.number);
    if (error != std::errc{} || !std::isfinite(token.number))
      return QueryError(text_, at_, "expected a number");
    token.text.assign(begin, end);
    at_ += static_cast<size_t>(end - begin);
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool IsKeyword(const std::string& word) {
  static constexpr std::string_view kWords[] = {"and", "or",    "not",    "within", "of", "after",
                                                "by",  "where", "before", "then",   "in", "for"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  Result<QuerySyntax> Query() {
    QuerySyntax query;
    if ((Peek().kind == Token::Kind::kName || Peek().kind == Token::Kind::kString) &&
        Keyword(1, "where")) {
      query.rows = Word{Peek().text, Peek().at};
      position_ += 2;
    }
    HANDHOLD_ASSIGN(query.condition, Or());
    if (Peek().kind != Token::Kind::kEnd) return Expected("'and', 'or' or the end");
    return query;
  }

 private:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
  }
  bool Keyword(size_t ahead, std::string_view word) const {
    return Peek(ahead).kind == Token::Kind::kName && Lower(Peek(ahead).text) == word;
  }
  bool Take(std::string_view word) {
    if (!Keyword(0, word)) return false;
    ++position_;
    return true;
  }
  bool TakePunctuation(std::string_view text) {
    if (!Peek().Is(text)) return false;
    ++position_;
    return true;
  }
  Error Expected(const std::string& what) const {
    const Token& found = Peek();
    return QueryError(
        text_, found.at,
        "expected " + what + ", found " +
            (found.kind == Token::Kind::kEnd ? std::string("the end") : "'" + found.text + "'"));
  }

  Result<SyntaxNode> Or() { return Chain(SyntaxNode::Kind::kOr, "or"); }

  Result<SyntaxNode> Chain(SyntaxNode::Kind kind, std::string_view word) {
    const bool is_or = kind == SyntaxNode::Kind::kOr;
    HANDHOLD_ASSIGN(SyntaxNode first, is_or ? Chain(SyntaxNode::Kind::kAnd, "and") : Not());
    if (!Keyword(0, word)) return first;
    SyntaxNode node{.kind = kind, .at = first.at};
    node.children.push_back(std::move(first));
    while (Take(word)) {
      HANDHOLD_ASSIGN(SyntaxNode next, is_or ? Chain(SyntaxNode::Kind::kAnd, "and") : Not());
      node.children.push_back(std::move(next));
    }
    return node;
  }

  Result<SyntaxNode> Not() {
    if (++depth_ > kDeepest)
      return QueryError(text_, Peek().at, "more than 100 levels of parentheses and 'not'");
    const size_t at = Peek().at;
    Result<SyntaxNode> out = Error{};
    if (Take("not")) {
      HANDHOLD_ASSIGN(SyntaxNode child, Not());
      SyntaxNode node{.kind = SyntaxNode::Kind::kNot, .at = at};
      node.children.push_back(std::move(child));
      out = std::move(node);
    } else {
      out = Windowed();
    }
    --depth_;
    return out;
  }

  Result<SyntaxNode> Windowed() {
    HANDHOLD_ASSIGN(SyntaxNode inner, Primary());
    if (!Keyword(0, "within")) return inner;
    SyntaxNode node{.kind = SyntaxNode::Kind::kWithin, .at = Peek().at};
    ++position_;
    HANDHOLD_ASSIGN(ValueSyntax length, Quantity());
    node.values.push_back(std::move(length));
    if (Take("of")) {
      node.side = Side::kAround;
    } else if (Take("after")) {
      node.side = Side::kAfter;
    } else if (Take("before")) {
      node.side = Side::kBefore;
    } else {
      return Expected("'of', 'after' or 'before' and an event");
    }
    HANDHOLD_ASSIGN(EventSyntax event, Event());
    node.events.push_back(std::move(event));
    node.children.push_back(std::move(inner));
    return node;
  }

  Result<SyntaxNode> Primary() {
    if (TakePunctuation("(")) {
      HANDHOLD_ASSIGN(SyntaxNode inner, Or());
      if (!TakePunctuation(")")) return Expected("')'");
      return inner;
    }
    SyntaxNode node{.kind = SyntaxNode::Kind::kTest, .at = Peek().at};
    const bool name = Peek().kind == Token::Kind::kName && !IsKeyword(Lower(Peek().text));
    if (!name && Peek().kind != Token::Kind::kString)
      return Expected("a condition such as 'task = stroke' or 'peak(normal_force) > 5 N'");
    node.operand = {Peek().text, Peek().at};
    ++position_;
    if (TakePunctuation("(")) {
      node.is_call = true;
      do {
        HANDHOLD_ASSIGN(EventSyntax argument, Event());
        if (argument.origin.text.empty() && TakePunctuation("(")) {
          HANDHOLD_ASSIGN(const EventSyntax of, Event());
          if (!of.origin.text.empty() || !TakePunctuation(")")) return Expected("a name and ')'");
          argument.of = of.kind;
        }
        node.arguments.push_back(std::move(argument));
      } while (TakePunctuation(","));
      if (!TakePunctuation(")")) return Expected("',' or ')'");
    }
    if (!node.is_call && (Keyword(0, "then") || Keyword(0, "by"))) {
      --position_;
      return Pattern();
    }
    if (!node.is_call && Take("in")) {
      if (!TakePunctuation("(")) return Expected("'(' and a list");
      do {
        HANDHOLD_ASSIGN(ValueSyntax value, Value());
        node.values.push_back(std::move(value));
      } while (TakePunctuation(","));
      if (!TakePunctuation(")")) return Expected("',' or ')'");
      return node;
    }
    return Comparison(std::move(node));
  }

  Result<SyntaxNode> Comparison(SyntaxNode node) {
    static constexpr std::pair<std::string_view, Operator> kOperators[] = {
        {"=", Operator::kEqual},   {"!=", Operator::kNotEqual}, {"<", Operator::kLess},
        {"<=", Operator::kAtMost}, {">", Operator::kGreater},   {">=", Operator::kAtLeast},
        {"~", Operator::kMatches}};
    for (const auto& [text, op] : kOperators) {
      if (!TakePunctuation(text)) continue;
      node.op = op;
      HANDHOLD_ASSIGN(ValueSyntax value, Value());
      node.values.push_back(std::move(value));
      if (Take("for")) {
        HANDHOLD_ASSIGN(node.hold, Quantity());
      }
      return node;
    }
    if (node.is_call) return Expected("a comparison such as '> 5 N'");
    node.kind = SyntaxNode::Kind::kName;
    node.events.push_back({node.operand, {}});
    return node;
  }

  Result<SyntaxNode> Pattern() {
    SyntaxNode node{.kind = SyntaxNode::Kind::kPattern, .at = Peek().at};
    HANDHOLD_ASSIGN(EventSyntax first, Event());
    node.events.push_back(std::move(first));
    if (!Keyword(0, "then")) node.kind = SyntaxNode::Kind::kName;
    while (Take("then")) {
      HANDHOLD_ASSIGN(EventSyntax next, Event());
      node.events.push_back(std::move(next));
      if (!Take("within")) return Expected("'within' and how soon, as in 'then B within 200 ms'");
      HANDHOLD_ASSIGN(ValueSyntax length, Quantity());
      node.values.push_back(std::move(length));
    }
    node.operand = node.events.front().kind;
    return node;
  }

  Result<EventSyntax> Event() {
    EventSyntax event;
    HANDHOLD_ASSIGN(event.kind, Name("a name"));
    if (Take("by")) {
      HANDHOLD_ASSIGN(event.origin, Name("who says so, as in 'by indexer'"));
    }
    return event;
  }

  Result<Word> Name(const std::string& what) {
    const Token& token = Peek();
    const bool name = token.kind == Token::Kind::kName && !IsKeyword(Lower(token.text));
    if (!name && token.kind != Token::Kind::kString) return Expected(what);
    ++position_;
    return Word{token.text, token.at};
  }

  Result<ValueSyntax> Quantity() {
    if (Peek().kind != Token::Kind::kNumber) return Expected("a number with its unit");
    ValueSyntax value;
    value.kind = ValueSyntax::Kind::kQuantity;
    value.at = Peek().at;
    value.number = Peek().number;
    ++position_;
    value.unit.at = Peek().at;
    if (TakePunctuation("%")) {
      value.unit.text = "%";
    } else if (Peek().kind == Token::Kind::kName && !IsKeyword(Lower(Peek().text))) {
      value.unit.text = Peek().text;
      ++position_;
      const std::string both = value.unit.text + " " + Peek().text;
      if (Peek().kind == Token::Kind::kName && FindUnit(both) != nullptr) {
        value.unit.text = both;
        ++position_;
      }
    }
    return value;
  }

  Result<ValueSyntax> Value() {
    if (Peek().kind == Token::Kind::kNumber) return Quantity();
    ValueSyntax value;
    value.at = Peek().at;
    if (Peek().kind == Token::Kind::kDate) {
      value.kind = ValueSyntax::Kind::kDate;
      value.text = {Peek().text, Peek().at};
      ++position_;
      return value;
    }
    HANDHOLD_ASSIGN(value.text, Name("a value"));
    return value;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string_view OperatorText(Operator op) {
  static constexpr std::string_view kTexts[] = {"=", "!=", "<", "<=", ">", ">=", "~"};
  return kTexts[static_cast<size_t>(op)];
}

Error QueryError(std::string_view text, size_t at, const std::string& what) {
  // Columns are counted in characters, not bytes; only the neighbourhood of a long query is shown.
  const auto characters = [](std::string_view part) {
    return static_cast<size_t>(std::count_if(part.begin(), part.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
  };
  at = std::min(at, text.size());
  size_t begin = at > 60 ? at - 60 : 0;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  std::string shown(text.substr(begin, 100));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return {ErrorCode::kInvalid,
          "query, column " + std::to_string(characters(text.substr(0, at)) + 1) + ": " + what +
              "\n" + shown + "\n" + std::string(characters(text.substr(begin, at - begin)), ' ') +
              "^"};
}

Result<QuerySyntax> ParseQuery(std::string_view text) {
  if (text.size() > kLongestQuery)
    return Error{ErrorCode::kInvalid, "a query of more than 10 000 characters"};
  HANDHOLD_ASSIGN(std::vector<Token> tokens, Lexer(text).Tokens());
  return Parser(text, std::move(tokens)).Query();
}

}  // namespace handhold::store
