//! Names and match rules: random operations of several clients, on the reference and on the bus
//! under test. After each of them every client must have got the same of both, word by word.
//!
//! A sequence that fails is made as short as it can be, and printed. `DILIGENCE_SEED` repeats a run,
//! `DILIGENCE_SEQUENCES` says how many sequences are tried.

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

/// How many clients there are.
const CLIENTS: usize = 5;

/// Sequences that are tried when nothing else is said: some seconds' worth.
const SEQUENCES: u64 = 16;

/// Operations of a sequence.
const OPERATIONS: usize = 150;

#[test]
fn random_operations_have_the_answers_and_deliveries_of_the_reference() {
    let sequences = number("DILIGENCE_SEQUENCES").unwrap_or(SEQUENCES);
    let mut heard = 0;
    for seed in seeds(sequences) {
        let operations = NamesScript::new(SeededRandom::from_seed(seed)).operations(OPERATIONS);
        match run(&operations) {
            Ok(count) => heard += count,
            Err(found) => fail(&operations, found),
        }
    }
    println!("{heard} messages were compared");
    let least = sequences * OPERATIONS as u64 / 2;
    assert!(heard as u64 > least, "only {heard} messages were heard, which checks little");
}

/// Where two buses did not do the same.
struct SideDifference {
    step: usize,
    client: usize,
    ours: Vec<String>,
    reference: Vec<String>,
}

/// Does the same on both buses, and gives how much was heard.
fn run(operations: &[Operation]) -> Result<usize, SideDifference> {
    let (mut ours, mut reference) = (NamesSide::ours(), NamesSide::reference());
    let mut heard = 0;
    for (step, operation) in operations.iter().enumerate() {
        let both = ours.act(operation).into_iter().zip(reference.act(operation));
        for (client, (ours, reference)) in both.enumerate() {
            if ours != reference {
                return Err(SideDifference { step, client, ours, reference });
            }
            heard += reference.len();
        }
    }
    ours.stop();
    reference.stop();
    Ok(heard)
}

fn fail(operations: &[Operation], found: SideDifference) -> ! {
    let (operations, difference) = shrink::shortest(operations, found);
    let SideDifference { step, client, ours, reference } = difference;
    let lines: String =
        operations.iter().enumerate().map(|(at, line)| format!("{at:3}. {line}\n")).collect();
    panic!(
        "after step {step}, client {client} has heard\nof ours:      {ours:#?}\n\
         of the reference: {reference:#?}\n{lines}"
    );
}
