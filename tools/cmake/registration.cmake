# That no test is forgotten. On its own so that its canary (tests/house/registration_test.cc) can include it alone.

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
