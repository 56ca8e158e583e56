# How the set-up scripts talk, on standard error so that `run_matrix --list --json` stays clean.
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
