/// A strict reader of XML-shaped pages, for tests: every element closed in order, every attribute
/// quoted, every & an entity. Shares nothing with the writer.
#pragma once

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace handhold::report::testing {

struct Reading {
  std::string error;                ///< empty: well-formed
  std::string text;                 ///< all text outside <style>, entities resolved
  std::map<std::string, int> tags;  ///< how often each was opened
  std::multiset<std::string> ids;
  std::vector<std::string> links;    ///< values of href and src
  std::vector<std::string> unnamed;  ///< elements with role=img and no aria-label
};

namespace detail {

inline std::string Resolve(std::string_view s, std::string* error) {
  static const std::map<std::string, char, std::less<>> entities = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"#39", '\''}};
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '&') {
      out += s[i];
      continue;
    }
    const size_t end = s.find(';', i);
    const auto entity =
        end == s.npos ? entities.end() : entities.find(s.substr(i + 1, end - i - 1));
    if (entity == entities.end()) {
      *error = "a bare & before '" + std::string(s.substr(i, 20)) + "'";
      return out;
    }
    out += entity->second;
    i = end;
  }
  return out;
}

}  // namespace detail

inline Reading Read(std::string_view page) {
  Reading r;
  std::vector<std::string> open;
  size_t i = 0;
  const std::string_view doctype = "<!DOCTYPE html>";
  if (page.substr(0, doctype.size()) == doctype) i = doctype.size();
  while (i < page.size() && r.error.empty()) {
    if (page[i] != '<') {
      const size_t end = std::min(page.find('<', i), page.size());
      const std::string_view raw = page.substr(i, end - i);
      if (open.empty() || open.back() != "style") r.text += detail::Resolve(raw, &r.error) + " ";
      if (raw.find('>') != raw.npos && (open.empty() || open.back() != "style"))
        r.error = "a bare >";
      i = end;
      continue;
    }
    const size_t end = page.find('>', i);
    if (end == page.npos) return r.error = "an element without end", r;
    std::string_view tag = page.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) {
        return r.error = "</" + std::string(tag.substr(1)) + "> closes <" +
                         (open.empty() ? "" : open.back()) + ">",
               r;
      }
      open.pop_back();
      continue;
    }
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    const std::string name(tag.substr(0, tag.find(' ')));
    ++r.tags[name];
    std::string_view rest = tag.substr(std::min(name.size(), tag.size()));
    bool image = false, labelled = false;
    while (!rest.empty()) {
      const size_t equals = rest.find("=\"");
      const size_t quote = equals == rest.npos ? rest.npos : rest.find('"', equals + 2);
      if (rest.front() != ' ' || quote == rest.npos)
        return r.error = "attributes of <" + name + ">: " + std::string(rest.substr(0, 40)), r;
      const std::string key(rest.substr(1, equals - 1));
      const std::string value =
          detail::Resolve(rest.substr(equals + 2, quote - equals - 2), &r.error);
      if (key == "id") r.ids.insert(value);
      if (key == "href" || key == "src") r.links.push_back(value);
      if (key.starts_with("on")) r.error = "a handler: " + key;
      image |= key == "role" && value == "img";
      labelled |= key == "aria-label" && !value.empty();
      rest = rest.substr(quote + 1);
    }
    if (image && !labelled) r.unnamed.push_back(name);
    if (!empty) open.push_back(name);
  }
  if (r.error.empty() && !open.empty()) r.error = "<" + open.back() + "> is not closed";
  return r;
}

}  // namespace handhold::report::testing
