#!/usr/bin/env bash
# `cmake --install` makes a folder that runs a row by itself. Usage: install_test.sh BUILD_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --install "$1" --prefix "$folder/installed" >"$folder/log" || { cat "$folder/log"; exit 1; }
mv "$folder/installed" "$folder/moved"
cd /
unset RUN_MATRIX_HOME
run=("$folder/moved/bin/run_matrix" --device cpu --scale smoke --only 0 --set storage=synthetic --out "$folder/run")
RUN_MATRIX_PLOTS=specs "${run[@]}" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
grep -q '"status":"OK"' "$folder/run/records.jsonl" || { cat "$folder/run/records.jsonl"; exit 1; }
