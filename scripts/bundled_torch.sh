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

torch_version() {  # FOLDER: of a wheel or of LibTorch's archive, without what follows the third number
  if [[ -r $1/version.py ]]; then
    sed -n "s/^__version__ = '\([0-9.]*\).*/\1/p" "$1/version.py"
  elif [[ -r $1/build-version ]]; then
    sed 's/+.*//' "$1/build-version"
  fi
}

use_bundled_torch() {  # BUNDLE: lets programs started from here find torch; ends with exit code 2 when there is none that fits
  local wanted torch found folder
  wanted=$(<"$1/libtorch_version")
  torch=$(bundled_torch "$1")
  if [[ -z $torch ]]; then
    echo "run_matrix: no torch was found in CMAKE_PREFIX_PATH, $1/.venv or ${PYTHON:-python3}; next: pip install" \
      "torch==$wanted, or name the Python that has it in PYTHON" >&2
    exit 2
  fi
  found=$(torch_version "$torch")
  if [[ $found != "$wanted" ]]; then
    echo "run_matrix: this bundle was built for torch $wanted, and $torch is ${found:-of an unknown version}; next: pip" \
      "install torch==$wanted into an environment of its own and name its Python in PYTHON" >&2
    exit 2
  fi
  for folder in "$torch/lib" "${torch%/torch}"/nvidia/*/lib; do  # the latter: of the wheels that torch for CUDA brings
    [[ ! -d $folder ]] || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
  done
}
