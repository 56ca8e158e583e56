# With BUNDLE=ON (preset bundle, used by scripts/bundle): `cmake --install BUILD --component bundle --prefix FOLDER` puts
# the programs into bin/ and the libraries that they need into lib/, except those that every machine with Python's torch
# has: the C and C++ libraries, torch's own and those of NVIDIA's that torch needs itself. nvJPEG isn't one of them.
add_executable(limits scripts/limits.cpp)  # for scripts/doctor, where there may be no compiler
target_link_libraries(limits base)
set(bundled run_matrix make_dataset train_slice limits)
if(BUILD_CUDA)
  list(APPEND bundled train_slice_cuda)
  list(APPEND bundled bench_micro_cuda gpu_tests)  # for scripts/check_gpu
endif()
foreach(program ${bundled})
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)  # DT_RPATH, which also applies to libraries of libraries
endforeach()
set_target_properties(${bundled} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
file(GLOB nvidia_folders ${TORCH_LIBRARY_DIR}/../../nvidia/*/lib)
install(TARGETS ${bundled} RUNTIME_DEPENDENCY_SET bundled_libraries DESTINATION bin COMPONENT bundle)
install(RUNTIME_DEPENDENCY_SET bundled_libraries DESTINATION lib COMPONENT bundle
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|stdc\\+\\+|gcc_s)\\.so"
                            "^lib(torch|c10|gomp|shm|cu(da|dnn|blas|fft|rand|solver|sparse|pti|file)|nv(rtc|JitLink|shmem)|nccl)"
        DIRECTORIES ${TORCH_LIBRARY_DIR} ${nvidia_folders})
foreach(file version.py build-version)  # of the wheel, of LibTorch's archive: with what follows the number, e.g. +cu130
  if(EXISTS ${TORCH_LIBRARY_DIR}/../${file})
    file(READ ${TORCH_LIBRARY_DIR}/../${file} text)
    string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+([+][a-z0-9]+)?" bundled_version "${text}")
    break()
  endif()
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/libtorch_version "${bundled_version}\n")
install(FILES ${CMAKE_BINARY_DIR}/libtorch_version docs/bundle.md DESTINATION . COMPONENT bundle)
install(DIRECTORY tests/golden/pixels DESTINATION tests/golden COMPONENT bundle)
install(PROGRAMS scripts/doctor scripts/check_gpu DESTINATION scripts COMPONENT bundle)
install(FILES scripts/machine.sh scripts/packages.sh scripts/venv.sh scripts/bundled_torch.sh scripts/gpu_figures.py
        DESTINATION scripts COMPONENT bundle)
install(PROGRAMS scripts/bundled_run_matrix DESTINATION . COMPONENT bundle RENAME run_matrix)
