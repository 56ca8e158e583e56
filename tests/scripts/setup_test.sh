#!/usr/bin/env bash
# unit: the set-up scripts and the start of a bundle, in a sandbox with a tiny project, own package tools and a home-made
# wheel: no network.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
unset CMAKE_PREFIX_PATH SKIP_PACKAGES OS_RELEASE
failures=0

check() {  # WHAT CONDITION...
  if "${@:2}"; then
    echo "ok: $1"
  else
    echo "FAILED: $1 (${*:2})"
    [[ ! -f $sandbox/output ]] || sed 's/^/    | /' "$sandbox/output"
    failures=$((failures + 1))
  fi
}
runs() { "$@" >"$sandbox/output" 2>&1 </dev/null; }
exits() { local want=$1 got=0; shift; runs "$@" || got=$?; [[ $got == "$want" ]]; }
says() { grep -qF -- "$1" "$sandbox/output"; }
silent() { [[ ! -s $sandbox/output ]]; }
not() { ! "$@"; }

# --- a project of three tiny programs, and tools that only pretend ---
project=$sandbox/project
mkdir -p "$project" "$sandbox/tools" "$sandbox/wheels" "$sandbox/libtorch/lib"
cp -r "$source_dir/run_matrix" "$source_dir/run_tests" "$source_dir/scripts" "$source_dir/CMakePresets.json" "$project"
mkdir -p "$project/harness/base"
cp "$source_dir"/harness/base/process_limits.{h,cpp} "$project/harness/base"
touch "$sandbox/libtorch/lib/libtorch_cpu.so"
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(sandbox LANGUAGES CXX)
option(BUILD_TRAINING "" ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
foreach(program run_matrix train_slice make_dataset)
  add_executable(${program} main.cpp)
endforeach()
if(BUILD_TESTING)
  enable_testing()
  add_test(NAME tiny_unit COMMAND run_matrix exit 0)
  add_test(NAME tiny_slow COMMAND run_matrix exit 0)
  set_tests_properties(tiny_unit PROPERTIES LABELS unit)
  set_tests_properties(tiny_slow PROPERTIES LABELS slow)
endif()
END
cat >"$project/main.cpp" <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
int main(int count, char** arguments) {
  if (count == 3 && !std::strcmp(arguments[1], "exit")) return std::atoi(arguments[2]);
  for (int i = 1; i < count; ++i) std::printf("<%s>", arguments[i]);
}
END
tool() { printf '#!/bin/sh\n%s\n' "$2" >"$sandbox/tools/$1"; chmod +x "$sandbox/tools/$1"; }
tool apt-get "echo \"apt-get \$*\" >>'$sandbox/apt_calls'; case \$1 in update) touch '$sandbox/updated' ;; *) test -e '$sandbox/updated' ;; esac"
tool dpkg-query 'echo "cmake installed"'
tool sudo 'exit 1'
tool id 'echo 1000'
with_tools() { env PATH="$sandbox/tools:$PATH" "$@"; }
system() { printf 'PRETTY_NAME="%s %s"\nID=%s\nVERSION_ID="%s"\n' "$1" "$2" "$1" "$2" >"$sandbox/os-release"; }
export OS_RELEASE=$sandbox/os-release
cd "$sandbox"

# --- systems and packages ---
for name in 'debian 12' 'ubuntu 22.04' 'ubuntu 24.04'; do
  read -r id version <<<"$name"
  system "$id" "$version"
  check "$name is supported; without root it stops" exits 2 with_tools project/run_matrix
  check "$name: with the exact line" says 'apt-get install --yes --no-install-recommends g++ ninja-build ccache git'
  check "$name: without what is installed" not says ' cmake '
done
check "test packages only for tests" not says libgtest-dev
check "run_tests stops likewise" exits 2 with_tools project/run_tests
check "and names the test packages" says libgtest-dev
tool apt-cache 'exit 0'
check "an optional package" exits 2 with_tools project/run_tests
check "is named where the system has it" says ' chromium-headless-shell'
tool apt-cache 'exit 100'
check "and elsewhere" exits 2 with_tools project/run_tests
check "is no matter" not says chromium-headless-shell
for name in 'fedora 40' 'debian 11' 'ubuntu 20.04'; do
  read -r id version <<<"$name"
  system "$id" "$version"
  check "$name is refused" exits 2 with_tools project/run_matrix
  check "$name: names it" says "$id $version"
  check "$name: says how to go on" says 'SKIP_PACKAGES=1'
done
system debian 12
tool uname 'echo riscv64'
check "another processor is refused" exits 2 with_tools project/run_matrix
check "and named" says riscv64
rm tools/uname
tool id 'echo 0'
check "root installs, and stops at the first failing download" exits 2 \
  with_tools env PIP_NO_INDEX=1 PIP_FIND_LINKS="$sandbox/wheels" project/run_matrix
check "each command is shown" says '+ env DEBIAN_FRONTEND=noninteractive apt-get install'
check "package lists are fetched once" [ "$(grep -c '^apt-get update' apt_calls)" == 1 ]
check "and the install is the last call" grep -q '^apt-get install' <(tail -n 1 apt_calls)
check "pip's failure is one clear line" says 'set-up: pip could not download or install torch==2.11.0'
check "and is the last one, after what was compiled meanwhile" grep -q 'pip could not download' <(tail -n 2 output)
check "run_matrix needs no LibTorch" test -x project/build/release/run_matrix -a ! -e project/build/release/train_slice
tool nvcc 'echo Cuda compilation tools, release 13.0, V13.0.48'
tool nvidia-smi 'echo 550.54.15'
check "an old driver ends the set-up before anything is installed" exits 2 with_tools project/run_matrix
check "its version is named" says 'driver 550.54.15 is too old'
check "and three ways out" says 'SKIP_CUDA=1'
tool nvidia-smi 'echo 580.65.06'
check "a driver that fits is no matter" exits 2 with_tools env PIP_NO_INDEX=1 PIP_FIND_LINKS="$sandbox/wheels" project/run_matrix
check "and the set-up goes on to its next failing download" says 'pip could not download or install torch==2.11.0'
tool nvcc 'echo Cuda compilation tools, release 12.4, V12.4.99'
check "the compiler of another CUDA than the wheel's ends the set-up" exits 2 with_tools project/run_matrix
check "both are named" says "is of CUDA 12, and LibTorch's wheel is for CUDA 13"
rm tools/nvcc tools/nvidia-smi
rm updated
tool apt-get 'exit 100'
check "a failing apt-get ends the set-up" exits 2 with_tools project/run_matrix
check "with a next step" says 'next: check the network'

# --- Python environment, build, second call ---
export SKIP_PACKAGES=1 PIP_NO_INDEX=1 PIP_FIND_LINKS=$sandbox/wheels CMAKE_PREFIX_PATH=/nowhere:$sandbox/libtorch
python3 - "$sandbox/wheels" "$source_dir/scripts/requirements.txt" <<'END'
import re, sys, zipfile
folder, requirements = sys.argv[1:]
for name, version in re.findall(r"^(vl-convert-python|pyarrow)==(\S+)", open(requirements).read(), re.M):
    package = name.replace("-", "_")
    info = f"{package}-{version}.dist-info"
    with zipfile.ZipFile(f"{folder}/{package}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{package}/__init__.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
END
listing() { find project -printf '%p %T@ %s\n' | sort; }
before=$(listing)
check "--no-install with something missing" exits 2 project/run_matrix --no-install
check "--no-install names the build command" says 'cmake --preset release && cmake --build build/release'
check "--no-install changes nothing" [ "$(listing)" == "$before" ]
check "an interrupted environment is made anew, then all is built" runs project/run_matrix 'a  b' --flag
check "the interruption is noticed" says 'was interrupted'
check "a LibTorch in CMAKE_PREFIX_PATH wins" not says torch==
check "arguments arrive as they are" says '<a  b><--flag>'
started=$(date +%s%N)
check "the second call works" runs project/run_matrix
echo "    second call: $((($(date +%s%N) - started) / 1000000)) ms"
check "and is silent" silent
check "--no-install runs what is built" runs project/run_matrix --no-install
check "the program's exit status is kept" exits 130 project/run_matrix exit 130
check "tests: built and run" runs project/run_tests
check "tests: both run" says '0 tests failed out of 2'
check "tests: by label" runs project/run_tests slow
check "tests: only that one" says '0 tests failed out of 1'
check "tests: unknown label" exits 2 project/run_tests slowly
check "tests: nothing chosen is an error" not runs project/run_tests -R nothing
check "the matrix keeps the build that has tests" runs project/run_matrix
check "without a word" silent

# --- ended at any moment ---
gone() {  # PROCESS_GROUP, zombies apart
  local _
  for _ in {1..50}; do
    if ps -e -o pgid=,stat= | awk -v group="$1" '$1 == group && $2 !~ /^Z/ { bad = 1 } END { exit bad }'; then return; fi
    sleep 0.1
  done
  return 1
}
rm -rf project/.venv project/build
for end in 'KILL 0.2' 'TERM 0.7' 'KILL 1.2' 'HUP 1.7' 'KILL 2.5' 'TERM 3.5' 'KILL 5'; do
  read -r signal after_s <<<"$end"
  setsid project/run_matrix >"$sandbox/output" 2>&1 </dev/null &
  group=$!
  sleep "$after_s"
  kill "-$signal" -- "-$group" 2>/dev/null || true  # it may have ended
  wait "$group" || true
  check "ended by SIG$signal after $after_s s, nothing goes on" gone "$group"
done
check "the next call completes the set-up" runs project/run_matrix 'a  b'
check "and runs" says '<a  b>'
check "after a file reached the limit of its size" exits 2 \
  bash -c 'rm -rf project/.venv project/build && ulimit -f 64 && exec project/run_matrix'
check "the next call completes it, too" runs project/run_matrix 'c'
check "and runs" says '<c>'

# --- what changes under it ---
mv project moved
check "a moved checkout is built anew" runs moved/run_matrix moved
check "and says so" says 'was configured for another folder'
check "and runs" says '<moved>'
mkdir -p other/lib && touch other/lib/libtorch_cpu.so
check "another LibTorch means another configuration" runs env CMAKE_PREFIX_PATH="$sandbox/other" moved/run_matrix
check "and says so" says 'another folder or with other settings'
echo 'int broken' >>moved/main.cpp
(moved/run_matrix >first 2>&1 || echo "exit $?" >>first) &
(moved/run_matrix >second 2>&1 || echo "exit $?" >>second) &
wait
check "broken source: exit 2, also for two at once" grep -q 'exit 2' first
check "broken source: the compiler is heard" grep -q 'error:' first
check "two at once: the other one as well" grep -q 'exit 2' second
check "two at once: one waits" grep -q 'waiting' first second
sed -i '/int broken/d' moved/main.cpp
check "repaired source" runs moved/run_matrix
echo 'message(FATAL_ERROR "no such thing")' >>moved/CMakeLists.txt
check "a failing configuration" exits 2 moved/run_matrix
check "is shown" says 'no such thing'

# --- doctor ---
check "doctor works with nothing installed, from anywhere" runs env -i PATH=/usr/bin:/bin moved/run_matrix doctor
for word in 'system ' cores '16-bit' memory /dev/shm disk GPU driver CUDA MPI namespaces FUSE compiler CMake LibTorch PyTorch Arrow plot data; do
  check "doctor: $word" says "$word"
done
mv moved/.venv kept_venv
mkdir -p moved/.venv/bin
printf '#!/bin/sh\nprintf "Traceback:\\nImportError: libcufile.so.0: none\\n" >&2; exit 1\n' >moved/.venv/bin/python3
chmod +x moved/.venv/bin/python3
check "doctor where LibTorch is all that .venv has of torch" runs env -i PATH=/usr/bin:/bin moved/run_matrix doctor
check "says why Python can't import it" says 'missing  ImportError: libcufile.so.0: none'
check "and what to do" says 'pip install torch in an environment of your own'
rm -r moved/.venv
mv kept_venv moved/.venv

mkdir -p limited/proc/self limited/sys/fs/cgroup/a/b
echo 'MemTotal: 16777216 kB' >limited/proc/meminfo
echo 0::/a/b >limited/proc/self/cgroup
echo '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw' >limited/proc/self/mountinfo
echo '50000 100000' >limited/sys/fs/cgroup/a/cpu.max
echo 536870912 >limited/sys/fs/cgroup/a/b/memory.max
mkdir limited/sys/fs/cgroup/a/b/cpu.max
doctor_there() { runs env -i PATH=/usr/bin:/bin PROBED_ROOT="$sandbox/limited" "$@" moved/run_matrix doctor; }
check "doctor in a group with half a core and 512 MiB" doctor_there
check "names the quota and its group" says "1 of $(getconf _NPROCESSORS_ONLN), limited by the quota of cgroup /a (0.5 cores)"
check "and the memory's" says '0.5 GiB usable'
check "and its group" says 'limited by cgroup /a/b'
check "and a file that can't be read" says "/a/b/cpu.max can't be read"
rm -f moved/build/limits
check "doctor without a compiler" doctor_there CXX=/no/compiler
check "says that quotas are not known" says 'quotas and memory limits of cgroups are not known'
check "and still counts cores" says "$(nproc) of an unknown number"
check "with a compiler again" doctor_there
check "they are" not says 'not known'

mkdir gpus
printf '#!/bin/sh\ncase $1 in *name*) printf "A card, 80 GiB\\nA card, 80 GiB\\n" ;; *) echo 580 ;; esac\n' >gpus/nvidia-smi
chmod +x gpus/nvidia-smi
check "doctor counts GPUs" runs env -i PATH="$PWD/gpus:/usr/bin:/bin" moved/run_matrix doctor
check "says which rows they carry" says '0 and 1, 2 and 5; the others are skipped'
check "says that little was measured on GPUs" says "few figures of this suite were measured on a GPU"

check "doctor --help" runs moved/run_matrix doctor --help
check "says how it is called" says 'usage: ./run_matrix doctor'
check "doctor takes no arguments" exits 2 moved/run_matrix doctor --all

# --- making a bundle, with tools that only pretend ---
mkdir -p "$sandbox/bundling/scripts" "$sandbox/bundled"
cp "$source_dir"/scripts/{bundle,say.sh} "$sandbox/bundling/scripts"
for part in machine venv; do touch "$sandbox/bundling/scripts/$part.sh"; done
echo 'cuda_wanted() { return 1; }' >"$sandbox/bundling/scripts/cuda.sh"
printf '#!/bin/sh\n' >"$sandbox/bundling/scripts/setup"
chmod +x "$sandbox/bundling/scripts/setup"
bundling_tools() {
  tool git 'echo abc'
  for name in objdump readelf; do tool "$name" true; done
  tool cmake 'for word; do [ "$last" = --prefix ] && mkdir -p "$word/bin" "$word/lib" && touch "$word/bin/a" "$word/lib/b"; last=$word; done; true'
  tool xz cat
}
mkdir -p "$sandbox/bundling/build/bundle" "$sandbox/torch"
echo "TORCH_CPU_LIBRARY:FILEPATH=$sandbox/torch/libtorch_cpu.so" >"$sandbox/bundling/build/bundle/CMakeCache.txt"
touch "$sandbox/torch/libtorch_cpu.so"
for ended in git cmake objdump readelf xz; do
  for signal in INT TERM KILL; do
    bundling_tools
    tool "$ended" "kill -$signal 0; sleep 5"
    check "no bundle is made that SIG$signal ends at $ended" not runs setsid env PATH="$sandbox/tools:$PATH" "$sandbox/bundling/scripts/bundle" "$sandbox/bundled"
    check "and there is no archive" test -z "$(ls "$sandbox/bundled")"
    bundling_tools
    check "another try succeeds" runs with_tools "$sandbox/bundling/scripts/bundle" "$sandbox/bundled"
    check "and leaves the archive alone" test "$(ls -A "$sandbox/bundled" "$sandbox/bundling/build/bundle" | sed '/:$/d;/^$/d')" = \
      "run_matrix-abc-$(uname -m).tar.xz"$'\n'CMakeCache.txt
    rm -f "$sandbox"/bundled/*
  done
done
needs() { tool readelf "case \$2 in */bin/*) echo ' (NEEDED) Shared library: [$1]' ;; esac"; }  # LIBRARY: all programs
needs libnvjpeg.so.13
check "a bundle whose programs lack a library fails" exits 2 with_tools "$sandbox/bundling/scripts/bundle" "$sandbox/bundled"
check "and names it" says "programs need libnvjpeg.so.13, which neither the archive nor torch's wheel brings"
for library in libtorch_cpu.so libstdc++.so.6 ld-linux-x86-64.so.2 b; do
  needs "$library"
  check "one that is elsewhere is no lack: $library" runs with_tools "$sandbox/bundling/scripts/bundle" "$sandbox/bundled"
done
tool readelf 'echo " (NEEDED) Shared library: [libcudart.so.13]"'
check "nor one that torch needs itself" runs with_tools "$sandbox/bundling/scripts/bundle" "$sandbox/bundled"
rm "$sandbox"/tools/{git,objdump,readelf,cmake,xz}

# --- what is planned for a machine with a GPU that is lent for minutes ---
check "check_gpu tells its plan without a GPU" runs "$source_dir/scripts/check_gpu" --plan
for call in 1 2 3 4; do
  check "check_gpu tells the plan of call $call" runs "$source_dir/scripts/check_gpu" --plan --call "$call"
  # The last call's later parts are for the time that is left.
  seconds=$(awk -v last="$call" '!(last == 4 && ++n > 2) {sum += $4} END {print sum + 0}' "$sandbox/output")
  check "which takes under eight minutes, $seconds s" test "$seconds" -gt 0 -a "$seconds" -lt 470
done

# --- an unpacked bundle, with a program that prints where it looks for libraries ---
unset CMAKE_PREFIX_PATH
bundle="$sandbox/un packed"
mkdir -p "$bundle/bin" "$bundle/scripts" "$sandbox/site/torch/lib" "$sandbox/site/nvidia/cu13/lib"
cp "$source_dir/scripts/bundled_run_matrix" "$bundle/run_matrix"
cp "$source_dir"/scripts/{doctor,bundled_torch.sh,machine.sh,packages.sh,venv.sh} "$bundle/scripts"
export NVIDIA_DEVICE=$sandbox/nvidiactl
echo 2.11.0+cu130 >"$bundle/libtorch_version"
printf '#!/bin/sh\necho "$LD_LIBRARY_PATH" "$@"; exit 3\n' >"$bundle/bin/run_matrix"
cp "$bundle/bin/run_matrix" "$bundle/bin/make_dataset"
chmod +x "$bundle/bin/run_matrix" "$bundle/bin/make_dataset"
check "a bundle without one of its programs: exit 2" exits 2 "$bundle/run_matrix" --only 0
check "says that the archive brings it" says "bin/train_slice is missing; next: unpack the archive again"
cp "$bundle/bin/run_matrix" "$bundle/bin/train_slice"
touch "$sandbox/site/torch/__init__.py" "$sandbox/site/torch/lib/libtorch_cpu.so"
echo "__version__ = '2.11.0+cu130'" >"$sandbox/site/torch/version.py"
check "a bundle without torch: exit 2" exits 2 env PYTHON=/no/python "$bundle/run_matrix"
check "says what to install" says 'pip install torch==2.11.0, or name the Python'
check "a bundle with torch starts, its exit code is passed on" exits 3 env PYTHONPATH="$sandbox/site" "$bundle/run_matrix" --only 0
check "with the libraries of torch and NVIDIA, and all arguments" says "$sandbox/site/torch/lib:$sandbox/site/nvidia/cu13/lib --only 0"
check "LibTorch in CMAKE_PREFIX_PATH comes first" exits 2 env CMAKE_PREFIX_PATH="$sandbox/libtorch" PYTHONPATH="$sandbox/site" "$bundle/run_matrix"
check "and is refused when its version is unknown" says 'of an unknown version'
check "its doctor names torch" runs env PYTHONPATH="$sandbox/site" "$bundle/run_matrix" doctor
check "and where it is" says "2.11.0+cu130 in $sandbox/site/torch"
check "and that its programs find their libraries" says "every program finds all that it needs"
tool ldd 'printf "\tlibnvjpeg.so.13 => not found\n\tlibm.so.6 => /lib/libm.so.6 (0x1)\n"'
check "its doctor says what programs lack" runs with_tools PYTHONPATH="$sandbox/site" "$bundle/run_matrix" doctor
check "by name" says "libnvjpeg.so.13 of make_dataset, libnvjpeg.so.13 of run_matrix, libnvjpeg.so.13 of train_slice"
rm "$sandbox/tools/ldd"
echo "__version__ = '2.11.0+cpu'" >"$sandbox/site/torch/version.py"
check "torch without CUDA is enough where there is no GPU" exits 3 env PYTHONPATH="$sandbox/site" "$bundle/run_matrix" --only 0
touch "$NVIDIA_DEVICE"
check "and is refused where there is one" exits 2 env PYTHONPATH="$sandbox/site" "$bundle/run_matrix" --only 0
check "both are named: +cpu" says "built for torch 2.11.0+cu130, and $sandbox/site/torch is 2.11.0+cpu; next: pip install torch==2.11.0, the wheel with cu130"
rm "$NVIDIA_DEVICE"
echo "__version__ = '2.11.0+cu126'" >"$sandbox/site/torch/version.py"
check "another CUDA is refused anywhere" exits 2 env PYTHONPATH="$sandbox/site" "$bundle/run_matrix" --only 0
echo "__version__ = '2.11.0+cu130'" >"$sandbox/site/torch/version.py"
echo 2.12.0+cu130 >"$bundle/libtorch_version"
check "another version: exit 2" exits 2 env PYTHONPATH="$sandbox/site" "$bundle/run_matrix"
check "both are named" says "built for torch 2.12.0+cu130, and $sandbox/site/torch is 2.11.0+cu130"

# --- check_gpu in it, with programs that say how many GPUs there are and what they are told ---
echo 2.11.0+cu130 >"$bundle/libtorch_version"
cp "$source_dir"/scripts/{check_gpu,gpu_figures.py} "$bundle/scripts"
tool nvidia-smi 'exit 0'
tool ldd 'exit 0'
printf '#!/bin/sh\necho "{\\"device\\": [{\\"name\\": \\"cuda\\", \\"missing\\": \\"\\", \\"traits\\": {\\"count\\": $GPUS}}]}"\n' >"$bundle/bin/train_slice_cuda"
printf '#!/bin/sh\necho "$@"\n' >"$bundle/bin/bench_micro_cuda"
chmod +x "$bundle/bin/train_slice_cuda" "$bundle/bin/bench_micro_cuda"
collectives_of() { with_tools PYTHONPATH="$sandbox/site" GPUS="$1" "$bundle/scripts/check_gpu" "$sandbox/gpu$1" collectives; }
check "check_gpu skips collectives on one GPU" runs collectives_of 1
check "and says why" says "SKIPPED: collectives between GPUs need two, and this machine has 1"
check "check_gpu measures collectives between GPUs" runs collectives_of 8
check "all of them, over NCCL" grep -q -- "--ranks 8 .*(all_reduce|broadcast|reduce)/nccl/" "$sandbox/gpu8/collectives.txt"

((failures == 0)) || echo "$failures checks FAILED"
exit $((failures > 0))
