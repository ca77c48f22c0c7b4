#!/bin/sh
# Checks and measures the GPU engines: tools/gpu/measure.sh FOLDER [OPTIONS OF gpu-lab]
#
# Takes at most 9 minutes after the build. On a machine without Rust, copy gpu-lab there and set GPU_LAB to its path:
# it needs the NVIDIA driver and glibc 2.36 or newer. It reads the state of the GPU and changes no setting.
set -eu

folder=${1:?"usage: tools/gpu/measure.sh FOLDER [OPTIONS OF gpu-lab]"}
shift
if [ -z "${GPU_LAB:-}" ]; then
    root=$(cd "$(dirname "$0")/../.." && pwd)
    cargo build --quiet --release --package solinas-gpu-lab --manifest-path "$root/Cargo.toml"
    GPU_LAB=${CARGO_TARGET_DIR:-$root/target}/release/gpu-lab
fi
exec "$GPU_LAB" "$folder" "$@"
