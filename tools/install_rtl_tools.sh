#!/usr/bin/env bash
# Installs the tools of the hardware designs for this user: Verilator, Yosys and Z3 as Python packages, and the cell library of
# a 180 nm process for areas. Usage: tools/install_rtl_tools.sh [FOLDER]. The folder is where the crate solinas-rtl looks.
# As root it also installs what the system lacks of a C++ compiler, make, Perl, Python and the simulator Icarus.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${SOLINAS_RTL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/solinas/rtl}"
folder="${1:-$cache/tools}"
missing=()
for tool in g++ make; do command -v "$tool" >/dev/null || missing+=("$tool"); done
# Debian's perl-base has the command, but not the modules that Verilator's script uses.
perl -MPod::Usage -MFindBin -e 1 2>/dev/null || missing+=(perl)
python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
optional=()
command -v iverilog >/dev/null || optional+=(iverilog)
wanted=("${missing[@]}" "${optional[@]}")
if ((${#wanted[@]})); then
  if [[ $EUID == 0 ]] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "${wanted[@]}" >/dev/null
  elif ((${#missing[@]})); then
    echo "error: the simulation needs ${missing[*]} (Debian's names); run: sudo apt-get install ${wanted[*]}" >&2
    exit 1
  else
    # Only the benches of make test-rtl need Icarus.
    echo "note: the second simulator of make test-rtl is missing; run: sudo apt-get install ${optional[*]}" >&2
  fi
fi
if ! cmp -s rtl/tools/requirements.txt "$folder/installed.txt"; then
  mkdir -p "$folder"
  [[ -x $folder/bin/pip ]] || python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement rtl/tools/requirements.txt
  cp rtl/tools/requirements.txt "$folder/installed.txt"
fi
library="$folder/osu018_stdcells.lib"
if [[ ! -f $library ]] && command -v apt-get >/dev/null; then
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  # Only areas need the library, so its absence is no error. The user who downloads as root may not enter the folder.
  chmod 755 "$work"
  if (cd "$work" && apt-get download -qq qflow-tech-osu018 && dpkg-deb -x qflow-tech-osu018*.deb .) >/dev/null 2>&1; then
    cp "$work/usr/share/qflow/tech/osu018/osu018_stdcells.lib" "$library"
  else
    echo "note: the cell library for make rtl-area was not found (Debian package qflow-tech-osu018)" >&2
  fi
fi
echo "The tools of the hardware designs are in $folder."
