# What this process may use of the machine. The suite's own probe tells it, a source file that a compiler builds within a
# second; before there is one, nproc and /proc/meminfo tell it, which know no quotas.
# shellcheck shell=bash disable=SC2034

limits() {  # prints what scripts/limits.cpp says; fails without a compiler
  local program=build/limits source sources=(harness/base/process_limits.h harness/base/process_limits.cpp scripts/limits.cpp)
  if [[ -x bin/limits ]]; then  # of a bundle
    program=bin/limits
  else
    for source in "${sources[@]}"; do
      [[ ! $program -nt $source ]] || continue
      { mkdir -p build && "${CXX:-c++}" -std=c++20 -I. -o "$program.$$" "${sources[@]:1}" && mv -f "$program.$$" "$program"; } \
        >/dev/null 2>&1 || return
      break
    done
  fi
  "$program" "${PROBED_ROOT:-}" 2>/dev/null
}

read_limits() {  # sets usable_cores, machine_cores, usable_memory_mib, free_memory_mib, memory_limited_by and limit_notes
  local name value
  usable_cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
  machine_cores='' memory_limited_by='' limit_notes=()
  { read -r usable_memory_mib; read -r free_memory_mib; } \
    < <(awk '/^MemTotal:/ { total = $2 } /^MemAvailable:/ { free = $2 } END { print int(total / 1024) "\n" int(free / 1024) }' /proc/meminfo)
  while read -r name value; do
    case $name in
      cores) usable_cores=$value ;;
      machine_cores) machine_cores=$value ;;  # empty: the probe couldn't be built, quotas are not known
      memory_mib) usable_memory_mib=$value ;;
      free_memory_mib) free_memory_mib=$value ;;
      memory_limited_by) memory_limited_by=$value ;;
      note) limit_notes+=("$value") ;;
    esac
  done < <(limits)
}
