#!/usr/bin/env bash
# tests/clang_test.sh: Clang accepts every warning option of the build. Exit code 77: no clang++.
set -euo pipefail
command -v clang++ >/dev/null || { echo "no clang++ in PATH"; exit 77; }
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(warnings LANGUAGES CXX)
include($source_dir/cmake/warnings.cmake)
add_executable(program program.cpp)
target_compile_options(program PRIVATE \${WARNINGS} -Werror)
END
echo 'int main() {}' >"$folder/program.cpp"
cmake -S "$folder" -B "$folder/build" -DCMAKE_CXX_COMPILER=clang++ >/dev/null
cmake --build "$folder/build"
grep -q 'WARNINGS}' "$source_dir/CMakeLists.txt" || { echo "CMakeLists.txt doesn't use cmake/warnings.cmake"; exit 1; }
