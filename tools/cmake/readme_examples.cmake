# The ```cpp blocks of README files as source files, so that examples are compiled. tests/house/README.md says how to write one.
#
# handhold_readme_examples(ROOT README OUT_DIR SOURCES LABELS)
#   appends to SOURCES one generated file for each block of ROOT/README, and to LABELS its "README:line".
# As a script (its canary, tests/house/readme_test.cc):
#   cmake -D ROOT=... -D README=... -D OUT_DIR=... -P readme_examples.cmake

cmake_minimum_required(VERSION 3.25)

# Text from `begin` to before `end` of the variable `text`, which may hold any character: no CMake lists here.
function(_handhold_slice text begin end out)
  math(EXPR length "${end} - ${begin}")
  string(SUBSTRING "${${text}}" ${begin} ${length} slice)
  set(${out} "${slice}" PARENT_SCOPE)
endfunction()

function(handhold_readme_examples root readme out_dir sources labels)
  file(READ "${root}/${readme}" page)
  string(PREPEND page "\n")
  set(line 0)          # newlines before `page`
  set(number 0)
  set(made ${${sources}})
  set(named ${${labels}})
  while(TRUE)
    string(FIND "${page}" "\n```cpp\n" open)
    if(open EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${page}" 0 ${open} before)
    math(EXPR begin "${open} + 8")
    string(SUBSTRING "${page}" ${begin} -1 rest)
    string(FIND "${rest}" "\n```\n" close)
    if(close EQUAL -1)
      message(FATAL_ERROR "${readme}: a \`\`\`cpp block without an end")
    endif()
    _handhold_slice(rest 0 ${close} code)
    # What the page does not show: a comment <!-- example ... --> that ends just above the block.
    set(hidden "")
    if(before MATCHES "-->$")
      string(FIND "${before}" "<!-- example\n" comment REVERSE)
      if(NOT comment EQUAL -1)
        math(EXPR from "${comment} + 13")
        string(SUBSTRING "${before}" ${from} -1 hidden)
        string(REGEX REPLACE "-->$" "" hidden "${hidden}")
      endif()
    endif()
    string(REGEX REPLACE "[^\n]" "" skipped "${before}")
    string(LENGTH "${skipped}" skipped)
    math(EXPR first "${line} + ${skipped} + 2")   # the line of the README on which the code begins
    math(EXPR number "${number} + 1")

    set(includes "#include \"database/base/result.h\"\n")
    set(given "")
    set(using "")
    set(file_scope FALSE)
    string(REGEX MATCHALL "#(include|define) [^\n]*" lines "${hidden}\n${code}")
    foreach(include IN LISTS lines)
      string(APPEND includes "${include}\n")
    endforeach()
    if(hidden MATCHES "(^|\n)given ([^\n]*)")
      set(given "${CMAKE_MATCH_2}")
    endif()
    if(hidden MATCHES "(^|\n)using namespace ([^\n;]*)")
      set(using "using namespace ${CMAKE_MATCH_2};\n")
    endif()
    if(hidden MATCHES "(^|\n)file scope")
      set(file_scope TRUE)
    endif()
    string(REGEX REPLACE "#include[^\n]*" "" body "${code}")   # the line stays, so that line numbers hold
    set(content "// Made from ${readme} by tools/cmake/readme_examples.cmake.\n${includes}")
    set(place "#line ${first} \"${readme}\"\n")
    if(file_scope)
      string(APPEND content "${using}${place}${body}\n")
    else()
      string(APPEND content
        "namespace handhold {\nnamespace {\n"
        "// What stands for the reader's own code.\n"
        "template <typename... T>\n[[maybe_unused]] void Use(const T&...) {}\n"
        "template <typename... T>\n[[maybe_unused]] void Print(const T&...) {}\n"
        "${using}[[maybe_unused]] Status Example(${given}) {\n${place}${body}\n  return {};\n}\n"
        "}  // namespace\n}  // namespace handhold\n")
    endif()
    string(REGEX REPLACE "[/.]" "_" name "${readme}")
    set(source "${out_dir}/${name}_${number}.cc")
    set(old "")
    if(EXISTS "${source}")
      file(READ "${source}" old)
    endif()
    if(NOT old STREQUAL content)
      file(WRITE "${source}" "${content}")
    endif()
    list(APPEND made "${source}")
    list(APPEND named "${readme}:${first}")

    string(REGEX REPLACE "[^\n]" "" inside "${code}")
    string(LENGTH "${inside}" inside)
    math(EXPR line "${first} + ${inside} + 1")   # of the closing fence
    math(EXPR after "${close} + 4")
    string(SUBSTRING "${rest}" ${after} -1 page)   # begins with the newline after the closing fence
  endwhile()
  set(${sources} "${made}" PARENT_SCOPE)
  set(${labels} "${named}" PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  handhold_readme_examples("${ROOT}" "${README}" "${OUT_DIR}" _sources _labels)
  message("${_sources}")
endif()
