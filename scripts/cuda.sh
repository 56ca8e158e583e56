# Decides whether train_slice_cuda is built, and installs what it needs besides the toolkit. SKIP_CUDA=1 leaves it out.
# shellcheck shell=bash

cuda_compiler() {
  command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; }
}

cuda_driver() {  # prints the driver's version; empty without an NVIDIA GPU
  { nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null || true; } | head -n 1
}

cuda_wanted() {  # MODE DRIVER: mode test needs only the toolkit, so that machines without a GPU compile it too
  [[ ${SKIP_CUDA:-} != 1 ]] && cuda_compiler >/dev/null && [[ $1 == test || -n $2 ]]
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
  fi
}

cuda_requirements() {  # wheels for libraries that the toolkit lacks; none with an external LibTorch
  local compiler wheel library
  ! external_libtorch >/dev/null || return 0
  compiler=$(readlink -f "$(cuda_compiler)")
  sed -n 's/^\([^# ]*\) *# *\(lib[^ ]*\)$/\1 \2/p' scripts/requirements-cuda.txt |
    while read -r wheel library; do
      compgen -G "${compiler%/bin/nvcc}/lib*/$library" >/dev/null ||
        compgen -G "${compiler%/bin/nvcc}/targets/*/lib/$library" >/dev/null || echo "$wheel"
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
