#!/bin/sh
# Makes the peer OpenFHE's BGV: ../target/peers/bgv/openfhe-native, openfhe-hexl or openfhe-wheel.
#
#   ./openfhe.sh native SOURCE             for this CPU (-O3 -march=native), from a checkout with its submodules:
#                                          git clone --recurse-submodules --branch v1.5.1 https://github.com/openfheorg/openfhe-development
#   ./openfhe.sh hexl SOURCE OPENFHE_HEXL  the same with HEXL, after hexl.sh; OPENFHE_HEXL of the same version:
#                                          https://github.com/openfheorg/openfhe-hexl
#   ./openfhe.sh wheel SOURCE WHEEL        the libraries of OpenFHE's Python wheel, in a minute; SOURCE of the same version, for its headers:
#                                          pip download --no-deps openfhe==1.5.1.0.22.4
#
# Needs a C++17 compiler with OpenMP, and CMake to build (Debian: g++ cmake), or python3 to unpack a wheel. Takes 10 to 30 minutes of a core to build.
# A build that was interrupted goes on when it is started again. CXX and CC may name another compiler, JOBS the number of compilations at once.
set -eu

usage() {
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
[ $# -ge 2 ] && [ -d "$2" ] || usage
mode=$1
source=$(realpath "$2")
other=${3:+$(realpath "$3")}
cd "$(dirname "$0")"
peers=$(cd .. && pwd)/target/peers
prefix=$peers/openfhe-$mode
work=$peers/build/openfhe-$mode
: "${JOBS:=$(getconf _NPROCESSORS_ONLN)}" "${CXX:=c++}"
rm -rf "$prefix"
mkdir -p "$peers/bgv" "$work"
version=$(sed -n 's/^ *set(OPENFHE_VERSION_[A-Z]* \([0-9]*\)).*/\1/p' "$source/CMakeLists.txt" | head -n 3 | paste -sd .)
flags="-O3 -march=native"

case $mode in
native | hexl)
    set --
    if [ "$mode" = hexl ]; then
        [ -d "$other" ] || usage
        mkdir -p "$work/source"
        # The repository of the HEXL variant is a set of files that replace those of OpenFHE.
        cp -Rp "$source/." "$work/source"
        cp -Rp "$other/." "$work/source"
        source=$work/source
        set -- -DWITH_INTEL_HEXL=ON -DINTEL_HEXL_PREBUILT=ON -DINTEL_HEXL_HINT_DIR="$peers/hexl" -DCMAKE_PREFIX_PATH="$peers/hexl"
    fi
    cmake -S "$source" -B "$work/build" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_BUILD_TYPE=Release -DWITH_NATIVEOPT=ON \
        -DBUILD_UNITTESTS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_BENCHMARKS=OFF -DBUILD_EXTRAS=OFF -DGIT_SUBMOD_AUTO=OFF "$@"
    cmake --build "$work/build" -j "$JOBS"
    cmake --install "$work/build"
    rm -rf "$work"
    headers=$prefix/include/openfhe
    include="-I$headers -I$headers/core -I$headers/pke -I$headers/binfhe -I$headers/third-party/include -I$peers/hexl/include"
    ;;
wheel)
    [ -n "$other" ] || usage
    mkdir -p "$prefix/include"
    python3 -m zipfile -e "$other" "$prefix/wheel"
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
    flags=-O2
    ;;
*)
    usage
    ;;
esac

case $mode in
native) built="$flags, $("$CXX" --version | head -n 1)" ;;
hexl) built="$flags, $(basename "$peers"/hexl/lib/cmake/hexl-*), $("$CXX" --version | head -n 1)" ;;
wheel) built="Python wheel" ;;
esac
libraries=$(dirname "$(find "$prefix" -name 'libOPENFHEpke.so' | head -n 1)")
# The libraries find each other by the search path of the program.
# shellcheck disable=SC2086
"$CXX" $flags -std=c++17 -fopenmp -DMATHBACKEND=4 -DPEER_VERSION="\"$version\"" -DPEER_BUILD="\"$built\"" $include openfhe.cpp \
    -o "$peers/bgv/openfhe-$mode" -L"$libraries" -Wl,--disable-new-dtags,-rpath,"$libraries" -lOPENFHEpke -lOPENFHEbinfhe -lOPENFHEcore
echo "made $peers/bgv/openfhe-$mode: OpenFHE $version, $built"
