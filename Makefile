# What a change must pass. `make` alone lists the targets.

CARGO ?= cargo
CARGO_DENY_VERSION := 0.20.2
CARGO_FUZZ_VERSION := 0.13.2
CARGO_MUTANTS_VERSION := 27.1.0

# The core with the offline command line, the same with the webhook, and everything.
CORE := --no-default-features
WEBHOOK := --no-default-features --features webhook

# The tests of the core judge hundreds of thousands of inputs and know no feature, nor do the pictures, which take a minute where they are
# not optimised: they run once. CASES are drawn for each property.
CASES := 20000
SWEEP := WARMGATE_CASES=$(CASES) $(CARGO) test --locked --profile sweep
SHELLS := --lib --bins --test shells -- --skip cli::pictures

# $(call need,PROGRAM,what it is for): ends the target where the program is missing.
need = @command -v $(1) >/dev/null || { echo "$(1) is missing: $(2)" >&2; exit 1; }

# $(call skip,what is missing,what is not done): a missing helper is no failure at home, and is one in CI.
skip = { echo "skipped: $(1), so $(2)" >&2; test "$$CI" != true; }

# $(call timed,what it is,COMMAND): says how many seconds it took.
timed = @start=$$(date +%s); $(2) && echo "== $(1): $$(($$(date +%s) - start)) s"

# The suites on a real Kubernetes, and what is done with the same harness. KUBERNETES=1.35.4 takes another release.
CLUSTER := $(CARGO) test --locked --quiet --profile sweep --test cluster --
export KUBERNETES

.PHONY: help test sweep bench soak lint fmt fuzz mutants advisories cluster cluster-down conformance kubelet image reproducible

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

test: ## run every test, with all three feature sets, and the suites on a real Kubernetes
	$(call need,$(CARGO),install the Rust toolchain from https://rustup.rs)
	$(call need,cc,ring and the linker need a C compiler (Debian: gcc libc6-dev))
	$(call timed,tests with all features,$(SWEEP))
	$(call timed,tests of the webhook alone,$(CARGO) test --locked $(WEBHOOK) $(SHELLS))
	$(call timed,tests of the command line alone,$(CARGO) test --locked $(CORE) $(SHELLS))
	$(call timed,suites on a real Kubernetes,$(CLUSTER))

# WRITE= leaves the page as it is.
WRITE := --write

sweep: ## hold every property of the core against CASES inputs, with CASES=1000000 for hours
	$(SWEEP) --test core properties

bench: ## measure the webhook and the command line, and write docs/performance.md; on a machine that does nothing else
	$(CARGO) bench --locked --bench webhook -- $(WRITE)
	$(CARGO) bench --locked --bench commands -- --peers $(WRITE)

soak: ## send the release binary everything hostile, often and beside good requests; on a machine that does nothing else
	$(CARGO) test --locked --release --test shells -- --ignored --nocapture --test-threads=1 soak_

cluster: ## start a Kubernetes, install warmgate from this tree, and leave it running
	$(CLUSTER) --up

cluster-down: ## end it
	$(CLUSTER) --down

# The seed of the first pod, and how many there are.
SEED := 10000
PODS := 2100

kubelet: ## ask a real kubelet, point by point, whether it does what the simulator says; on a machine that does nothing else
	$(CLUSTER) kubelet_

conformance: ## run $(PODS) drawn pods on a real kubelet, and write docs/conformance.md from what it did
	$(CLUSTER) --conformance $(SEED) $(PODS)

image: ## write the image to target/warmgate.tar
	$(CLUSTER) --image target/warmgate.tar

reproducible: ## build the image twice, in two folders, and compare
	$(CLUSTER) --reproducible

# What is fuzzed, and for how long: a minute each, or RUNS inputs each. `make fuzz FUZZ=review RUNS=2000000`.
FUZZ := annotations facts manifest pem plan review simulator
MINUTES := 1
RUNS :=

# No sanitizer: our code is safe Rust, and without one the inputs are twice as many. Limits of time and memory are kept by the
# targets themselves (fuzz/src/lib.rs); libFuzzer's own end what never comes to its end.
FUZZING = $(if $(RUNS),-runs=$(RUNS),-max_total_time=$$(($(MINUTES) * 60))) -timeout=60 -rss_limit_mb=1024 -len_control=20 -print_final_stats=1

# How long its inputs are, and the words that they are made of.
FUZZ_annotations := -max_len=512 -dict=fuzz/dictionaries/annotations.dict
FUZZ_facts := -max_len=4096 -dict=fuzz/dictionaries/facts.dict
FUZZ_manifest := -max_len=4096 -dict=fuzz/dictionaries/objects.dict
FUZZ_pem := -max_len=2048 -dict=fuzz/dictionaries/pem.dict
FUZZ_plan := -max_len=800
FUZZ_review := -max_len=4096 -dict=fuzz/dictionaries/objects.dict
FUZZ_simulator := -max_len=400

# What more a target starts from. New inputs are written into the folder that comes first, so these come last.
FROM_facts := knowledge
FROM_manifest := examples tests/cases
FROM_review := examples tests/cases

fuzz: $(FUZZ:%=fuzz-%) ## look for inputs that break what must hold, a minute for each target

fuzz-%:
	$(call need,$(CARGO),install the Rust toolchain from https://rustup.rs)
	$(call need,cargo-fuzz,cargo install cargo-fuzz --locked --version $(CARGO_FUZZ_VERSION))
	@mkdir -p fuzz/corpus/$*
	$(CARGO) fuzz run --sanitizer none $* fuzz/corpus/$* $(wildcard fuzz/seeds/$*) $(FROM_$*) -- $(FUZZING) $(FUZZ_$*)

# Which part of the places, K/N: each takes about a minute on a core.
SHARD := 0/20

mutants: ## change the judgement in one place at a time, and say which changes no test notices; SHARD=3/20 takes the fourth of 20 parts
	$(call need,cargo-mutants,cargo install cargo-mutants --locked --version $(CARGO_MUTANTS_VERSION))
	WARMGATE_CASES=300 $(CARGO) mutants --shard $(SHARD) --sharding round-robin --jobs 2 --output target

lint: ## check the format, the lints of all three feature sets and of the fuzz targets, and the links in the documentation
	$(call need,$(CARGO),install the Rust toolchain from https://rustup.rs)
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets --test cluster -- -D warnings
	$(CARGO) clippy --locked --all-targets $(WEBHOOK) -- -D warnings
	$(CARGO) clippy --locked --all-targets $(CORE) -- -D warnings
	$(CARGO) fmt --check --manifest-path fuzz/Cargo.toml
	$(CARGO) clippy --locked --all-targets --manifest-path fuzz/Cargo.toml --target-dir target -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps

fmt: ## format the code
	$(CARGO) fmt
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml

advisories: ## check the dependencies against deny.toml and the RustSec database
	@if ! command -v cargo-deny >/dev/null; then \
		$(call skip,cargo-deny is missing (cargo install cargo-deny --locked --version $(CARGO_DENY_VERSION)),no dependency is checked); \
	else \
		$(CARGO) deny --locked check bans licenses sources && \
		if $(CARGO) deny fetch db >/dev/null 2>&1; then $(CARGO) deny --locked check --disable-fetch advisories; \
		else $(call skip,the RustSec database cannot be reached,known vulnerabilities are not looked up); fi; \
	fi
