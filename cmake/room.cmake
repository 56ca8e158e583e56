# room(NAME LINKS...): the folder's *.cpp as a static library, which may include what it links (tests/rooms_test.py).
# Its headers are precompiled with those of `contract`: half of a file's time went into them.
function(room name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  target_precompile_headers(${name} REUSE_FROM contract)
endfunction()
