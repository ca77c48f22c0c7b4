#!/usr/bin/env bash
# Prints the names of what this machine has of the parts that tests leave out where they are missing, separated by commas:
# a value for SOLINAS_REQUIRE (crates/testing/src/lib.rs).
set -euo pipefail
has=(rtl)
flags=" $(grep -m1 '^flags' /proc/cpuinfo 2>/dev/null || true) "
declare -A instructions=(
  [avx2]="avx2 fma" [avx512]="avx512f avx512bw avx512dq avx512vl" [ifma]=avx512ifma [vnni]=avx512_vnni [adx]="bmi2 adx"
)
for name in "${!instructions[@]}"; do
  there=1
  for flag in ${instructions[$name]}; do [[ $flags == *" $flag "* ]] || there=0; done
  ((there)) && has+=("$name")
done
command -v chromium-headless-shell chromium >/dev/null 2>&1 && has+=(chromium)
{ compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null; } && has+=(postgres)
command -v promtool >/dev/null && has+=(promtool)
command -v systemd-analyze >/dev/null && has+=(systemd)
rustup target list --installed 2>/dev/null | grep -qx wasm32-unknown-unknown && has+=(page)
IFS=,
echo "${has[*]}"
