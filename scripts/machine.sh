# The cores and the memory that this process may use, within affinity masks and cgroup limits.
# shellcheck shell=bash

cgroup_limits() {  # V2_FILE V1_CONTROLLER V1_FILE...: one line per level, from this process's group up to the root
  local v2_file=$1 v1_controller=$2 controllers path base file files
  shift 2
  while IFS=: read -r _ controllers path; do
    if [[ -z $controllers ]]; then
      base=/sys/fs/cgroup files=("$v2_file")
    elif [[ ,$controllers, == *,$v1_controller,* ]]; then
      base=/sys/fs/cgroup/$v1_controller files=("$@")
    else
      continue
    fi
    path=${path%/}
    while :; do
      if [[ -r $base$path/${files[0]} ]]; then
        for file in "${files[@]}"; do printf '%s ' "$(<"$base$path/$file")"; done
        echo
      fi
      [[ -n $path ]] || break
      path=${path%/*}
    done
  done </proc/self/cgroup
}

affinity_cores() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

quota_cores() {  # prints the cores of the tightest cgroup quota, rounded up; nothing without a quota
  cgroup_limits cpu.max cpu cpu.cfs_quota_us cpu.cfs_period_us |
    awk '$1 ~ /^[0-9]+$/ && $2 > 0 { n = int(($1 + $2 - 1) / $2); if (!best || n < best) best = n } END { if (best) print best }'
}

usable_cores() {
  local cores quota
  cores=$(affinity_cores)
  quota=$(quota_cores)
  echo $((${quota:-$cores} < cores ? quota : cores))
}

memory_field_mib() { awk -v name="$1:" '$1 == name { print int($2 / 1024) }' /proc/meminfo; }

cgroup_memory_mib() {  # prints the tightest limit; nothing without a limit
  cgroup_limits memory.max memory memory.limit_in_bytes |
    awk '$1 ~ /^[0-9]+$/ && $1 < 2 ^ 60 { n = int($1 / 2 ^ 20); if (!best || n < best) best = n } END { if (best) print best }'
}

usable_memory_mib() {
  local total limit
  total=$(memory_field_mib MemTotal)
  limit=$(cgroup_memory_mib)
  echo $((${limit:-$total} < total ? limit : total))
}
