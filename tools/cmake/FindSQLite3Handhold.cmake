# find_package(SQLite3Handhold): a SQLite that is new enough, as SQLite::SQLite3 with SQLite3Handhold_VERSION.
#
# Older releases can corrupt a WAL database, so anything before 3.51.3 is refused. A system SQLite is taken when it is
# new enough; otherwise the static one that tools/setup builds under the prefix of the presets.
set(_minimum 3.51.3)
if(SQLite3Handhold_FIND_VERSION VERSION_GREATER _minimum)
  set(_minimum ${SQLite3Handhold_FIND_VERSION})
endif()

function(_sqlite3_handhold_version header out)
  set(${out} "" PARENT_SCOPE)
  if(EXISTS "${header}")
    file(STRINGS "${header}" line REGEX "^#define SQLITE_VERSION[ \t]+\"" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" version "${line}")
    set(${out} "${version}" PARENT_SCOPE)
  endif()
endfunction()

set(SQLite3Handhold_VERSION "")
find_path(_sqlite3_system_include sqlite3.h PATHS /usr/local/include /usr/include NO_DEFAULT_PATH NO_CACHE)
_sqlite3_handhold_version("${_sqlite3_system_include}/sqlite3.h" _version)
if(_version AND NOT _version VERSION_LESS _minimum)
  find_library(_sqlite3_library NAMES sqlite3 NO_CACHE)
  set(_sqlite3_include "${_sqlite3_system_include}")
else()
  find_path(_sqlite3_include sqlite3.h PATHS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES sqlite3/include NO_DEFAULT_PATH NO_CACHE)
  find_library(_sqlite3_library NAMES libsqlite3.a PATHS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES sqlite3/lib
               NO_DEFAULT_PATH NO_CACHE)
  _sqlite3_handhold_version("${_sqlite3_include}/sqlite3.h" _version)
endif()
if(_version AND NOT _version VERSION_LESS _minimum)
  set(SQLite3Handhold_VERSION "${_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SQLite3Handhold
  REQUIRED_VARS _sqlite3_library _sqlite3_include SQLite3Handhold_VERSION
  VERSION_VAR SQLite3Handhold_VERSION
  REASON_FAILURE_MESSAGE "needs SQLite >= ${_minimum}: run tools/setup, and configure with a preset")

if(SQLite3Handhold_FOUND AND NOT TARGET SQLite::SQLite3)
  find_package(Threads REQUIRED)
  add_library(SQLite::SQLite3 UNKNOWN IMPORTED)
  set_target_properties(SQLite::SQLite3 PROPERTIES
    IMPORTED_LOCATION "${_sqlite3_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${_sqlite3_include}"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
