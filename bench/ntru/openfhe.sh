#!/bin/sh
# Makes the peer of this benchmark, OpenFHE's BGV: ../target/openfhe-bgv. Nothing of it is part of Solinas.
#
#   ./openfhe.sh build SOURCE          builds OpenFHE from a checkout with its submodules:
#                                      git clone --recurse-submodules --branch v1.5.1 https://github.com/openfheorg/openfhe-development
#   ./openfhe.sh wheel SOURCE WHEEL    links the libraries of OpenFHE's Python wheel instead, in a minute; SOURCE of the same version, for its headers:
#                                      pip download --no-deps openfhe==1.5.1.0.22.4
#
# Needs a C++17 compiler with OpenMP, and CMake to build (Debian: g++ cmake), or python3 to unpack a wheel. Takes 10 to 30 minutes of a core to build.
set -eu

usage() {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -ge 2 ] && [ -d "$2" ] || usage
mode=$1
source=$(realpath "$2")
wheel=${3:+$(realpath "$3")}
cd "$(dirname "$0")"
target=$(cd .. && pwd)/target
mkdir -p "$target"
prefix=$target/openfhe
rm -rf "$prefix"
version=$(sed -n 's/^ *set(OPENFHE_VERSION_[A-Z]* \([0-9]*\)).*/\1/p' "$source/CMakeLists.txt" | head -n 3 | paste -sd .)

case $mode in
build)
    cmake -S "$source" -B "$target/openfhe-build" -DCMAKE_INSTALL_PREFIX="$prefix" -DBUILD_UNITTESTS=OFF \
        -DBUILD_EXAMPLES=OFF -DBUILD_BENCHMARKS=OFF -DGIT_SUBMOD_AUTO=OFF
    cmake --build "$target/openfhe-build" -j "$(getconf _NPROCESSORS_ONLN)"
    cmake --install "$target/openfhe-build"
    headers=$prefix/include/openfhe
    include="-I$headers -I$headers/core -I$headers/pke -I$headers/binfhe -I$headers/third-party/include"
    ;;
wheel)
    [ -n "$wheel" ] || usage
    mkdir -p "$prefix/include"
    python3 -m zipfile -e "$wheel" "$prefix/wheel"
    mv "$prefix/wheel/openfhe/lib" "$prefix/lib"
    rm "$prefix/lib/libgomp.so"
    for name in core pke binfhe; do
        ln -s "libOPENFHE$name.so.1" "$prefix/lib/libOPENFHE$name.so"
    done
    # This is the file that CMake writes by default.
    cat > "$prefix/include/config_core.h" <<'HEADER'
#define WITH_BE4
#define WITH_OPENMP
#define CKKS_M_FACTOR 1
#define HAVE_INT128 TRUE
#define HAVE_INT64 TRUE
#define MATHBACKEND 4
#define NATIVEINT 64
HEADER
    include="-I$prefix/include -I$source/src/core/include -I$source/src/core/lib -I$source/src/pke/include"
    include="$include -I$source/src/binfhe/include -I$source/third-party/cereal/include"
    ;;
*)
    usage
    ;;
esac

libraries=$(dirname "$(find "$prefix" -name 'libOPENFHEpke.so' | head -n 1)")
# The libraries find each other by the search path of the program.
# shellcheck disable=SC2086
"${CXX:-c++}" -O2 -std=c++17 -fopenmp -DMATHBACKEND=4 -DPEER_VERSION="\"$version-$mode\"" $include openfhe/bgv.cpp -o "$target/openfhe-bgv" \
    -L"$libraries" -Wl,--disable-new-dtags,-rpath,"$libraries" -lOPENFHEpke -lOPENFHEbinfhe -lOPENFHEcore
echo "made $target/openfhe-bgv"
