# Finds Python's torch, whose LibTorch the programs of an unpacked bundle use: that of CMAKE_PREFIX_PATH, of .venv beside
# them, or of python3 (PYTHON names another), the first that is found. Torch itself isn't imported, which takes seconds.
# shellcheck shell=bash

torch_of_python() {  # PYTHON: prints the folder of its torch
  "$1" -c 'import importlib.util
found = importlib.util.find_spec("torch")
print(found.submodule_search_locations[0] if found else "")' 2>/dev/null
}

bundled_torch() {  # BUNDLE: prints the folder of torch; nothing if there is none
  local candidate prefixes=()
  IFS=: read -r -a prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for candidate in "${prefixes[@]}" "$(torch_of_python "$1/.venv/bin/python")" "$(torch_of_python "${PYTHON:-python3}")"; do
    if [[ -n $candidate && -e $candidate/lib/libtorch_cpu.so ]]; then
      echo "$candidate"
      return
    fi
  done
}

torch_version() {  # FOLDER: of a wheel or of LibTorch's archive, e.g. 2.11.0+cu130
  if [[ -r $1/version.py ]]; then
    sed -n "s/^__version__ = '\(.*\)'/\1/p" "$1/version.py"
  elif [[ -r $1/build-version ]]; then
    cat "$1/build-version"
  fi
}

# FOLDER WANTED: prints why a bundle for this version can't use torch; nothing if it can. After the + stands the CUDA that
# torch was built for: another one lacks libraries of the programs for GPUs, none at all matters only where there is a GPU.
why_no_torch() {
  local found gpu=${NVIDIA_DEVICE:-/dev/nvidiactl}
  found=$(torch_version "$1")
  [[ $found == "$2" ]] && return
  [[ $found == "${2%%+*}+cpu" && ! -e $gpu ]] && return
  echo "this bundle was built for torch $2, and $1 is ${found:-of an unknown version}"
}

missing_libraries() {  # BUNDLE, after use_bundled_torch: what its programs need and don't find
  local program
  for program in "$1"/bin/*; do
    ldd "$program" 2>/dev/null | sed -n "s/^\t*\([^ ]*\) => not found$/\1 of ${program##*/}/p"
  done | sort -u | paste -sd, | sed 's/,/, /g'
}

use_bundled_torch() {  # BUNDLE: lets programs started from here find torch; ends with exit code 2 when there is none that fits
  local wanted torch why folder
  wanted=$(<"$1/libtorch_version")
  torch=$(bundled_torch "$1")
  if [[ -z $torch ]]; then
    echo "run_matrix: no torch was found in CMAKE_PREFIX_PATH, $1/.venv or ${PYTHON:-python3}; next: pip install" \
      "torch==${wanted%%+*}, or name the Python that has it in PYTHON" >&2
    exit 2
  fi
  why=$(why_no_torch "$torch" "$wanted")
  if [[ -n $why ]]; then
    echo "run_matrix: $why; next: pip install torch==${wanted%%+*}, the wheel with ${wanted##*+}, into an environment of its" \
      "own and name its Python in PYTHON" >&2
    exit 2
  fi
  for folder in "$torch/lib" "${torch%/torch}"/nvidia/*/lib; do  # the latter: of the wheels that torch for CUDA brings
    [[ ! -d $folder ]] || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
}
