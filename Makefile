# Diligence: build, run, test, install. `make` alone lists the targets.

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
LIB     := $(DESTDIR)$(PREFIX)/lib/diligence
# The folder in which the stock configuration of the system bus looks for policies, and the user
# that it names.
POLICIES := $(DESTDIR)/usr/share/dbus-1/system.d
BUS_USER ?= $(or $(shell sed -n 's,.*<user>\(.*\)</user>.*,\1,p' /usr/share/dbus-1/system.conf 2> /dev/null),messagebus)
PACKAGE := target/package
# `make install` copies the programs from this folder, without debug information, which is several
# times their size. The symbol table stays, for backtraces. The build keeps the complete files.
STRIPPED := $(TARGET)/stripped
# Programs without dynamic libraries, for devices on which nothing can be installed.
STATIC_FOR := $(shell uname -m)-unknown-linux-musl
STATIC     := $(TARGET)/static

# A library with the interface of libdbus: see docs/libdbus.md.
LIBDBUS := $(TARGET)/release/libdbus

# Seconds of fuzzing for each target.
FUZZ_SECONDS ?= 300

# Steps of all simulated worlds together, and seconds of the soak test.
PROVE_STEPS ?= 1000000000
PROVE_SOAK ?= 3600

# Scenarios that docs/benchmarks.md shows in addition to the comparison.
SCENARIOS := ping-pong fan-out validation flood priority sandbox lanes

.PHONY: help build run check test prove prove-confined prove-dependencies prove-faults prove-interpreted prove-sanitized prove-simulated coverage nightly fuzz libdbus compare-api bench bench-scenarios bench-documents packages-boot packages-build packages-clients packages-static packages-test static test-long install install-libdbus deb

help:
	@echo 'make run        build quickly, then start a private bus with demo programs and a live view'
	@echo 'make check      formatting, lints and unit tests: under a minute once built'
	@echo 'make test       all checks and tests that continuous integration runs'
	@echo 'make test-long  longer random tests, generated code for zbus, a Debian that boots with the bus,'
	@echo '                the static programs, and mediation (needs root and the network)'
	@echo 'make prove      long proofs, each also alone (make prove-TAB): $(PROVE_STEPS) steps of simulated'
	@echo '                worlds (PROVE_STEPS), faults around the real process and $(PROVE_SOAK) s of soak'
	@echo '                (PROVE_SOAK), licenses and advisories of the dependencies, the suite behind the'
	@echo '                filters of the unit, Miri, and the sanitizers (nightly compiler, network)'
	@echo 'make coverage   lines and branches that the tests reach: a table, and pages in $(TARGET)/coverage'
	@echo 'make fuzz       fuzz every parser for $(FUZZ_SECONDS) s (FUZZ_SECONDS; nightly compiler, network)'
	@echo 'make build      the programs: $(DAEMON) and $(PROGRAM)'
	@echo 'make libdbus    a shared library that replaces libdbus-1.so.3, in $(LIBDBUS)'
	@echo 'make static     the programs without dynamic libraries, in $(STATIC)'
	@echo 'make compare-api  compare the public items of the libraries with the latest release (a tag)'
	@echo 'make bench      compare this bus with all others: a table, and the page $(TARGET)/bench.html'
	@echo 'make install    install into PREFIX (now $(PREFIX)), below DESTDIR if it is set'
	@echo 'make install-libdbus'
	@echo '                install the library that replaces libdbus-1.so.3, for programs that are told to'
	@echo '                use it with LD_LIBRARY_PATH, into $(PREFIX)/lib/diligence'
	@echo 'make deb        a Debian package: target/diligence_VERSION_ARCHITECTURE.deb'

build: packages-build
	@scripts/build-page --if-possible
	$(CARGO) build --release --locked --package diligence-daemon --package diligence-cli --package diligence-launch-helper

# The linker, unlike cargo, can give the functions the versions that programs ask for.
libdbus: packages-build
	$(CARGO) build --release --locked --package diligence-libdbus
	install -d $(LIBDBUS)
	$(CC) -shared -o $(LIBDBUS)/libdbus-1.so.3 \
	    -Wl,-soname,libdbus-1.so.3,--gc-sections,--version-script=crates/libdbus/symbols.map \
	    -Wl,--whole-archive $(TARGET)/release/liblibdbus.a -Wl,--no-whole-archive -lgcc_s
	@stat --format='%n: %s bytes' $(LIBDBUS)/libdbus-1.so.3

# With little optimization, and without the formats of `export` that take long to compile.
run: packages-build
	@scripts/build-page --if-possible --without-analysis
	$(CARGO) build --profile quick --locked --package diligence-daemon --package diligence-cli --no-default-features
	$(TARGET)/quick/diligence up --demo

check: packages-build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	$(CARGO) test --workspace --exclude diligence-simulated-broker --lib --bins --locked --quiet

# The page is built first, because it is part of `diligence`, and then the programs, because tests
# of whole processes run them.
test: packages-test
	@scripts/build-page
	cd $(PAGE) && npm run --silent check && npm run --silent test
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --workspace --no-deps --locked --quiet
	$(CARGO) check --locked --package diligence-wire --package diligence-bus-core
	$(CARGO) check --locked --package diligence-export --no-default-features
	scripts/oldest-rust
	$(CARGO) build --workspace --bins --locked
	$(CARGO) test --workspace --locked
	$(CARGO) test --package diligence-client --features tokio --test asynchronous --test pains --locked
	scripts/replaced-tests short
	cd $(PAGE) && npm run --silent e2e

# rustup downloads the standard library for musl if it is missing.
static: packages-static
	rustup target add $(STATIC_FOR)
	$(CARGO) build --release --locked --package diligence-daemon --package diligence-cli --target $(STATIC_FOR)
	install -d $(STATIC)
	strip -o $(STATIC)/diligence-bus $(TARGET)/$(STATIC_FOR)/release/diligence-bus
	strip -o $(STATIC)/diligence $(TARGET)/$(STATIC_FOR)/release/diligence
	@stat --format='%n: %s bytes' $(STATIC)/diligence-bus $(STATIC)/diligence

# Tests that take too long, or need too much, to run for every change.
test-long: packages-boot packages-clients packages-test build deb static
	$(CARGO) build --workspace --bins --locked
	DILIGENCE_POLICIES=2500 $(CARGO) test --locked --package diligence-conformance --test policy
	$(CARGO) test --locked --package diligence-cli --test program -- --ignored rust_proxies
	DILIGENCE_SEQUENCES=1500 $(CARGO) test --locked --package diligence-conformance --test names_and_rules
	DILIGENCE_SEQUENCES=1500 $(CARGO) test --locked --package diligence-conformance --test sandbox_proxy
	scripts/replaced-tests all
	DILIGENCE_REPLACEMENTS=1000 $(CARGO) test --locked --package diligence-conformance --test replacement_clients
	DILIGENCE_BUILD_CLIENTS=1 $(CARGO) test --locked --package diligence-conformance --test user_namespaces
	DILIGENCE_CONFIGURATIONS=50000 $(CARGO) test --locked --package diligence-conformance --test configuration
	DILIGENCE_CASES=10000000 $(CARGO) test --locked --package diligence-wire --test reference
	DILIGENCE_SEQUENCES=1000 $(CARGO) test --locked --package diligence-libdbus --test differences random
	scripts/try-static $(STATIC)
	cd $(PAGE) && DILIGENCE_BUDGET=release DILIGENCE_PROGRAM=$(abspath $(PROGRAM)) \
	    npm run --silent e2e -- tests/budget.e2e.ts tests/rate.e2e.ts
	scripts/boot-debian target/diligence_*.deb
	scripts/boot-mediation $(DAEMON)

# The long form of all proofs.
prove: prove-simulated prove-faults prove-dependencies prove-confined prove-interpreted prove-sanitized

# Many more simulated worlds than for every change. A failure prints the command that repeats it.
prove-simulated: packages-build
	DILIGENCE_STEPS=$(PROVE_STEPS) $(CARGO) test --locked --release --package diligence-simulation

# The fault tests, one after the other, in the form whose figures docs/reliability.md shows.
prove-faults: packages-test build
	DILIGENCE_FAULTS=long DILIGENCE_SOAK=$(PROVE_SOAK) \
	    $(CARGO) test --locked --release --package diligence-conformance --test faults -- --test-threads=1

# Licenses, sources and known vulnerabilities of all dependencies. The advisories are downloaded.
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

# A few texts of a restored state live as long as the bus, which leak detection would report.
# Instrumented code needs a nightly compiler. It is installed if it is missing, like cargo-fuzz.
nightly:
	@rustup toolchain list | grep --quiet '^nightly' || rustup toolchain install nightly --profile minimal
	@rustup component add --toolchain nightly llvm-tools miri rust-src

fuzz: packages-build nightly
	@$(CARGO) fuzz --version > /dev/null 2>&1 || $(CARGO) install cargo-fuzz --locked
	cd fuzz && $(CARGO) run --locked --bin seeds
	cd fuzz && for target in $$(basename --multiple --suffix=.rs fuzz_targets/*); do \
	    nice -n 19 $(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -detect_leaks=0 \
	        -max_len=16384 -timeout=20 || exit 1; \
	done

# Fails if the libraries for other programs changed incompatibly since the latest release (a tag), and
# the version does not say so.
compare-api:
	scripts/compare-api

# Installs the buses that are missing first.
bench: build
	@scripts/bench-peers
	$(PROGRAM) bench compare --json=$(TARGET)/bench.jsonl --report $(TARGET)/bench.html

# The other scenarios of docs/benchmarks.md; they take about half an hour.
bench-scenarios: $(SCENARIOS:%=bench-%)

$(SCENARIOS:%=bench-%): bench-%: build
	$(PROGRAM) bench $* $(OPTIONS) --json=$(TARGET)/$*.jsonl

bench-lanes: libdbus
bench-lanes: OPTIONS = --libdbus=$(LIBDBUS)

# Writes the newest results into docs/benchmarks.md and the tables of the README.
bench-documents:
	$(PROGRAM) bench render $(TARGET)/bench.jsonl $(wildcard $(SCENARIOS:%=$(TARGET)/%.jsonl)) \
	    --document docs/benchmarks.md --readme README.md

packages-boot packages-build packages-clients packages-static packages-test: packages-%:
	@scripts/debian-packages $*

# dbus-daemon, its units and xdg-dbus-proxy stay unchanged: the links with these names are in a
# folder that is not in PATH, for programs that are configured to use them, and the units have no
# effect until they are enabled. The helper runs as root, so only the group of the bus may execute it; a package sets its
# mode at installation. An installation that is not below DESTDIR then replaces the running buses.
install: build
	install -d $(STRIPPED) $(LIBEXEC)
	for program in $(DAEMON) $(PROGRAM) $(HELPER); do \
	    strip --strip-debug -o $(STRIPPED)/$$(basename $$program) $$program || exit 1; \
	done
	install -D -m 755 -t $(BIN) $(STRIPPED)/diligence-bus $(STRIPPED)/diligence
	install -m 755 $(STRIPPED)/dbus-daemon-launch-helper $(LIBEXEC)/dbus-daemon-launch-helper
	ln -sf ../../bin/diligence-bus $(LIBEXEC)/dbus-daemon
	ln -sf ../../bin/diligence-bus $(LIBEXEC)/xdg-dbus-proxy
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
	sed 's,@bindir@,$(PREFIX)/bin,' packaging/replace-running-buses.in > $(STRIPPED)/replace-running-buses
	install -m 755 $(STRIPPED)/replace-running-buses $(LIBEXEC)/replace-running-buses
	sed 's,@bususer@,$(BUS_USER),' packaging/dbus/org.diligence.conf.in > $(POLICIES)/org.diligence.conf
	if [ -z '$(DESTDIR)' ] && [ $$(id -u) = 0 ]; then $(LIBEXEC)/replace-running-buses; fi

# Never in a folder that the dynamic linker searches: programs use the library only if they are told.
install-libdbus: libdbus
	install -d $(LIB)
	strip --strip-debug -o $(LIB)/libdbus-1.so.3 $(LIBDBUS)/libdbus-1.so.3
	chmod 644 $(LIB)/libdbus-1.so.3

# A Debian package of what `make install` installs below /usr.
deb:
	@$(CARGO) deb --version > /dev/null 2>&1 || $(CARGO) install cargo-deb --locked
	rm -rf $(PACKAGE)
	$(MAKE) install DESTDIR=$(PACKAGE) PREFIX=/usr
	$(CARGO) deb --package diligence-cli --no-build --output target/
