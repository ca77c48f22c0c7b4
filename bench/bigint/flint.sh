#!/bin/sh
# Builds FLINT with its fft_small for this CPU, as well as it can be built: the peer of this benchmark.
#
#   ./flint.sh flint-3.x.tar.gz      a source archive (of flintlib.org, or of a distribution: flint_3.x.orig.tar.xz)
#   ./flint.sh path/to/flint         a source folder or git checkout
#
# Leaves ../target/flint-VERSION/lib/libflint.so here, and prints the setting that makes the benchmark use it.
# Needs a C compiler, make, m4, the headers of GMP and MPFR, and for a git checkout autoconf and libtool
# (Debian: gcc make m4 libgmp-dev libmpfr-dev autoconf automake libtool).
# CFLAGS may be set; FLINT's vector code is AVX2 and loses by the compiler's AVX-512 (up to a fifth, measured on Zen 4 with GCC 12).
set -eu

if [ $# -ne 1 ] || [ ! -e "$1" ]; then
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
source=$(realpath "$1")
cd "$(dirname "$0")"
target=$(cd .. && pwd)/target
work=$target/flint-build
: "${CFLAGS:=-O3 -march=native -mno-avx512f}"

rm -rf "$work"
mkdir -p "$work"
if [ -d "$source" ]; then
    cp -R "$source/." "$work"
else
    tar -xf "$source" -C "$work" --strip-components=1
fi
cd "$work"
version=$(cat VERSION)
prefix=$target/flint-$version
[ -x configure ] || ./bootstrap.sh
./configure --prefix="$prefix" --disable-static --disable-debug --enable-avx2 CFLAGS="$CFLAGS"
make -j"$(getconf _NPROCESSORS_ONLN)" library
make install
rm -rf "$work"

library=$prefix/lib/libflint.so
if ! nm -D "$library" | grep -q mpn_ctx_mpn_mul; then
    echo "flint.sh: FLINT $version was built without fft_small: this CPU or this version lacks it" >&2
    exit 1
fi
echo "export SOLINAS_FLINT=$library"
