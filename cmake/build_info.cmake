# Compiler, flags and source revision for the records; the revision is updated at each build.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
set(BUILD_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type_upper}}")
string(STRIP "${BUILD_FLAGS}" BUILD_FLAGS)
configure_file(${CMAKE_SOURCE_DIR}/cmake/build_info.h.in ${CMAKE_BINARY_DIR}/generated/build_info.h @ONLY)
add_custom_target(revision
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${CMAKE_BINARY_DIR}/generated/revision.h
          -P ${CMAKE_SOURCE_DIR}/cmake/revision.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/revision.h)
