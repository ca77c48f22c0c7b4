#!/bin/sh
# Builds a peer that is written in Go, for this CPU.
#
#   ./go.sh lattigo [SOURCE]      Lattigo's BGV: ../target/peers/bgv/lattigo
#   ./go.sh tfhe-go [SOURCE]      gates of tfhe-go: ../target/peers/gates/tfhe-go
#
# Go downloads the version that go.mod of the folder names. SOURCE is a source folder to use instead:
# https://github.com/tuneinsight/lattigo, https://github.com/sp301415/tfhe-go
#
# Needs Go 1.24 or later. GOAMD64 may name another instruction set than that of this CPU.
set -eu

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
case ${1:-} in
lattigo) place=bgv ;;
tfhe-go) place=gates ;;
*) usage ;;
esac
source=${2:+$(realpath "$2")}
cd "$(dirname "$0")/$1"
peers=$(cd ../.. && pwd)/target/peers
mkdir -p "$peers/$place"
# The levels of GOAMD64 are those of the x86-64 ABI.
level=v1
if grep -q '^flags.* avx512vl' /proc/cpuinfo; then level=v4; elif grep -q '^flags.* avx2' /proc/cpuinfo; then level=v3; fi
: "${GOAMD64:=$level}"
export GOAMD64

if [ -n "$source" ]; then
    # A workspace prefers the folder to the download.
    GOWORK=$peers/go.work
    export GOWORK
    printf 'go 1.24.0\n\nuse (\n\t%s\n\t%s\n)\n' "$PWD" "$source" > "$GOWORK"
fi
go build -o "$peers/$place/$1" .
echo "made $peers/$place/$1: $(go list -m -f '{{.Path}} {{.Version}} {{.Dir}}' all | grep -E '/(lattigo/v[0-9]+|tfhe-go) ' | grep -v '^solinas/'), $(go version), GOAMD64=$GOAMD64"
