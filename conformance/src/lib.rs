//! Black-box tests of a message bus program.
//!
//! The tests use the program as any caller does: through its command line, its signals and its
//! sockets. They are not linked with the bus, so they run against every program that has the
//! options of `dbus-daemon`:
//!
//! ```sh
//! cargo build && cargo test -p diligence-conformance                        # Diligence
//! DILIGENCE_BUS=/usr/bin/dbus-daemon cargo test -p diligence-conformance    # the reference implementation
//! ```
//!
//! The expected values come from dbus-daemon, and the tests pass against it. Where Diligence
//! differs on purpose, a row of the table says so and contains both values. Cases of dbus-daemon's
//! own test programs that do not simply pass are listed in `expected-failures.txt`, with the
//! reason; a listed case that passes is a failure too.
//!
//! | test | subject |
//! | --- | --- |
//! | `reference` | the test programs of dbus-daemon, both builds |
//! | `programs` | unmodified D-Bus programs |
//! | `desktop` | services of a session: settings, files, accessibility |
//! | `callers` | programs that start a bus; clients of other users |
//! | `command_line` | every option: exit status, output, listening addresses |
//! | `process` | pid file, background, signals, reloading, configuration files |
//! | `reload` | changes in the folders of the configuration |
//! | `handshake` | authentication before the first message |
//! | `network` | TCP, nonces and cookies |
//! | `hostile` | malformed messages |
//! | `driver` | every method of the bus's own object |
//! | `names` | owners, queues and signals of names |
//! | `matching` | match rules |
//! | `names_and_rules` | random operations: the same replies and deliveries as dbus-daemon |
//! | `routing` | header fields, recipients and replies |
//! | `configuration` | random files: the same ones accepted and rejected as by dbus-daemon |
//! | `policy` | access control: random rules, the same decisions as dbus-daemon |
//! | `activation` | services that the bus starts |
//! | `limits` | every limit, and recipients that do not read |
//! | `fairness` | users that take too much, and the effect on others |
//! | `faults` | killed processes, no descriptors, memory or disk, clock changes, many connections, long runs; Diligence only |
//! | `replacement` | the bus is replaced by another program, which continues it; Diligence only |
//! | `saved_states` | states that were captured from real buses continue in another process; Diligence only |
//! | `replacement_clients` | clients of common libraries while the bus is replaced; Diligence only |
//! | `sandbox_proxy` | the program under the name `xdg-dbus-proxy`: random rules and messages, the same decisions as the original; Diligence only |
//! | `log` | peer, reason and limit in log records; Diligence only |
//! | `statistics` | counters of the bus; Diligence only |
//! | `cost` | the cost of a small call; Diligence only |
//!
//! If a program is missing, the test fails and names the Debian package to install. A test that
//! needs root, because it acts as several users, is reported as ignored if another user runs it
//! (see [`run_tests`]), and so is a test for Diligence if the bus under test is dbus-daemon.
//!
//! The parts: [`ScratchFolder`] is a folder, [`ExternalProgram`] runs a program, [`BusUnderTest`]
//! is the bus under test, [`TestPeer`] is a raw client that sends any bytes and [`PlainMessage`]
//! encodes them, [`process`] reads data of a process from the kernel, [`statistics`] reads the
//! statistics of the bus, [`check_all`] checks a table of cases, [`differential`] compares two
//! buses, [`tap`] parses the results of dbus-daemon's test programs, [`build_rust_client`] builds a
//! client with a library that nothing else uses.

mod bus;
mod client;
pub mod differential;
mod harness;
mod installed;
mod message;
mod peer;
pub mod process;
mod program;
mod scratch;
pub mod statistics;
mod table;
pub mod tap;
mod wire;

use std::io::Write as _;

pub use bus::{
    BusUnderTest, Daemon, Flavour, TestConfig, bus_binary, bus_program, bus_program_as, copy_bus,
    copy_program, first_line, instruments_binary, link_bus, socket_path,
};
pub use client::{BUILD_LIMIT, build_rust_client, client_source};
pub use harness::{TestCase, diligence, mounts, note, root, run_tests};
pub use installed::InstalledProgram;
pub use message::{BUS_NAME, BUS_PATH, PlainMessage, field, flag, kind};
pub use peer::{PeerStream, ReceivedDescriptors, TestPeer, hex, key};
pub use program::{
    ExternalProgram, FinishedProgram, RunAs, StartedProgram, USUAL_LIMIT, eventually, installed,
    require,
};
pub use rustix::process::Signal;
pub use scratch::{ScratchFolder, file_with_extension, set_mode};
use table::text_of_panic;
pub use table::{check_all, fail_with};
pub use wire::{PlainValue, ValueReader, ValueWriter, WireByteOrder, signature_of};

/// Prints a line on the real standard error, so that it is visible even if the test passes.
pub fn announce(line: &str) {
    // A closed standard error is not a failure of the bus.
    let _ = writeln!(std::io::stderr(), "{line}");
}
