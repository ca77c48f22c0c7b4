#!/usr/bin/env bash
# Runs targets of the Makefile one after another. Prints the times of each when it ends, and all of them at the end.
# Usage: tools/stages.sh TARGET...
set -uo pipefail
cd "$(dirname "$0")/.."
table=$(printf '%-16s %9s %9s' stage elapsed CPU)
file=$(mktemp)
trap 'rm -f "$file"' EXIT
TIMEFORMAT='%0R %0U %0S'
report() { printf '\n%s\n%-16s %7s s\n' "$table" total "$SECONDS"; }
for stage in "$@"; do
  # The command writes its messages to the outer standard error; the shell writes the times to the file.
  { time "${MAKE:-make}" --no-print-directory "$stage" 2>&3; } 3>&2 2>"$file"
  status=$?
  read -r elapsed user system < <(tail -n 1 "$file")
  line=$(printf '%-16s %7s s %7s s' "$stage" "$elapsed" "$((user + system))")
  ((status == 0)) || line+="  failed"
  printf '== %s\n' "$line"
  table+=$'\n'$line
  if ((status)); then
    report
    exit "$status"
  fi
done
report
