#!/bin/sh
# Makes the peer HElib's BGV: ../target/peers/bgv/helib-hexl, or helib-plain without HEXL.
#
#   ./helib.sh hexl SOURCE NTL      for this CPU (-O3 -march=native) with HEXL, after hexl.sh: https://github.com/homenc/HElib
#   ./helib.sh plain SOURCE NTL     the same without HEXL
#
# NTL is the source folder of the library NTL, which is built first for this CPU: https://github.com/libntl/ntl
# Needs a C++17 compiler, CMake, perl and GMP (Debian: g++ cmake perl libgmp-dev). Takes about ten minutes of a core.
# CXX may name another compiler, JOBS the number of compilations at once.
set -eu

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -eq 3 ] && [ -d "$2" ] && [ -d "$3/src" ] || usage
mode=$1
source=$(realpath "$2")
ntl=$(realpath "$3")
cd "$(dirname "$0")"
peers=$(cd .. && pwd)/target/peers
prefix=$peers/helib-$mode
work=$peers/build/helib-$mode
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

# NTL measures this CPU when it is configured.
if [ ! -f "$peers/ntl/lib/libntl.a" ]; then
    mkdir -p "$peers/build"
    rm -rf "$peers/build/ntl"
    cp -r "$ntl" "$peers/build/ntl"
    (
        cd "$peers/build/ntl/src"
        ./configure PREFIX="$peers/ntl" CXX="$CXX" CXXFLAGS=-O3 NATIVE=on NTL_THREADS=off
        make -j "$JOBS"
        make install
    )
    rm -rf "$peers/build/ntl"
fi

rm -rf "$prefix" "$work"
mkdir -p "$peers/bgv"
cmake -S "$source" -B "$work" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$CXX" -DTARGET_ARCHITECTURE=native -DENABLE_THREADS=OFF -DPEDANTIC_BUILD=OFF -DPACKAGE_BUILD=OFF \
    -DNTL_DIR="$peers/ntl" -DUSE_INTEL_HEXL=$hexl -DHEXL_DIR="$(echo "$peers"/hexl/lib/cmake/hexl-*)"
cmake --build "$work" -j "$JOBS"
cmake --install "$work"
rm -rf "$work"
# shellcheck disable=SC2086
"$CXX" $flags -std=c++17 -DPEER_BUILD="\"$built\"" -I"$prefix/include" -I"$peers/ntl/include" helib.cpp -o "$peers/bgv/helib-$mode" \
    -L"$prefix/lib" -lhelib $libraries "$peers/ntl/lib/libntl.a" -lgmp -lm -pthread
echo "made $peers/bgv/helib-$mode: HElib, $built"
