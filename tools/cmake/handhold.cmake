# Helpers every CMakeLists.txt of the project uses.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

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

# handhold_pinocchio(): the target pinocchio::pinocchio_default (Pinocchio 4 from PyPI), for benches only, in an
# executable of its own: its libraries are built for 16-byte alignment, so any -mavx or -march flag aborts.
function(handhold_pinocchio)
  list(PREPEND CMAKE_PREFIX_PATH "${HANDHOLD_PREFIX}/oracles/python/pinocchio")
  find_package(pinocchio 4.1 CONFIG REQUIRED)
endfunction()

# -ffp-contract=off: the same source gives the same numbers with and without FMA units.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)

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
  if(M_HEADERS)
    target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${M_HEADERS})
  endif()
endfunction()

# house_test(rotation_test.cc [LINK target ...] [LABELS live ...] [DATA path ...] [ENV NAME=value ...])
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
  target_compile_definitions(${target} PRIVATE
    HANDHOLD_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HANDHOLD_SHARED_DATA_DIR="${PROJECT_SOURCE_DIR}/../shared/data"
    HANDHOLD_PREFIX="${HANDHOLD_PREFIX}")
  add_test(NAME ${name} COMMAND ${target})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} FAIL_REGULAR_EXPRESSION "Running 0 tests")
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}")
  if(NOT T_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "unit")
  endif()
  if(T_ENV)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${T_ENV}")
  endif()
  set_property(GLOBAL APPEND PROPERTY HANDHOLD_REGISTERED_TESTS "${rel}")
endfunction()

# Configure fails when a *_test.cc on disk is not registered by house_test.
function(handhold_check_test_registration)
  get_property(registered GLOBAL PROPERTY HANDHOLD_REGISTERED_TESTS)
  file(GLOB_RECURSE on_disk RELATIVE "${PROJECT_SOURCE_DIR}/tests" CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/tests/*_test.cc")
  foreach(f IN LISTS on_disk)
    if(NOT f IN_LIST registered)
      message(FATAL_ERROR "tests/${f} is not registered: add house_test() for it in its folder's CMakeLists.txt")
    endif()
  endforeach()
endfunction()
