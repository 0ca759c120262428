//! The program `xdg-dbus-proxy`: random rules and random messages, compared with the original
//! xdg-dbus-proxy, and properties that only this one has.
//!
//! In a sequence, two equal buses with the same peers have a proxy each: one has the original, one
//! has this program. After each action, the client behind the proxy and all peers must have received
//! the same messages on both sides.
//!
//! `DILIGENCE_SEED` repeats a run, `DILIGENCE_SEQUENCES` sets the number of sequences, and
//! `DILIGENCE_ORIGINAL_PROXY` is the path of another version of the original.

mod cases;
mod command_line;
mod in_the_bus;
mod proxy;
mod script;
mod side;

use std::process::ExitCode;

use conformance::differential::{SeededRandom, number, seeds};
use conformance::{diligence, note, run_tests, test_case};

use proxy::ProxyProgram;
use script::{SandboxScript, owners, rules};
use side::{SandboxSide, SideBus, SideComparison};

fn main() -> ExitCode {
    let tests = [
        test_case!(random_messages_get_the_decisions_of_the_original),
        test_case!(random_messages_get_the_same_decisions_in_the_bus),
        test_case!(in_the_bus::no_process_stands_between),
        test_case!(in_the_bus::programs_in_bubblewrap_see_the_same_as_behind_the_original)
            .requires(in_the_bus::bubblewrap()),
        test_case!(in_the_bus::a_stopped_container_closes_the_socket),
        test_case!(in_the_bus::the_proxy_takes_over_if_the_bus_ends),
        test_case!(command_line::errors_are_those_of_the_original),
        test_case!(command_line::the_byte_and_the_end_of_the_sync_descriptor),
        test_case!(command_line::arguments_come_from_descriptors),
        test_case!(cases::everything_passes_without_a_filter),
        test_case!(cases::each_program_gets_its_replies_in_order),
        test_case!(cases::proxies_can_be_nested),
        test_case!(cases::all_serials_are_free_for_the_client),
        test_case!(cases::callers_with_the_same_serial_all_get_replies),
        test_case!(cases::only_replies_to_a_caller_pass_as_replies),
        test_case!(cases::descriptors_stay_with_their_messages),
        test_case!(cases::large_messages_pass),
        test_case!(cases::a_client_that_does_not_read_fills_no_memory),
        test_case!(cases::messages_of_a_client_that_left_are_delivered),
        test_case!(cases::malformed_data_ends_only_its_connection),
        test_case!(cases::the_handshake_is_forwarded_in_any_pieces),
        test_case!(cases::unmodified_programs_work_behind_the_proxy),
    ];
    run_tests(tests.map(|test| test.requires(diligence())))
}

/// The default number of sequences, which takes a few seconds.
const SEQUENCES: u64 = 12;

/// The number of actions in a sequence.
const ACTIONS: usize = 100;

fn random_messages_get_the_decisions_of_the_original() {
    let sequences = number("DILIGENCE_SEQUENCES").unwrap_or(SEQUENCES);
    let mut received = 0;
    for seed in seeds(sequences) {
        received += compare(seed, ProxyProgram::Ours);
    }
    check_count(received, sequences);
}

/// Differences that docs/sandboxing.md lists are left out.
fn random_messages_get_the_same_decisions_in_the_bus() {
    let sequences = number("DILIGENCE_SEQUENCES").unwrap_or(SEQUENCES);
    let mut received = 0;
    for seed in seeds(sequences) {
        received += compare(seed, ProxyProgram::InBus);
    }
    check_count(received, sequences);
}

fn check_count(received: usize, sequences: u64) {
    note(&format!("{received} messages were compared"));
    let least = sequences * ACTIONS as u64 / 2;
    assert!(received as u64 > least, "only {received} messages were received, which checks little");
}

/// Performs the same random actions on both sides, and returns the number of received messages.
fn compare(seed: u64, program: ProxyProgram) -> usize {
    let mut random = SeededRandom::from_seed(seed);
    let bus = match (random.once_in(2), program) {
        (true, ProxyProgram::Ours | ProxyProgram::Original) => SideBus::Reference,
        _ => SideBus::Ours,
    };
    let rules = rules(&mut random);
    let owners = owners(&mut random);
    let comparison = match program {
        ProxyProgram::InBus => SideComparison::Decisions,
        ProxyProgram::Ours | ProxyProgram::Original => SideComparison::Messages,
    };
    let side = |program| SandboxSide::new(bus, program, comparison, &rules, &owners);
    let (mut ours, mut original) = (side(program), side(ProxyProgram::Original));
    let mut script = SandboxScript::new(random, &rules, comparison);
    let mut received = 0;
    let mut actions = Vec::new();
    for step in 0..ACTIONS {
        let action = script.action(step + 1 == ACTIONS);
        actions.push(format!("{action:?}"));
        let found = (ours.act(&action), original.act(&action));
        if found.0 != found.1 {
            let last = actions.len().saturating_sub(12);
            panic!(
                "DILIGENCE_SEED={seed}, step {step} on the bus {bus:?} with {rules:?}\n\
                 behind our proxy: {:#?}\nbehind the original: {:#?}\nlast actions: {:#?}",
                found.0,
                found.1,
                &actions[last..]
            );
        }
        received += found.0.iter().map(Vec::len).sum::<usize>();
        if ours.has_ended() {
            break;
        }
    }
    ours.stop();
    original.stop();
    received
}
