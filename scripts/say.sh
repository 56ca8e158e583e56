# Messages of the set-up scripts, on standard error to keep the output of `run_matrix list --json` clean.
# shellcheck shell=bash

show() { printf '+%s\n' "$(printf ' %q' "$@")" >&2; }

run() {
  show "$@"
  "$@"
}

fail() {  # WHAT NEXT_STEP
  printf 'set-up: %s\n        next: %s\n' "$1" "$2" >&2
  exit 2
}
