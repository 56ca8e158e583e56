# Decides whether train_slice_cuda is built, and installs what it needs besides the toolkit. SKIP_CUDA=1 leaves it out.
# shellcheck shell=bash

cuda_compiler() {
  command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; }
}

cuda_release() { "$(cuda_compiler)" --version | sed -n 's/.*release \([0-9]*\).*/\1/p'; }

# The wheel is for CUDA 13; the headers of another toolkit don't fit to it.
cuda_compiler_fits() { external_libtorch >/dev/null || [[ $(cuda_release) == 13 ]]; }

cuda_driver() {  # prints the driver's version; empty without an NVIDIA GPU
  { nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null || true; } | head -n 1
}

cuda_wanted() {  # MODE DRIVER: mode test needs only the toolkit, so that machines without a GPU compile it too
  [[ ${SKIP_CUDA:-} != 1 ]] && cuda_compiler >/dev/null && cuda_compiler_fits && [[ $1 == test || -n $2 ]]
}

check_cuda() {  # DRIVER
  local driver=$1 oldest=580
  [[ -n $driver && ${SKIP_CUDA:-} != 1 ]] || return 0
  if ! cuda_compiler >/dev/null; then
    echo "set-up: an NVIDIA GPU, but no nvcc was found: install the CUDA toolkit 13.0 and put its bin folder into PATH to use the GPU" >&2
  elif ! external_libtorch >/dev/null && ((${driver%%.*} < oldest)); then
    fail "the NVIDIA driver $driver is too old for LibTorch's wheel, which is for CUDA 13 and needs driver $oldest or newer" \
      "update the driver; or name a LibTorch that was built for CUDA 12 in CMAKE_PREFIX_PATH, with that toolkit's nvcc in \
PATH; or don't use the GPU, with SKIP_CUDA=1"
  elif ! cuda_compiler_fits; then
    fail "$(cuda_compiler) is of CUDA $(cuda_release), and LibTorch's wheel is for CUDA 13" \
      "put the nvcc of CUDA 13 into PATH; or name a LibTorch that was built for CUDA $(cuda_release) in CMAKE_PREFIX_PATH; or \
don't use the GPU, with SKIP_CUDA=1"
  fi
}

toolkit_library() {  # NAME: prints its file, with the whole version in its name
  local found toolkit
  toolkit=$(readlink -f "$(cuda_compiler)")
  toolkit=${toolkit%/bin/nvcc}
  found=$(compgen -G "$toolkit/lib*/$1" || compgen -G "$toolkit/targets/*/lib/$1") || return
  readlink -f "${found%%$'\n'*}"
}

cuda_requirements() {  # wheels for libraries that the toolkit lacks; none with an external LibTorch
  local wheel library same_or_newer file
  ! external_libtorch >/dev/null || return 0
  sed -n 's/^\([^# ]*\) *# *\(lib[^ ,]*\)\(, not older\)\?$/\1 \2 \3/p' scripts/requirements-cuda.txt |
    while read -r wheel library same_or_newer; do
      if ! file=$(toolkit_library "$library"); then
        echo "$wheel"
      elif [[ -n $same_or_newer && $(printf '%s\n' "${file##*.so.}" "${wheel##*==}" | sort -V | tail -n 1) != "${file##*.so.}" &&
        ${wheel##*==} != "${file##*.so.}".* ]]; then
        echo "$wheel"
      fi
    done
}

cuda_wheels_complete() { [[ -f .venv/.installed-cuda && $(<.venv/.installed-cuda) == "$(cuda_requirements)" ]]; }

install_cuda_wheels() {
  local wanted
  ! cuda_wheels_complete || return 0
  mapfile -t wanted < <(cuda_requirements)
  if ((${#wanted[@]})); then
    install_wheels "${wanted[@]}" ||
      fail "pip could not download or install ${wanted[*]} (up to 2 GB)" \
        "check the network and the disk, then repeat; or don't use the GPU, with SKIP_CUDA=1"
  fi
  cuda_requirements >.venv/.installed-cuda
}
