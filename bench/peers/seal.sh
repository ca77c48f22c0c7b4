#!/bin/sh
# Makes the peer SEAL's BGV: ../target/peers/bgv/seal-hexl, or seal-plain without HEXL.
#
#   ./seal.sh hexl SOURCE       for this CPU (-O3 -march=native) with HEXL, after hexl.sh: https://github.com/microsoft/SEAL
#   ./seal.sh plain SOURCE      the same without HEXL
#
# Needs a C++17 compiler and CMake (Debian: g++ cmake). Takes a few minutes of a core.
# CXX and CC may name another compiler, JOBS the number of compilations at once.
set -eu

usage() {
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -eq 2 ] && [ -d "$2" ] || usage
mode=$1
source=$(realpath "$2")
cd "$(dirname "$0")"
peers=$(cd .. && pwd)/target/peers
prefix=$peers/seal-$mode
work=$peers/build/seal-$mode
: "${JOBS:=$(getconf _NPROCESSORS_ONLN)}" "${CXX:=c++}"
flags="-O3 -march=native"
case $mode in
hexl)
    hexl=ON
    libraries="-L$peers/hexl/lib -lhexl -lcpu_features"
    built="$flags, $(basename "$peers"/hexl/lib/cmake/hexl-*), $("$CXX" --version | head -n 1)"
    ;;
plain)
    hexl=OFF
    libraries=
    built="$flags, $("$CXX" --version | head -n 1)"
    ;;
*)
    usage
    ;;
esac
rm -rf "$prefix" "$work"
mkdir -p "$peers/bgv"

# Compressed files need more libraries and are not measured.
cmake -S "$source" -B "$work" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$peers/hexl" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-march=native -DSEAL_USE_INTEL_HEXL=$hexl -DSEAL_BUILD_DEPS=OFF -DSEAL_USE_MSGSL=OFF \
    -DSEAL_USE_ZLIB=OFF -DSEAL_USE_ZSTD=OFF
cmake --build "$work" -j "$JOBS"
cmake --install "$work"
rm -rf "$work"
include=$(echo "$prefix"/include/SEAL-*)
# shellcheck disable=SC2086
"$CXX" $flags -std=c++17 -DPEER_BUILD="\"$built\"" -I"$include" -I"$peers/hexl/include" seal.cpp -o "$peers/bgv/seal-$mode" \
    -L"$prefix/lib" -l"$(basename "$include" | tr '[:upper:]' '[:lower:]')" $libraries -pthread
echo "made $peers/bgv/seal-$mode: $(basename "$include"), $built"
