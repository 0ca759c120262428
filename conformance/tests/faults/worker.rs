//! Processes that can be killed and stopped: this program again, as a client of the bus.

use std::time::Duration;

use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, ReceivedDescriptors, StartedProgram, TestPeer,
    kind,
};

use crate::form::raise_descriptors;
use crate::numbered;

/// The task of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerRole {
    /// Sends numbered signals `FromWorker`, and replies to calls, until it is killed.
    Talker,
    /// Receives `ToReader` until the number is [`LAST`], and prints the numbers that arrived.
    Reader,
    /// Keeps this number of connections until it is killed.
    Crowd { connections: usize },
}

/// The number of the message that ends a [`WorkerRole::Reader`].
pub(crate) const LAST: u32 = u32::MAX;

/// Starts a worker on a bus. It ends with the thread that starts it.
pub(crate) fn start(bus: &BusUnderTest, role: WorkerRole) -> StartedProgram {
    start_at(bus.address(), role)
}

/// Starts a worker by the address of the bus.
pub(crate) fn start_at(address: &str, role: WorkerRole) -> StartedProgram {
    let program = std::env::current_exe().expect("a test knows its own path");
    let (word, number) = match role {
        WorkerRole::Talker => ("talker", 0),
        WorkerRole::Reader => ("reader", 0),
        WorkerRole::Crowd { connections } => ("crowd", connections),
    };
    ExternalProgram::at(program)
        .env(ROLE, format!("{word} {number} {address}"))
        .limit(Duration::from_secs(7200))
        .start()
}

/// The ranges of numbers that a [`WorkerRole::Reader`] printed at its end: first, and last.
pub(crate) fn printed_runs(stdout: &str) -> Vec<(u32, u32)> {
    let lines = stdout.lines().filter_map(|line| line.strip_prefix(GOT));
    let number = |text: &str| text.parse().expect("a number");
    lines
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(first, last)| (number(first), number(last)))
        .collect()
}

/// Waits until a worker is connected, and returns its unique name.
pub(crate) fn wait_until_there(worker: &mut StartedProgram) -> String {
    worker.wait_for("its name", |stdout, _| {
        let line = stdout.lines().find_map(|line| line.strip_prefix(HERE))?;
        // Only complete lines count.
        stdout.contains(&format!("{HERE}{line}\n")).then(|| line.to_owned())
    })
}

/// Runs a worker process, whose role is the value of [`ROLE`].
pub(crate) fn run(role: &str) {
    let mut words = role.splitn(3, ' ');
    let [word, number, address] = [(); 3].map(|()| words.next().expect("three words"));
    match word {
        "talker" => talk(TestPeer::connect(address)),
        "reader" => read(TestPeer::connect(address)),
        "crowd" => crowd(address, number.parse().expect("a number")),
        other => panic!("no role {other}"),
    }
}

fn talk(mut peer: TestPeer) {
    println!("{HERE}{}", peer.name());
    for number in 0.. {
        peer.send(numbered::signal("FromWorker", number, 100));
        // Between two signals, the calls that have arrived get their replies.
        while let Some(message) = peer.receive_within(Duration::from_millis(1)) {
            if message.kind == kind::CALL {
                peer.send(numbered::answer(&message));
            }
        }
    }
}

fn read(mut peer: TestPeer) {
    peer.add_match(&numbered::rule("ToReader"));
    println!("{HERE}{}", peer.name());
    let mut runs: Vec<(u32, u32)> = Vec::new();
    loop {
        // It may be stopped for longer than a peer usually waits.
        let Some(message) = peer.receive_within(Duration::from_secs(600)) else { continue };
        if message.kind == kind::CALL {
            // Everything that was sent before has been received.
            peer.send(PlainMessage::error(&message, "org.freedesktop.DBus.Error.UnknownMethod"));
            continue;
        }
        if !numbered::is_numbered(&message) {
            continue;
        }
        let number = message.first_u32().expect("a number");
        match runs.last_mut() {
            _ if number == LAST => break,
            Some((_, last)) if number == *last + 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs.iter().for_each(|(first, last)| println!("{GOT}{first} {last}"));
}

fn crowd(address: &str, count: usize) {
    raise_descriptors();
    let _peers: Vec<_> = (0..count)
        .map(|_| TestPeer::connect_with(address, ReceivedDescriptors::Unwanted))
        .collect();
    println!("{HERE}{count}");
    loop {
        std::thread::park();
    }
}

/// The variable that turns this program into a worker.
pub(crate) const ROLE: &str = "DILIGENCE_FAULTS_ROLE";
const HERE: &str = "here: ";
const GOT: &str = "got: ";
