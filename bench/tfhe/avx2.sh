#!/bin/sh
# Runs this benchmark with AVX2 and without AVX-512 on both sides, on a processor that may have both.
#
#   ./avx2.sh [OPTIONS OF THE BENCHMARK]
#
# tfhe-rs takes AVX-512 at run time where the processor has it, by a default feature of its crate tfhe-fft. So this
# builds it with a copy of that crate without the feature, in ../target/avx2. Needs python3. The build takes minutes.
set -eu

cd "$(dirname "$0")"
target=$(cd .. && pwd)/target/avx2
copy=$target/tfhe-fft
mkdir -p "$target"
source=$(cargo metadata --format-version 1 | python3 -c '
import json, pathlib, sys
packages = json.load(sys.stdin)["packages"]
print(*(pathlib.Path(p["manifest_path"]).parent for p in packages if p["name"] == "tfhe-fft"))')
rm -rf "$copy"
cp -R "$source" "$copy"
python3 - "$copy/Cargo.toml" <<'PYTHON'
import pathlib, sys
manifest = pathlib.Path(sys.argv[1])
text = manifest.read_text()
default = text[text.index("default = ["):]
default = default[:default.index("]") + 1]
assert '"avx512"' in default, "tfhe-fft has no default feature avx512"
manifest.write_text(text.replace(default, 'default = ["std"]'))
PYTHON

# The patch changes the lock file of the benchmarks for the time of the build.
cp ../Cargo.lock "$target/Cargo.lock"
trap 'cp "$target/Cargo.lock" ../Cargo.lock' EXIT
export CARGO_TARGET_DIR="$target" RUSTFLAGS="-C target-cpu=x86-64-v3" SOLINAS_BACKEND=avx2
cargo build --profile tfhe --config "patch.crates-io.tfhe-fft.path=\"$copy\""
"$target/tfhe/bench-tfhe" "$@"
