# Two commands do all set-up: `make demo` runs the main job, `make test` passes the tests.
# They need a Rust toolchain and Python 3.11. tools/install_test_tools.sh installs what else the tests need; the rest is
# installed below this folder.

CARGO ?= cargo
PYTHON ?= python3
VENV := .venv
RAY := ray==2.60.0
BLAKE3 := blake3==1.0.11
BIN := $(VENV)/bin
TOOLS := $(CURDIR)/target/tools
RTL_CACHE := $(or $(SOLINAS_RTL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/solinas/rtl)
RTL_PYTHON := $(RTL_CACHE)/tools/bin/python
MDBOOK_VERSION := 0.5.4
MDBOOK := $(TOOLS)/bin/mdbook

.PHONY: demo examples gpu-emulated rtl rtl-area test test-long ci quick test-tools build-rust test-rust test-rust-long test-stack test-rtl build-python test-python lint lint-bench lint-crates web web-quick fuzz-smoke limits faults python wheel book bench bench-bigint clean help test-cluster bench-cluster soak

help: ## Lists the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: ## Sealed-bid auction: the server finds the winner without seeing a bid
	@echo "The first time, this compiles about 100 crates: about two minutes on two cores. Later it begins at once."
	$(CARGO) run --profile demo --package solinas-cli --no-default-features -- demo

gpu-emulated: python ## The long runs on the emulated GPU: the kernels, the README's program, the demonstration
	$(CARGO) test --quiet --release --package solinas-gpu --package solinas-gpu-lab -- --include-ignored
	SOLINAS_DEVICE=emulated $(BIN)/python tools/gpu/readme.py
	$(CARGO) run --quiet --release --bin solinas -- demo --quick --device emulated

rtl: test-rtl ## The long runs of the hardware designs: full instances, faults, proofs (more than an hour)
	$(RTL_PYTHON) rtl/tools/prove.py
	$(RTL_PYTHON) rtl/tools/simulators.py
	$(RTL_PYTHON) rtl/tools/faults.py
	SOLINAS_RTL_FIGURES=$(CURDIR)/docs/measurements/rtl-cycles.json \
		$(CARGO) test --release --package solinas-rtl -- --include-ignored --nocapture --test-threads 1

rtl-area: test-tools ## Areas and depths of the hardware designs beside the papers
	$(RTL_PYTHON) rtl/tools/area.py --json docs/measurements/rtl-area.json

# The Rust tests and the Python tests each leave a core idle for a part of their time, so stages run beside them (tools/stages.sh).
STAGES := test-tools web-quick lint-crates build-rust build-python test-stack
# A test that lacks one of these fails: crates/testing/src/lib.rs lists the names.
export SOLINAS_REQUIRE ?= rtl

test: ## All tests: lints, Rust, documentation, command line, a short fuzzing, Python; prints the time of each stage
	+@MAKE="$(MAKE)" tools/stages.sh $(STAGES) test-rust+test-rtl,test-python

test-long: ## The tests with all of their cases: kills, faults, sweeps, random programs (hours)
	+@SOLINAS_LONG=1 MAKE="$(MAKE)" tools/stages.sh test-tools web-quick build-rust test-rust-long test-rtl build-python test-python

ci: ## What CI runs: all tests, and the lints of the benchmarks
	+@MAKE="$(MAKE)" tools/stages.sh $(STAGES) test-rust+test-rtl,lint-bench,test-python

test-tools: ## Installs what the tests need and the machine lacks
	@tools/install_test_tools.sh
	@tools/install_rtl_tools.sh

lint: lint-crates lint-bench ## Formatting, clippy, dependency direction, links of the documentation; the benchmarks too

lint-bench:
	$(CARGO) xtask bench-lint

lint-crates:
	$(CARGO) xtask ci-lint
	$(CARGO) check --quiet --package solinas-cli --no-default-features # the command of `make demo`

web: ## The client of the service's page, which goes into later builds of the command
	$(CARGO) xtask web --if-possible

web-quick: ## The same client as the tests have it: larger and slower, compiled in half of the time
	$(CARGO) xtask web --quick --if-possible

# Clippy reads the examples. Without this selection, cargo would compile them too.
TESTS := --quiet --workspace --lib --bins --tests

build-rust:
	$(CARGO) test $(TESTS) --no-run

test-rust: ## Rust tests, the command line's and a short fuzzing included, and documentation tests
	$(CARGO) test $(TESTS)
	$(CARGO) test --quiet --workspace --doc

test-rust-long: test-rust
	$(CARGO) xtask golden

quick: ## What to run while you work: formatting, clippy, unit tests and short tests (2 minutes after a small change)
	$(CARGO) fmt --all --check
	$(CARGO) clippy --quiet --workspace --all-targets -- -D warnings
	$(CARGO) test --quiet --workspace --lib --bins --test bigint --test circuits --test formats --test ring

test-stack: ## Every kernel on a small stack, without optimization
	$(CARGO) xtask stack

test-rtl: test-tools ## Hardware designs: lint, and the benches of the leaves
	$(RTL_PYTHON) rtl/tools/lint.py
	$(CARGO) xtask vectors
	$(RTL_PYTHON) rtl/tools/simulators.py --quick

python: $(VENV)/buildable ## The Python package, in .venv
	$(BIN)/maturin develop --quiet --release --manifest-path python/Cargo.toml

examples: python $(VENV)/equipped ## The Python package, and what the programs in examples/ and bench/service/ import

$(VENV)/buildable: python/requirements-build.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --requirement python/requirements-build.txt
	touch $@

$(VENV)/equipped: $(VENV)/buildable python/requirements-examples.txt
	$(BIN)/pip install --quiet --requirement python/requirements-examples.txt
	touch $@

$(VENV)/installed: $(VENV)/buildable python/requirements-examples.txt python/requirements-dev.txt
	$(BIN)/pip install --quiet --requirement python/requirements-dev.txt
	touch $@

wheel: $(VENV)/buildable ## The Python wheel for Linux (glibc 2.28 and later), tried in a fresh environment
	$(BIN)/pip install --quiet ziglang==0.17.1
	PATH="$(CURDIR)/$(BIN):$$PATH" maturin build --quiet --release --zig --compatibility manylinux_2_28 --manifest-path python/Cargo.toml --out target/wheels
	$(BIN)/python tools/check_wheel.py target/wheels

book: $(MDBOOK) ## The documentation as a site, in target/book
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) xtask book

$(MDBOOK):
	$(CARGO) install --quiet --locked --root $(TOOLS) mdbook --version $(MDBOOK_VERSION)

build-python: $(VENV)/installed web-quick
	$(CARGO) xtask python-package

test-python: build-python ## Python tests, stubs, types and the examples of the documentation
	PYTHONPATH=$(CURDIR)/target/python $(BIN)/python -m pytest --quiet python/tests

test-cluster: $(VENV)/installed ## Several machines: Ray's nodes on this machine, one of them killed (installs Ray)
	$(BIN)/pip install --quiet $(RAY)
	$(CARGO) xtask python-package
	PYTHONPATH=$(CURDIR)/target/python $(BIN)/python -m pytest --quiet -s python/tests/test_cluster.py

bench-cluster: python ## Workers of a Ray cluster on this machine beside one server with as many threads (installs Ray)
	$(BIN)/pip install --quiet $(RAY)
	$(BIN)/python bench/cluster/scaling.py

soak: examples web ## Long runs of the service: load, kills, cut uploads, throughput, estimates, faults (75 minutes; installs blake3)
	$(CARGO) build --quiet --release --bin solinas
	$(BIN)/pip install --quiet $(BLAKE3)
	$(BIN)/python bench/service/load.py
	$(BIN)/python bench/service/throughput.py
	$(BIN)/python bench/service/upload.py
	$(BIN)/python bench/service/estimates.py
	$(BIN)/python bench/service/random_requests.py
	$(BIN)/python bench/service/frozen.py
	$(BIN)/python bench/service/rolling.py
	$(BIN)/python bench/service/kills.py

limits: ## Requests for much memory, at the limits of the defaults, to a service with 4 GiB of address space (10 minutes)
	$(CARGO) build --quiet --release --bin solinas
	SOLINAS_LIMITS=long SOLINAS_COMMAND=$(CURDIR)/target/release/solinas $(CARGO) test --workspace --test service limits -- --nocapture

fuzz-smoke: ## Every parser of untrusted bytes, half a minute each
	$(CARGO) xtask fuzz-smoke --seconds 30

faults: ## 1000 kills and every failing call over all commands that write, and little memory over all commands: 20 minutes
	SOLINAS_LONG=1 $(CARGO) test --workspace --test cli faults:: -- --nocapture

bench: ## Our engine beside tfhe-rs, in one run (builds tfhe-rs: several minutes)
	cd bench/tfhe && $(CARGO) run --profile tfhe -- --quick

bench-bigint: ## Our big integers beside GMP, FLINT, malachite and OpenSSL, in one run
	cd bench/bigint && $(CARGO) run --release -- --quick

clean: ## Removes what was built
	$(CARGO) clean
	rm -rf $(VENV)
