# Configures build/release with a preset and builds it; silent when there is nothing to do.
# shellcheck shell=bash disable=SC2154

cached() { sed -n "s/^$1:[A-Z]*=//p" build/release/CMakeCache.txt; }

build_jobs() {  # forty files with LibTorch's headers take up to 2.1 GB of memory to compile
  local by_memory cores
  read_limits
  by_memory=$((free_memory_mib / 2100)) cores=$usable_cores
  ((by_memory < cores)) && cores=$by_memory
  echo $((cores < 1 ? 1 : cores))
}

# The settings that CMake's cache would keep from an earlier configuration.
configuration() { printf '%s|%s|%s' "${CMAKE_PREFIX_PATH:-}" "${CC:-}" "${CXX:-}"; }

configure() {  # PRESET (release, or ci with tests) CUDA TRAINING (each ON or OFF). Parts that are already configured stay.
  local stamp=build/release/.configured
  if [[ -f build/release/CMakeCache.txt ]] &&
    { ! [[ $(cached CMAKE_HOME_DIRECTORY) -ef . && $(cached CMAKE_GENERATOR) == Ninja ]] ||
      [[ -f $stamp && $(<"$stamp") != "$(configuration)" ]]; }; then
    echo "set-up: build/release was configured for another folder or with other settings; removing it and building again" >&2
    run rm -rf build/release
  fi
  if [[ -f build/release/build.ninja && -f $stamp ]] && [[ $1 != ci || $(cached BUILD_TESTING) == ON ]] &&
    [[ $2 != ON || $(cached BUILD_CUDA) == ON ]]; then
    return
  fi
  local cuda=$2
  [[ ! -f build/release/CMakeCache.txt || $(cached BUILD_CUDA) != ON ]] || cuda=ON
  local options=("-DBUILD_TRAINING=$3")
  [[ $3 == OFF ]] || options+=("-DBUILD_CUDA=$cuda")
  run cmake --preset "$1" "${options[@]}" >&2 ||
    fail "the configuration failed; CMake's message is above" "repair what it names, then repeat"
  [[ $3 == OFF ]] || configuration >"$stamp"
}

# Shows Ninja's lines "[N/M] what" as one changing line on a terminal, otherwise one line per quarter. Other lines,
# messages of the compiler, are shown unchanged.
show_build() {  # COMMAND...: the build command, shown when there is something to do
  local line count shown='' quarter step='' rewrites=''
  [[ ! -t 2 || ${TERM-} == dumb ]] || rewrites=yes
  while IFS= read -r line; do
    if [[ -z $shown ]]; then
      case $line in  # printed at every call
        'ninja: no work to do.' | *'Re-checking globbed directories'* | '[1/'*revision.cmake) continue ;;
      esac
      show "$@"
      shown=yes
    fi
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      count="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
      quarter=$((BASH_REMATCH[1] * 4 / BASH_REMATCH[2]))
      if [[ $rewrites ]]; then
        printf '\r\033[Kbuilding: step %s' "$count" >&2
      elif [[ $quarter != "$step" ]]; then
        printf 'building: step %s\n' "$count" >&2
      fi
      step=$quarter
    else
      [[ -z $rewrites || -z $step ]] || printf '\n' >&2
      step=''
      printf '%s\n' "$line" >&2
    fi
  done
  [[ -z $rewrites || -z $step ]] || printf '\n' >&2
}

build() {  # [TARGET...]: without, all targets
  local jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
  local command=(cmake --build build/release --parallel "$jobs")
  (($# == 0)) || command+=(--target "$@")
  if ! "${command[@]}" 2>&1 </dev/null | show_build "${command[@]}"; then
    fail "the build failed; the compiler's message is above" \
      "repair what it names and repeat (if it was killed for memory: CMAKE_BUILD_PARALLEL_LEVEL=1)"
  fi
}
