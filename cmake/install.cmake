# `cmake --install build/release --prefix FOLDER` puts the programs into FOLDER/bin and beside it what they read: FOLDER can
# be moved as a whole. LibTorch stays where it was found; runs go to FOLDER/results unless RUN_MATRIX_RESULTS names another.
# The bundle (bundle.cmake) has the same files, and LibTorch's libraries from elsewhere.
if(BUNDLE)
  set(installed_as bundle)
else()
  set(installed_as Unspecified)
  foreach(program run_matrix make_dataset train_slice train_slice_cuda bench_micro bench_micro_cuda)
    if(TARGET ${program})  # not TARGETS, which would take away where LibTorch and Arrow were found
      install(PROGRAMS $<TARGET_FILE:${program}> DESTINATION bin)
    endif()
  endforeach()
  install(FILES harness/nightly/parquet_history.py harness/nightly/change_points.py DESTINATION harness/nightly)
endif()
foreach(preloaded listen_address list_opens)
  if(TARGET ${preloaded})
    install(TARGETS ${preloaded} LIBRARY DESTINATION bin COMPONENT ${installed_as})
  endif()
endforeach()
install(DIRECTORY configs plots DESTINATION . COMPONENT ${installed_as})
install(DIRECTORY bench/twin bench/probe DESTINATION bench COMPONENT ${installed_as} USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE)
install(DIRECTORY bench/loading/external DESTINATION bench/loading COMPONENT ${installed_as} PATTERN __pycache__ EXCLUDE)
