#!/bin/sh
# Builds HEXL for this CPU: for OpenFHE, SEAL and HElib (openfhe.sh, seal.sh, helib.sh), and for its transforms in bench/ntt.
#
#   ./hexl.sh HEXL CPU_FEATURES      source folders: https://github.com/IntelLabs/hexl, https://github.com/google/cpu_features
#
# Leaves ../target/peers/hexl and ../target/peers/libhexl-ntt.so. Needs a C++17 compiler and CMake (Debian: g++ cmake).
# CXX and CC may name another compiler, JOBS the number of compilations at once. HEXL itself adds -O3 -march=native.
set -eu

if [ $# -ne 2 ] || [ ! -d "$1" ] || [ ! -d "$2" ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
source=$(realpath "$1")
features=$(realpath "$2")
cd "$(dirname "$0")"
peers=$(cd .. && pwd)/target/peers
prefix=$peers/hexl
work=$peers/build/hexl
: "${JOBS:=$(getconf _NPROCESSORS_ONLN)}" "${CXX:=c++}"

# HEXL writes files into its source folder.
rm -rf "$prefix" "$work"
mkdir -p "$work"
cp -R "$source" "$work/source"
cmake -S "$features" -B "$work/features" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_TESTING=OFF -DBUILD_EXECUTABLE=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
cmake --build "$work/features" -j "$JOBS"
cmake --install "$work/features"
cmake -S "$work/source" -B "$work/hexl" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release -DHEXL_BENCHMARK=OFF -DHEXL_TESTING=OFF
cmake --build "$work/hexl" -j "$JOBS"
cmake --install "$work/hexl"
rm -rf "$work"

version=$(basename "$prefix"/lib/cmake/hexl-*)
version=${version#hexl-}
compiler=$("$CXX" --version | head -n 1)
"$CXX" -O3 -march=native -std=c++17 -shared -fPIC -DPEER_VERSION="\"HEXL $version (-O3 -march=native, $compiler)\"" \
    -I"$prefix/include" hexl.cpp -o "$peers/libhexl-ntt.so" -L"$prefix/lib" -lhexl -lcpu_features
echo "made $prefix and $peers/libhexl-ntt.so: HEXL $version, -O3 -march=native, $compiler"
