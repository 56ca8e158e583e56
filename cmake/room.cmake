# compile_quickly(TARGET): -O1, for code that runs before or after what is timed. Optimising took half of its compile time.
# Of -O1, GCC's analyses between functions and of pointers, and its search for free memory, take another eighth.
function(compile_quickly target)
  if(NOT SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fno-ipa-pure-const -fno-ipa-reference -fno-ipa-modref -fno-tree-pta
                                               "SHELL:--param ggc-min-heapsize=2000000")
    endif()
  endif()
endfunction()

# room(NAME LINKS...): a static library of the folder's *.cpp, which may only include headers of the libraries in LINKS
# (tests/scripts/rooms_test.py). Shares the precompiled headers of `contract`, which halve the compile time of a file.
# Headers precompiled at -O1 and used at -O3 ended in an internal error of GCC 12: nothing is compiled at more than theirs.
function(room name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
  target_precompile_headers(${name} REUSE_FROM contract)
  compile_quickly(${name})
endfunction()
