# Helpers every CMakeLists.txt of the project uses.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)
include(registration)

# What tools/setup built and fetched, under stable names (see the head of tools/setup).
list(GET CMAKE_PREFIX_PATH 0 HANDHOLD_PREFIX)

# handhold_mujoco(): the target mujoco::mujoco (MuJoCo 4 from PyPI), for tests and benches only.
function(handhold_mujoco)
  if(TARGET mujoco::mujoco)
    return()
  endif()
  set(home "${HANDHOLD_PREFIX}/oracles/python/mujoco")
  if(NOT EXISTS "${home}/libmujoco.so.4.0.0")
    message(FATAL_ERROR "no ${home}/libmujoco.so.4.0.0: run tools/setup")
  endif()
  add_library(mujoco::mujoco SHARED IMPORTED GLOBAL)
  set_target_properties(mujoco::mujoco PROPERTIES IMPORTED_LOCATION "${home}/libmujoco.so.4.0.0"
    INTERFACE_INCLUDE_DIRECTORIES "${home}/include")
endfunction()

# handhold_pinocchio(): the target pinocchio::pinocchio_default (Pinocchio 4 from PyPI) where there is one, for benches only, in an
# executable of its own: its libraries are built for 16-byte alignment, so any -mavx or -march flag aborts.
function(handhold_pinocchio)
  list(PREPEND CMAKE_PREFIX_PATH "${HANDHOLD_PREFIX}/oracles/python/pinocchio")
  find_package(pinocchio 4.1 CONFIG QUIET)
endfunction()

# -ffp-contract=off: the same source gives the same numbers with and without FMA units.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
# File names in messages and debug information are relative to the root, whether ccache (CCACHE_BASEDIR in the presets)
# has made the compiler's arguments relative or not: clones share the compiler cache and read the same.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" "-ffile-prefix-map=../../=")

# handhold_module(database/base HEADERS a.h SOURCES a.cc [PUBLIC dep ...] [PRIVATE dep ...])
# One library target per module, named by its path with '_' for '/': database_base. A module without sources is INTERFACE.
function(handhold_module path)
  cmake_parse_arguments(M "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "/" "_" target "${path}")
  if(M_SOURCES)
    add_library(${target} STATIC ${M_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PUBLIC ${M_PUBLIC} PRIVATE ${M_PRIVATE})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
    target_link_libraries(${target} INTERFACE ${M_PUBLIC})
  endif()
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
  set_property(GLOBAL APPEND PROPERTY HANDHOLD_MODULES ${target})
  if(M_HEADERS)
    target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${M_HEADERS})
  endif()
endfunction()

# house_test(rotation_test.cc [LINK target ...] [LABELS live|chain|fault|asan|tsan ...] [SOURCES more.cc ...]
#            [ENV NAME=value ...] [TIMEOUT seconds])
# Derives target, ctest name and command from the path, so that a test cannot run another's binary:
# tests/database/geometry/rotation_test.cc -> ctest name database/geometry/rotation.
function(house_test file)
  cmake_parse_arguments(T "" "TIMEOUT" "LINK;LABELS;ENV;SOURCES" ${ARGN})
  file(RELATIVE_PATH rel "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  string(REGEX REPLACE "_test\\.cc$" "" name "${rel}")
  string(REPLACE "/" "_" target "test_${name}")
  add_executable(${target} ${file} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE ${T_LINK} GTest::gmock_main)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${target} PRIVATE HANDHOLD_PREFIX="${HANDHOLD_PREFIX}")
  # The clone's own path is defined only where it may be used, so that clones share the other objects through ccache.
  file(STRINGS "${file}" uses_paths REGEX "HANDHOLD_(SOURCE|SHARED_DATA)_DIR|tests/support/" LIMIT_COUNT 1)
  if(uses_paths OR T_SOURCES)
    target_compile_definitions(${target} PRIVATE
      HANDHOLD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HANDHOLD_SHARED_DATA_DIR="${PROJECT_SOURCE_DIR}/../shared/data")
  endif()
  add_test(NAME ${name} COMMAND ${target})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} FAIL_REGULAR_EXPRESSION "Running 0 tests")
  # Whatever does not need real time or a network is a unit test too: it also runs in `dev`.
  set(labels ${T_LABELS})
  if(NOT "live" IN_LIST labels AND NOT "chain" IN_LIST labels AND NOT "fault" IN_LIST labels)
    list(PREPEND labels unit)
  endif()
  list(REMOVE_DUPLICATES labels)
  foreach(label IN LISTS labels)
    if(NOT label MATCHES "^(unit|live|chain|fault|asan|tsan)$")
      message(FATAL_ERROR "house_test(${rel}): no label '${label}'; there are unit, live, chain, fault, asan, tsan")
    endif()
    set_property(GLOBAL APPEND PROPERTY HANDHOLD_TESTS_${label} ${target})
  endforeach()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
  if(T_ENV)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${T_ENV}")
  endif()
  set_property(GLOBAL APPEND PROPERTY HANDHOLD_REGISTERED_TESTS "${rel}")
endfunction()

# Target modules: every library of the project and the program, tested or not.
function(handhold_module_target)
  get_property(targets GLOBAL PROPERTY HANDHOLD_MODULES)
  add_custom_target(modules)
  add_dependencies(modules ${targets})
  if(TARGET handhold)
    add_dependencies(modules handhold)
  endif()
endfunction()

# Targets tests_unit, tests_live, tests_chain, tests_fault, tests_asan, tests_tsan: what tools/test builds in each preset.
function(handhold_test_targets)
  foreach(label unit live chain fault asan tsan)
    get_property(targets GLOBAL PROPERTY HANDHOLD_TESTS_${label})
    add_custom_target(tests_${label})
    if(targets)
      add_dependencies(tests_${label} ${targets})
    endif()
    # Tests with these labels run the program itself.
    if(TARGET handhold AND label MATCHES "live|chain|fault")
      add_dependencies(tests_${label} handhold)
    endif()
  endforeach()
endfunction()
