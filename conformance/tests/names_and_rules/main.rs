//! Names and match rules: random operations of several clients, on dbus-daemon and on the bus under
//! test. After each operation every client must have received the same messages from both, word by
//! word.
//!
//! A sequence that fails is shortened as far as possible, and printed. `DILIGENCE_SEED` repeats a
//! run, `DILIGENCE_SEQUENCES` sets the number of sequences.

mod deviations;
mod operation;
mod rules;
mod script;
mod shrink;
mod side;

use conformance::differential::{SeededRandom, number, seeds};

use operation::Operation;
use script::NamesScript;
use side::NamesSide;

/// The number of clients.
const CLIENTS: usize = 5;

/// The default number of sequences, which takes a few seconds.
const SEQUENCES: u64 = 16;

/// The number of operations in a sequence.
const OPERATIONS: usize = 150;

#[test]
fn random_operations_give_the_messages_of_dbus_daemon() {
    let sequences = number("DILIGENCE_SEQUENCES").unwrap_or(SEQUENCES);
    let mut received = 0;
    for seed in seeds(sequences) {
        let operations = NamesScript::new(SeededRandom::from_seed(seed)).operations(OPERATIONS);
        match run(&operations) {
            Ok(count) => received += count,
            Err(found) => fail(&operations, found),
        }
    }
    println!("{received} messages were compared");
    let least = sequences * OPERATIONS as u64 / 2;
    assert!(received as u64 > least, "only {received} messages were received, which checks little");
}

/// The first difference between the two buses.
struct SideDifference {
    step: usize,
    client: usize,
    ours: Vec<String>,
    reference: Vec<String>,
}

/// Performs the operations on both buses, and returns the number of received messages.
fn run(operations: &[Operation]) -> Result<usize, SideDifference> {
    let (mut ours, mut reference) = (NamesSide::ours(), NamesSide::reference());
    let mut received = 0;
    for (step, operation) in operations.iter().enumerate() {
        let both = ours.act(operation).into_iter().zip(reference.act(operation));
        for (client, (ours, reference)) in both.enumerate() {
            if ours != reference {
                return Err(SideDifference { step, client, ours, reference });
            }
            received += reference.len();
        }
    }
    ours.stop();
    reference.stop();
    Ok(received)
}

fn fail(operations: &[Operation], found: SideDifference) -> ! {
    let (operations, difference) = shrink::shortest(operations, found);
    let SideDifference { step, client, ours, reference } = difference;
    let lines: String =
        operations.iter().enumerate().map(|(at, line)| format!("{at:3}. {line}\n")).collect();
    panic!(
        "after step {step}, client {client} received\nfrom Diligence:   {ours:#?}\n\
         from dbus-daemon: {reference:#?}\n{lines}"
    );
}
