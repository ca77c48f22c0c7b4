#!/bin/bash
# Builds tfhe-rs 1.8.2 with its CUDA back end, and our program tfhe-gpu that times it: tfhe-gpu.sh [FOLDER]
#
# FOLDER is ../target/peers/tfhe-gpu if none is named. The build takes some 17 minutes on two cores and no GPU, because
# the compiler nvcc comes from PyPI. It needs Rust, g++ 12 or 13, cmake, make, and Python with venv. The program needs a GPU of
# compute capability 9.0, the NVIDIA driver 580 or newer, and glibc 2.34 or newer.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:-$here/../target/peers/tfhe-gpu}"
cd "${1:-$here/../target/peers/tfhe-gpu}"
folder=$PWD
cp -r "$here/tfhe-gpu/." .
export CARGO_TARGET_DIR=$folder/target CARGO_BUILD_JOBS=${JOBS:-2}

[ -x venv/bin/pip ] || python3 -m venv venv
venv/bin/pip install -q --no-deps nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-cuda-profiler-api==13.0.85
cuda=$(echo "$folder"/venv/lib/python3*/site-packages/nvidia/cu13)
ln -sfn lib "$cuda/lib64"
ln -sfn libcudart.so.13 "$cuda/lib/libcudart.so"
export CUDA_HOME=$cuda CUDA_PATH=$cuda CUDACXX=$cuda/bin/nvcc CUDAARCHS=90 PATH=$cuda/bin:$PATH

if [ ! -d vendor ]; then
    # The two crates that compile CUDA are copied from the registry, with two changes.
    mkdir -p fetch/src
    touch fetch/src/lib.rs
    cat > fetch/Cargo.toml <<'MANIFEST'
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"

[workspace]

[dependencies]
tfhe-cuda-backend = "=0.16.0"
tfhe-cuda-common = "=0.1.1"
MANIFEST
    cargo fetch --manifest-path fetch/Cargo.toml
    rm -rf fetch
    rm -rf vendor.new
    mkdir vendor.new
    gcc=$(dirname "$(g++ -print-file-name=libgomp.a)")
    for crate in backend-0.16.0 common-0.1.1; do
        to=vendor.new/tfhe-cuda-${crate%-*}
        cp -r "$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/tfhe-cuda-"$crate" | head -1)" "$to"
        # The architecture is the one that its own probe chooses on an H100 or H200.
        sed -i 's/^add_compile_definitions(CUDA_ARCH=/set(CMAKE_CUDA_ARCHITECTURES 90-real)\nset(CUDA_ARCH "900")\n&/' \
            "$to/cuda/CMakeLists.txt"
        # The libraries of CUDA and of the compiler are linked statically, so the program runs where they are missing.
        static=
        for link in search=native="$cuda/lib" search=native="$gcc" lib=static=cudart_static lib=dl lib=rt lib=pthread; do
            static+="println!(\"cargo:rustc-link-$link\"); "
        done
        sed -i -e "s#println!(\"cargo:rustc-link-lib=cudart\");#$static#" \
            -e 's/rustc-link-lib=gomp/rustc-link-lib=static=gomp/' -e 's/rustc-link-lib=stdc++/rustc-link-lib=static=stdc++/' "$to/build.rs"
    done
    # Files newer than the headers keep the bindings that are there, so libclang is not needed.
    sleep 1
    touch vendor.new/*/src/*.rs
    mv vendor.new vendor
fi

cargo build --release --locked
cp target/release/tfhe-gpu .
echo "tfhe-rs 1.8.2, tfhe-cuda-backend 0.16.0, nvcc 13.0.88 for sm_90: $folder/tfhe-gpu"
