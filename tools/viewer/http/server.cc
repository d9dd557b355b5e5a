#include "tools/viewer/http/server.h"

#include <algorithm>
#include <charconv>

#include "database/base/utf8.h"

namespace handhold::viewer {
namespace {

using capture::wire::IoStatus;
using capture::wire::TcpStream;

constexpr size_t kMostHead = 8192;

std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      unsigned value = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const auto [end, error] =
          std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  if (out.find('\0') != std::string::npos || !IsUtf8(out)) return std::nullopt;
  return out;
}

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// "127.0.0.1:8080", "localhost", "[::1]:1": an address or this machine's own name.
bool IsAddress(std::string_view host) {
  if (host.starts_with('[')) return host.find(']') != std::string_view::npos;
  host = host.substr(0, host.find(':'));
  if (SameWord(host, "localhost")) return true;
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view Reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Internal Server Error";
  }
}

std::string Head(const Response& response) {
  return "HTTP/1.1 " + std::to_string(response.status) + " " +
         std::string(Reason(response.status)) + "\r\nContent-Type: " + response.type +
         "\r\nContent-Length: " + std::to_string(response.body.size()) +
         "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
         "\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY"
         "\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n";
}

}  // namespace

std::string Request::Query(const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? "" : found->second;
}

ParsedHead ParseHead(std::string_view head) {
  ParsedHead out;
  const auto refuse = [&out](int status, std::string why) {
    out.refusal = Refusal{status, std::move(why)};
    return out;
  };
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const size_t method_end = line.find(' ');
  const size_t target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || target_end <= method_end ||
      !line.substr(target_end + 1).starts_with("HTTP/1."))
    return refuse(400, "no HTTP/1 request");
  const std::string_view method = line.substr(0, method_end);
  if (method != "GET" && method != "HEAD") return refuse(405, "this server only shows: GET");
  out.head_only = method == "HEAD";
  std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
  target = target.substr(0, target.find('#'));
  const size_t mark = target.find('?');
  const auto path = Decode(target.substr(0, mark), false);
  if (!path || !path->starts_with('/')) return refuse(400, "no path");
  out.request.path = *path;
  if (mark != std::string_view::npos) {
    std::string_view rest = target.substr(mark + 1);
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const size_t equals = pair.find('=');
      const auto name = Decode(pair.substr(0, equals), true);
      const auto value =
          Decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
      if (!name || !value) return refuse(400, "a query that is no text");
      out.request.query.emplace(*name, *value);
    }
  }
  bool named = false;
  for (size_t at = head.find("\r\n"); at != std::string_view::npos && at + 2 < head.size();) {
    const size_t end = head.find("\r\n", at + 2);
    const std::string_view field = head.substr(at + 2, end - at - 2);
    if (field.empty()) break;
    const size_t colon = field.find(':');
    if (colon != std::string_view::npos && SameWord(field.substr(0, colon), "host")) {
      std::string_view host = field.substr(colon + 1);
      while (host.starts_with(' ')) host.remove_prefix(1);
      named = IsAddress(host);
      if (!named) return refuse(403, "ask by address or as localhost");
    }
    at = end;
  }
  if (!named) return refuse(400, "no Host");
  return out;
}

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                              std::function<Result<Handler>()> make_handler) {
  auto server = std::unique_ptr<Server>(new Server());
  server->options_ = options;
  server->make_handler_ = std::move(make_handler);
  HANDHOLD_ASSIGN(server->listener_, capture::wire::TcpListener::Listen(options.address));
  Server* self = server.get();
  self->threads_.emplace_back([self] { self->Accept(); });
  for (int i = 0; i < options.workers; ++i) self->threads_.emplace_back([self] { self->Work(); });
  return server;
}

Server::~Server() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  comes_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Server::MakeRoom(std::deque<Asked>* idle) const {
  const auto most = static_cast<size_t>(options_.idle_per_peer);
  std::map<uint32_t, size_t> of_peer;
  for (const Asked& asked : *idle) ++of_peer[asked.peer];
  const auto fullest =
      std::ranges::max_element(of_peer, {}, [](const auto& entry) { return entry.second; });
  if (fullest == of_peer.end() || (fullest->second <= most && idle->size() <= 2 * most)) return;
  // In the order in which they came: the first of a peer has been idle longest.
  idle->erase(std::ranges::find(*idle, fullest->first, &Asked::peer));
}

void Server::Accept() {
  std::deque<Asked> idle;
  std::vector<uint8_t> buffer(2048);
  while (!stop_) {
    std::vector<const TcpStream*> streams;
    for (const Asked& asked : idle) streams.push_back(&asked.stream);
    capture::wire::WaitForAny(listener_, streams, HostNow() + Duration::Milliseconds(100));
    const Timestamp now = HostNow();
    for (TcpStream stream; listener_.Accept(now, &stream) == IoStatus::kOk;) {
      const uint32_t peer = stream.Peer().ipv4;
      idle.push_back({std::move(stream), peer, now});
      MakeRoom(&idle);
    }
    for (auto asked = idle.begin(); asked != idle.end();) {
      IoStatus status = IoStatus::kOk;
      bool whole = false;
      while (!whole && asked->head.size() <= kMostHead) {
        const auto read = asked->stream.Read(buffer, now);
        status = read.status;
        if (status != IoStatus::kOk) break;
        asked->head.append(reinterpret_cast<const char*>(buffer.data()), read.bytes);
        whole = asked->head.find("\r\n\r\n") != std::string::npos;
      }
      asked->late = status == IoStatus::kTimeout && now - asked->since >= options_.deadline;
      if (status == IoStatus::kTimeout && !asked->late) {
        ++asked;
        continue;
      }
      if (status == IoStatus::kOk || asked->late) {
        const std::lock_guard lock(mutex_);
        if (waiting_.size() < static_cast<size_t>(options_.waiting)) {  // else closed
          waiting_.push_back(std::move(*asked));
          comes_.notify_one();
        }
      }
      asked = idle.erase(asked);
    }
  }
}

void Server::Work() {
  const Result<Handler> handler = make_handler_();
  while (true) {
    Asked asked;
    {
      std::unique_lock lock(mutex_);
      comes_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      asked = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Answer(std::move(asked), handler);
  }
}

void Server::Answer(Asked asked, const Result<Handler>& handler) {
  Response response;
  bool head_only = false;
  const size_t end = asked.head.find("\r\n\r\n");
  if (asked.late) {
    response = {408, "text/plain", "the request did not come whole in time\n"};
  } else if (end != std::string::npos && end + 4 <= kMostHead) {
    ParsedHead parsed = ParseHead(asked.head);
    head_only = parsed.head_only;
    if (parsed.refusal) {
      response = {parsed.refusal->status, "text/plain", parsed.refusal->why + "\n"};
    } else if (!handler) {
      response = {500, "text/plain", handler.error().message + "\n"};
    } else {
      response = (*handler)(parsed.request);
    }
  } else {
    response = {431, "text/plain", "a request of more than 8 KiB\n"};
  }
  std::string out = Head(response);
  if (!head_only) out += response.body;
  ++answered_;
  (void)asked.stream.Write({reinterpret_cast<const uint8_t*>(out.data()), out.size()},
                           HostNow() + options_.write_deadline);
}

}  // namespace handhold::viewer
