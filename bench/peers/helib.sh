#!/bin/sh
# Makes the peer HElib's BGV: ../target/peers/bgv/helib-hexl, or helib-plain without HEXL.
#
#   ./helib.sh hexl NTL HELIB       for this CPU (-O3 -march=native) with HEXL, after hexl.sh; source folders:
#                                   https://github.com/libntl/ntl, https://github.com/homenc/HElib
#   ./helib.sh plain NTL HELIB      the same without HEXL: the transforms are NTL's
#
# Needs a C++17 compiler, CMake, make, Perl and GMP (Debian: g++ cmake make perl libgmp-dev). Takes five to ten minutes of a core.
# TUNE=auto lets NTL measure its variants while it is built: longer, on a quiet machine. The default is TUNE=x86, its choice for any x86.
# CXX and CC may name another compiler, JOBS the number of compilations at once.
set -eu

usage() {
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -eq 3 ] && [ -d "$2" ] && [ -d "$3" ] || usage
mode=$1
ntl=$(realpath "$2")
source=$(realpath "$3")
cd "$(dirname "$0")"
peers=$(cd .. && pwd)/target/peers
prefix=$peers/helib-$mode
work=$peers/build/helib-$mode
: "${JOBS:=$(getconf _NPROCESSORS_ONLN)}" "${CXX:=c++}" "${TUNE:=x86}"
flags="-O3 -march=native"
version=$(cat "$source/VERSION")
built="$flags, NTL $(sed -n 's/^#define NTL_VERSION *"\(.*\)"/\1/p' "$ntl/include/NTL/version.h") TUNE=$TUNE"
case $mode in
hexl)
    hexl=ON
    libraries="-L$peers/hexl/lib -lhexl -lcpu_features"
    built="$built, $(basename "$peers"/hexl/lib/cmake/hexl-*)"
    ;;
plain)
    hexl=OFF
    libraries=
    ;;
*)
    usage
    ;;
esac
built="$built, $("$CXX" --version | head -n 1)"
rm -rf "$prefix" "$work"
mkdir -p "$peers/bgv" "$work"

# NTL is built in its source folder. NATIVE=on adds -march=native.
cp -R "$ntl" "$work/ntl"
(cd "$work/ntl/src" && ./configure CXX="$CXX" CXXFLAGS=-O3 NATIVE=on TUNE="$TUNE" PREFIX="$prefix")
make -C "$work/ntl/src" -j "$JOBS"
make -C "$work/ntl/src" install
# HElib adds -march=native. Its warnings of later compilers are no errors.
cmake -S "$source" -B "$work/helib" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$peers/hexl" \
    -DCMAKE_BUILD_TYPE=Release -DNTL_DIR="$prefix" -DUSE_INTEL_HEXL=$hexl -DPEDANTIC_BUILD=OFF
cmake --build "$work/helib" -j "$JOBS"
cmake --install "$work/helib"
rm -rf "$work"
# shellcheck disable=SC2086
"$CXX" $flags -std=c++17 -DPEER_VERSION="\"$version\"" -DPEER_BUILD="\"$built\"" -I"$prefix/include" helib.cpp -o "$peers/bgv/helib-$mode" \
    -L"$prefix/lib" -lhelib -lntl -lgmp $libraries -pthread
echo "made $peers/bgv/helib-$mode: HElib $version, $built"
