# The project's Python environment .venv: LibTorch's wheel and the plot renderer.
# shellcheck shell=bash

external_libtorch() {  # prints the folder in CMAKE_PREFIX_PATH with a LibTorch; fails when there is none
  local folder folders
  IFS=':;' read -ra folders <<<"${CMAKE_PREFIX_PATH:-}"
  for folder in "${folders[@]}"; do
    if [[ -e $folder/lib/libtorch_cpu.so ]]; then
      printf '%s' "$folder"
      return
    fi
  done
  return 1
}

requirements() {
  local only=''
  if external_libtorch >/dev/null; then only='^\(vl-convert\|pyarrow\)'; fi
  sed 's/#.*//; s/ *$//' scripts/requirements.txt | grep . | grep "$only"
}

venv_wanted() { printf '%s\n' "$(readlink -f .venv/bin/python3)" "$(requirements)"; }

venv_complete() {
  # The stamp is written last: an interrupted install leaves none.
  [[ -f .venv/.installed && $(<.venv/.installed) == "$(venv_wanted)" ]] || return 1
  external_libtorch >/dev/null || compgen -G '.venv/lib/python3*/site-packages/torch/lib/libtorch_cpu.so' >/dev/null
}

find_python() {
  local python
  for python in /usr/bin/python3 python3; do  # the system's first: a version manager may remove its own
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      printf '%s' "$python"
      return
    fi
  done
  return 1
}

pip_install=(.venv/bin/python3 -m pip install --quiet --disable-pip-version-check --no-input --no-deps)

install_wheels() { run "${pip_install[@]}" "$@" >&2 </dev/null; }

install_venv() {
  ! venv_complete || return 0
  local python wanted
  python=$(find_python) || fail "no Python 3.10 or newer with its venv module" "install it (apt-get install python3-venv)"
  if [[ -e .venv/.installing ]]; then
    echo "set-up: an earlier installation into .venv was interrupted; starting it again" >&2
    run rm -rf .venv
  fi
  mkdir -p .venv
  touch .venv/.installing
  .venv/bin/python3 -c 'import pip' 2>/dev/null || run "$python" -m venv .venv >&2 ||
    fail "python could not make the virtual environment .venv" "see the message above, then repeat"
  mapfile -t wanted < <(requirements)
  install_wheels "${wanted[@]}" ||
    fail "pip could not download or install ${wanted[*]} (it needs about 0.6 GB from PyPI and 1.6 GB of disk)" \
      "check the network and the disk, then repeat; or name a LibTorch in CMAKE_PREFIX_PATH"
  venv_wanted >.venv/.installed
  rm .venv/.installing
}
