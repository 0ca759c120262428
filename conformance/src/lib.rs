//! Black-box tests of a message bus program.
//!
//! The program is driven as any caller drives it: by its command line, by its signals and by its
//! sockets. Nothing here is linked with the bus, so the same tests run against every program that
//! takes the options of `dbus-daemon`:
//!
//! ```sh
//! cargo build && cargo test -p diligence-conformance                        # ours
//! DILIGENCE_BUS=/usr/bin/dbus-daemon cargo test -p diligence-conformance    # the reference
//! ```
//!
//! Each expected value was learnt from the reference, and the tests pass against it. Where ours
//! differs on purpose, a row of the table says so and names both values. Cases of the reference's own
//! programs that do not simply pass are listed in `expected-failures.txt`, with the reason; what is
//! listed and passes is a failure too.
//!
//! | test | what it asks |
//! | --- | --- |
//! | `reference` | the reference's own test programs, both builds |
//! | `programs` | unmodified programs that people use |
//! | `desktop` | services of a session: settings, files, accessibility |
//! | `callers` | programs that start a bus; clients of other users |
//! | `command_line` | every option: exit status, output, where the bus listens |
//! | `process` | pid file, background, signals, reloading, configuration files |
//! | `reload` | folders of the configuration that change |
//! | `handshake` | what is said before the first message |
//! | `network` | TCP, nonces and cookies |
//! | `hostile` | messages that break the format |
//! | `driver` | every method of the bus's own object |
//! | `names` | owners, queues, and who hears of a change |
//! | `matching` | match rules |
//! | `names_and_rules` | random operations: the same answers and deliveries as the reference |
//! | `routing` | what the bus writes on a message, who gets it, what comes back |
//! | `configuration` | random files: the same accepted and refused as by the reference |
//! | `policy` | who may do what: random rules, the same verdicts as the reference |
//! | `activation` | services that the bus starts |
//! | `limits` | every limit, and recipients that do not read |
//! | `fairness` | somebody who takes too much, and the others |
//! | `faults` | killed processes, no descriptors, memory or disk, clocks that jump, thousands, hours; ours only |
//! | `log` | who, what and which limit the log names; ours only |
//! | `statistics` | what the bus counts, and tells; ours only |
//! | `cost` | what a small call costs the bus; ours only |
//!
//! A program that is missing is a failure which names the Debian package to install. Cases that
//! need root, because they act as several users, say so on standard error when they are left out.
//!
//! The parts: [`ScratchFolder`] is a folder, [`ExternalProgram`] runs a program, [`BusUnderTest`] is the bus under test,
//! [`TestPeer`] is a raw client that sends any bytes and [`PlainMessage`] makes them, [`process`] is what the
//! kernel tells of a process, [`statistics`] what our bus tells of itself, [`check_all`] walks a table
//! of cases, [`differential`] does the same on two buses, [`tap`] reads the results of the reference's
//! programs.

mod bus;
pub mod differential;
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
    first_line, instruments_binary, link_bus, socket_path,
};
pub use message::{BUS_NAME, BUS_PATH, PlainMessage, field, flag, kind};
pub use peer::{PeerStream, ReceivedDescriptors, TestPeer, hex, key};
pub use program::{
    ExternalProgram, FinishedProgram, RunAs, StartedProgram, USUAL_LIMIT, eventually, installed,
    require,
};
pub use rustix::process::Signal;
pub use scratch::{ScratchFolder, set_mode};
pub use table::{check_all, fail_with};
pub use wire::{PlainValue, ValueReader, ValueWriter, WireByteOrder, signature_of};

/// Prints a line that is to be read even when the test passes, so past the capture of output.
pub fn announce(line: &str) {
    // Nobody to read it is no failure of the bus.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whether the tests run as root; when not, says which cases are left out.
#[must_use]
pub fn root_for(cases: &str) -> bool {
    let root = RunAs::is_root();
    if !root {
        announce(&format!("left out, because only root can act as several users: {cases}"));
    }
    root
}
