#!/usr/bin/env bash
# Runs targets of the Makefile one after another. Prints the times of each when it ends, and all of them at the end.
# `A+B,C` runs A beside B and then C: a stage that leaves a core idle gets company. The output of B and C appears when each ends.
# Usage: tools/stages.sh STAGE[,STAGE]...[+STAGE[,STAGE]...]...
set -uo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp --directory)
trap 'rm -rf "$folder"' EXIT
# A shell starts what it runs in the background deaf to the keys that end it.
trap 'trap - INT; kill 0' INT
TIMEFORMAT='%0R %0U %0S'
printf '%-16s %9s %9s\n' stage elapsed CPU >"$folder/table"

# Runs one stage, and appends its times to the table.
run() {
  local stage=$1 times=$folder/$1.times status elapsed user system line
  # The command writes its messages to the outer standard error; the shell writes the times to the file.
  { time "${MAKE:-make}" --no-print-directory "$stage" 2>&3; } 3>&2 2>"$times"
  status=$?
  read -r elapsed user system < <(tail -n 1 "$times")
  line=$(printf '%-16s %7s s %7s s' "$stage" "$elapsed" "$((user + system))")
  ((status == 0)) || line+="  failed"
  printf '== %s\n' "$line"
  printf '%s\n' "$line" >>"$folder/table"
  return "$status"
}

# Runs stages, which commas separate, as far as they succeed.
lane() {
  local stage
  for stage in ${1//,/ }; do run "$stage" || return; done
}

# The same, each with its output at its end.
quiet_lane() {
  local stage status
  for stage in ${1//,/ }; do
    run "$stage" >"$folder/$stage.log" 2>&1
    status=$?
    cat "$folder/$stage.log"
    ((status == 0)) || return "$status"
  done
}

status=0
for group in "$@"; do
  lanes=()
  for others in $(tail -n +2 <<<"${group//+/$'\n'}"); do
    quiet_lane "$others" &
    lanes+=($!)
  done
  lane "${group%%+*}" || status=$?
  for other in "${lanes[@]}"; do wait "$other" || status=$?; done
  ((status == 0)) || break
done
printf '\n%s\n%-16s %7s s\n' "$(cat "$folder/table")" total "$SECONDS"
exit "$status"
