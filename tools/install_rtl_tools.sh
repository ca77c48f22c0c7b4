#!/usr/bin/env bash
# Installs the tools of the hardware designs for this user: Verilator, Yosys and Z3 as Python packages, and the cell library of
# a 180 nm process for areas. Usage: tools/install_rtl_tools.sh [FOLDER]. The folder is where the crate solinas-rtl looks.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${SOLINAS_RTL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/solinas/rtl}"
folder="${1:-$cache/tools}"
missing=()
for tool in g++ make perl python3; do command -v "$tool" >/dev/null || missing+=("$tool"); done
if ((${#missing[@]})); then
  echo "error: the simulation needs ${missing[*]}; install them first (Debian: apt-get install ${missing[*]})" >&2
  exit 1
fi
if ! cmp -s rtl/tools/requirements.txt "$folder/installed.txt"; then
  [[ -x $folder/bin/python ]] || python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --requirement rtl/tools/requirements.txt
  cp rtl/tools/requirements.txt "$folder/installed.txt"
fi
library="$folder/osu018_stdcells.lib"
if [[ ! -f $library ]] && command -v apt-get >/dev/null; then
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  # Only areas need the library, so its absence is no error.
  if (cd "$work" && apt-get download -qq qflow-tech-osu018 && dpkg-deb -x qflow-tech-osu018*.deb .) >/dev/null 2>&1; then
    cp "$work/usr/share/qflow/tech/osu018/osu018_stdcells.lib" "$library"
  else
    echo "note: the cell library for make rtl-area was not found (Debian package qflow-tech-osu018)" >&2
  fi
fi
echo "The tools of the hardware designs are in $folder."
