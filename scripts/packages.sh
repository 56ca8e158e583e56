# Finds and installs missing system packages on Debian 12, Ubuntu 22.04 and 24.04 (x86-64).
# shellcheck shell=bash

apt_install=(apt-get install --yes --no-install-recommends)

os_field() {  # NAME: one field of os-release; OS_RELEASE names another file for tests
  local line
  line=$(grep -m1 "^$1=" "${OS_RELEASE:-/etc/os-release}" 2>/dev/null) || return 0
  line=${line#*=}
  line=${line%\"}
  printf '%s' "${line#\"}"
}

os_name() { printf '%s on %s' "$(os_field PRETTY_NAME)" "$(uname -m)"; }

os_supported() {
  [[ $(uname -m) == x86_64 ]] || return 1
  case "$(os_field ID) $(os_field VERSION_ID)" in
    'debian 12' | 'ubuntu 22.04' | 'ubuntu 24.04') return 0 ;;
    *) return 1 ;;
  esac
}

package_names() { sed 's/#.*//' "$@" | awk 'NF && $1 !~ /[?]$/ { print $1 }'; }
optional_names() { sed 's/#.*//' "$@" | awk 'NF && sub(/[?]$/, "", $1) { print $1 }'; }

not_installed() {  # NAME...
  local names=("$@") installed name
  ((${#names[@]})) || return 0
  installed=$'\n'$(dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null)$'\n' || true
  for name in "${names[@]}"; do
    [[ $installed == *$'\n'"$name installed"$'\n'* ]] || echo "$name"
  done
}

missing_packages() {  # LIST_FILE...
  local names
  mapfile -t names < <(package_names "$@")
  not_installed "${names[@]}"
}

obtainable_packages() {  # LIST_FILE...: prints missing optional packages that this system's sources have
  local names name
  mapfile -t names < <(optional_names "$@")
  for name in $(not_installed "${names[@]}"); do
    if apt-cache show "$name" >/dev/null 2>&1; then echo "$name"; fi
  done
}

refuse_system() {
  fail "$(os_name) is not supported; Debian 12, Ubuntu 22.04 and 24.04 on x86-64 are" \
    "install a C++20 compiler (GCC 11 or newer), CMake 3.22, Ninja, git, Python 3.10 with venv and the headers of \
nlohmann/json, fmt, CLI11, yaml-cpp, libjpeg-turbo, libpng, LMDB and xxHash (for tests also GoogleTest and Google \
Benchmark), on other processors a LibTorch named in CMAKE_PREFIX_PATH too; then set SKIP_PACKAGES=1 and repeat"
}

logged() {
  show "$@"
  "$@" >build/apt.log 2>&1 </dev/null
}

install_packages() {  # LIST_FILE...
  [[ ${SKIP_PACKAGES:-} != 1 ]] || return 0
  os_supported || refuse_system
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@" && obtainable_packages "$@")
  ((${#missing[@]})) || return 0

  if [[ $(id -u) != 0 ]]; then
    if sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    elif [[ -t 0 ]] && command -v sudo >/dev/null; then
      as_root=(sudo)  # asks for the password
    else
      fail "system packages are missing and installing them needs root" \
        "as root, or with sudo in front: ${apt_install[*]} ${missing[*]}"
    fi
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive)
  local install=("${apt[@]}" "${apt_install[@]}" -qq -o DPkg::Lock::Timeout=300 "${missing[@]}")
  mkdir -p build
  # A fresh container has no package lists; elsewhere they are refreshed only after an install has failed.
  if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && logged "${install[@]}"; then
    return
  fi
  if ! logged "${apt[@]}" apt-get update -qq ||
    ! { mapfile -t missing < <(obtainable_packages "$@") && logged "${install[@]}" "${missing[@]}"; }; then
    tail -n 20 build/apt.log >&2
    fail "apt-get failed (its output is in build/apt.log)" \
      "check the network and the package sources (on Ubuntu the component universe), then repeat"
  fi
}
