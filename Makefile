# Diligence: build, run, test, install. `make` alone lists what there is.

CARGO  ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=

PAGE := crates/viewer/web

TARGET      := $(or $(CARGO_TARGET_DIR),target)
PROGRAM     := $(TARGET)/release/diligence
DAEMON      := $(TARGET)/release/diligence-bus
HELPER      := $(TARGET)/release/dbus-daemon-launch-helper
COMPLETIONS := $(TARGET)/completions

BIN     := $(DESTDIR)$(PREFIX)/bin
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/diligence
MAN     := $(DESTDIR)$(PREFIX)/share/man
SHARE   := $(DESTDIR)$(PREFIX)/share
SYSTEMD := $(DESTDIR)$(PREFIX)/lib/systemd
# Where the stock configuration of the system bus looks for policies, and the user that it names.
POLICIES := $(DESTDIR)/usr/share/dbus-1/system.d
BUS_USER ?= $(or $(shell sed -n 's,.*<user>\(.*\)</user>.*,\1,p' /usr/share/dbus-1/system.conf 2> /dev/null),messagebus)
PACKAGE := target/package
# Programs are installed from here, without their debug information, which is several times as large as
# they are. The symbol table stays, for backtraces. The files of the build keep everything.
STRIPPED := $(TARGET)/stripped
# Programs without libraries, for a device on which nothing can be installed.
STATIC_FOR := $(shell uname -m)-unknown-linux-musl
STATIC     := $(TARGET)/static

# Of each target.
FUZZ_SECONDS ?= 300

# Of all worlds that are simulated, and of a bus that does what it does for long.
PROVE_STEPS ?= 1000000000
PROVE_SOAK ?= 3600

# Scenarios that are documented beside the comparison.
SCENARIOS := ping-pong fan-out validation flood priority

.PHONY: help build run check test prove prove-confined prove-dependencies prove-faults prove-interpreted prove-sanitized prove-simulated coverage nightly fuzz bench bench-scenarios bench-documents packages-boot packages-build packages-static packages-test static test-long install deb

help:
	@echo 'make run      build, then a private bus with programs that talk, and a live view of it'
	@echo 'make check    format, lints, unit tests: under a minute once built'
	@echo 'make test     everything, as continuous integration runs it'
	@echo 'make test-long  more random tests, code for zbus, a Debian that boots on the bus, the static program, and mediation (root, network)'
	@echo 'make prove    $(PROVE_STEPS) steps of worlds that are simulated (PROVE_STEPS), all that can break broken'
	@echo '              around the real process, $(PROVE_SOAK) s of soak (PROVE_SOAK), the licences and advisories of'
	@echo '              what is used, the suite behind the filters of the unit, Miri, and the sanitizers (nightly'
	@echo '              compiler, network); each alone: make prove-TAB'
	@echo 'make coverage  which lines and branches the tests reach: a table, and pages below $(TARGET)/coverage'
	@echo 'make fuzz     random bytes for all that reads them, $(FUZZ_SECONDS) s each (FUZZ_SECONDS), with a nightly compiler (network)'
	@echo 'make build    the programs: $(DAEMON) and $(PROGRAM)'
	@echo 'make static   the programs as files that need no library: $(STATIC)'
	@echo 'make bench    this bus beside all others: a table, and the page $(TARGET)/bench.html'
	@echo 'make install  into PREFIX (now $(PREFIX)), and DESTDIR if that is set'
	@echo 'make deb      a Debian package: target/diligence_VERSION_ARCHITECTURE.deb'

build: packages-build
	@scripts/build-page --if-possible
	$(CARGO) build --release --locked --package diligence-daemon --package diligence-cli --package diligence-launch-helper

run: build
	$(PROGRAM) up --demo

check: packages-build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	$(CARGO) test --workspace --exclude diligence-simulated-broker --lib --bins --locked --quiet

# The programs are built first, since tests of whole processes run them, and the page before that, since it
# is part of `diligence`.
test: packages-test
	@scripts/build-page
	cd $(PAGE) && npm run --silent check && npm run --silent test
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --locked --quiet
	$(CARGO) check --locked --package diligence-wire --package diligence-bus-core
	$(CARGO) check --locked --package diligence-export --no-default-features
	$(CARGO) build --workspace --bins --locked
	$(CARGO) test --workspace --locked
	cd $(PAGE) && npm run --silent e2e

# What is not there of the standard library for musl is fetched by rustup.
static: packages-static
	rustup target add $(STATIC_FOR)
	$(CARGO) build --release --locked --package diligence-daemon --package diligence-cli --target $(STATIC_FOR)
	install -d $(STATIC)
	strip -o $(STATIC)/diligence-bus $(TARGET)/$(STATIC_FOR)/release/diligence-bus
	strip -o $(STATIC)/diligence $(TARGET)/$(STATIC_FOR)/release/diligence
	@stat --format='%n: %s bytes' $(STATIC)/diligence-bus $(STATIC)/diligence

# What takes too long, or needs too much, for every change.
test-long: packages-boot packages-test build deb static
	$(CARGO) build --workspace --bins --locked
	DILIGENCE_POLICIES=2500 $(CARGO) test --locked --package diligence-conformance --test policy
	$(CARGO) test --locked --package diligence-cli --test program -- --ignored traits_of_rust
	DILIGENCE_SEQUENCES=1500 $(CARGO) test --locked --package diligence-conformance --test names_and_rules
	DILIGENCE_CONFIGURATIONS=50000 $(CARGO) test --locked --package diligence-conformance --test configuration
	DILIGENCE_CASES=10000000 $(CARGO) test --locked --package diligence-wire --test reference
	scripts/try-static $(STATIC)
	cd $(PAGE) && DILIGENCE_BUDGET=release DILIGENCE_PROGRAM=$(abspath $(PROGRAM)) \
	    npm run --silent e2e -- tests/budget.e2e.ts tests/rate.e2e.ts
	scripts/boot-debian target/diligence_*.deb
	scripts/boot-mediation $(DAEMON)

# The long form of all proofs.
prove: prove-simulated prove-faults prove-dependencies prove-confined prove-interpreted prove-sanitized

# Worlds that are simulated, many more than for every change; each prints how to see it again.
prove-simulated: packages-build
	DILIGENCE_STEPS=$(PROVE_STEPS) $(CARGO) test --locked --release --package diligence-simulation

# One after the other, in the form of which docs/reliability.md has the numbers.
prove-faults: packages-test build
	DILIGENCE_FAULTS=long DILIGENCE_SOAK=$(PROVE_SOAK) \
	    $(CARGO) test --locked --release --package diligence-conformance --test faults -- --test-threads=1

# What is known against what the program is made of: asked of the network.
prove-dependencies:
	@$(CARGO) deny --version > /dev/null 2>&1 || $(CARGO) install cargo-deny --locked
	$(CARGO) deny --locked check

prove-confined: packages-test
	$(CARGO) build --workspace --bins --locked
	scripts/try-confined $(TARGET)/debug/diligence-bus

prove-interpreted: nightly
	scripts/miri

prove-sanitized: packages-test nightly
	scripts/sanitize

coverage: packages-test nightly
	scripts/coverage

# Instrumented code needs a nightly compiler, which is installed if it is missing, as is cargo-fuzz.
nightly:
	@rustup toolchain list | grep --quiet '^nightly' || rustup toolchain install nightly --profile minimal
	@rustup component add --toolchain nightly llvm-tools miri rust-src

fuzz: packages-build nightly
	@$(CARGO) fuzz --version > /dev/null 2>&1 || $(CARGO) install cargo-fuzz --locked
	cd fuzz && $(CARGO) run --locked --bin seeds
	cd fuzz && for target in $$(basename --multiple --suffix=.rs fuzz_targets/*); do \
	    nice -n 19 $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) \
	        -max_len=16384 -timeout=20 || exit 1; \
	done

# The buses that are missing are installed first.
bench: build
	@scripts/bench-peers
	$(PROGRAM) bench compare --json=$(TARGET)/bench.jsonl --report $(TARGET)/bench.html

# The scenarios of docs/benchmarks.md besides that of `make bench`, about half an hour.
bench-scenarios: $(SCENARIOS:%=bench-%)

$(SCENARIOS:%=bench-%): bench-%: build
	$(PROGRAM) bench $* --json=$(TARGET)/$*.jsonl

# What was measured last becomes the document and the table of the README.
bench-documents:
	$(PROGRAM) bench render $(TARGET)/bench.jsonl $(wildcard $(SCENARIOS:%=$(TARGET)/%.jsonl)) \
	    --document docs/benchmarks.md --readme README.md

packages-boot packages-build packages-static packages-test: packages-%:
	@scripts/debian-packages $*

# Neither dbus-daemon nor its units are changed: a link named dbus-daemon is put where nothing looks for
# it, for those who want to use it instead, and the units have no effect until they are enabled.
# The helper runs only for the bus, since it runs as root; a package sets its mode when it is installed.
install: build
	install -d $(STRIPPED) $(LIBEXEC)
	for program in $(DAEMON) $(PROGRAM) $(HELPER); do \
	    strip --strip-debug -o $(STRIPPED)/$$(basename $$program) $$program || exit 1; \
	done
	install -D -m 755 -t $(BIN) $(STRIPPED)/diligence-bus $(STRIPPED)/diligence
	install -m 755 $(STRIPPED)/dbus-daemon-launch-helper $(LIBEXEC)/dbus-daemon-launch-helper
	ln -sf ../../bin/diligence-bus $(LIBEXEC)/dbus-daemon
	if [ -z '$(DESTDIR)' ] && [ $$(id -u) = 0 ] && getent group messagebus > /dev/null; then \
	    chgrp messagebus $(LIBEXEC)/dbus-daemon-launch-helper; \
	    chmod 4750 $(LIBEXEC)/dbus-daemon-launch-helper; \
	fi
	$(PROGRAM) generate man $(MAN)/man1
	$(PROGRAM) generate completions $(COMPLETIONS)
	install -D -m 644 $(COMPLETIONS)/diligence.bash $(SHARE)/bash-completion/completions/diligence
	install -D -m 644 $(COMPLETIONS)/_diligence $(SHARE)/zsh/site-functions/_diligence
	install -D -m 644 $(COMPLETIONS)/diligence.fish $(SHARE)/fish/vendor_completions.d/diligence.fish
	install -d $(SYSTEMD)/system $(SYSTEMD)/user
	sed 's,@bindir@,$(PREFIX)/bin,' packaging/systemd/system.service.in > $(SYSTEMD)/system/diligence.service
	sed 's,@libexecdir@,$(PREFIX)/libexec/diligence,' packaging/systemd/helper@.service.in \
	    > $(SYSTEMD)/system/diligence-helper@.service
	sed 's,@bindir@,$(PREFIX)/bin,' packaging/systemd/user.service.in > $(SYSTEMD)/user/diligence.service
	install -d $(POLICIES)
	sed 's,@bususer@,$(BUS_USER),' packaging/dbus/org.diligence.conf.in > $(POLICIES)/org.diligence.conf

# What `make install` would install under /usr, as a package.
deb:
	@$(CARGO) deb --version > /dev/null 2>&1 || $(CARGO) install cargo-deb --locked
	rm -rf $(PACKAGE)
	$(MAKE) install DESTDIR=$(PACKAGE) PREFIX=/usr
	$(CARGO) deb --package diligence-cli --no-build --output target/
