//! Access control: random policies and random messages, on dbus-daemon and on the bus under test.
//! Every client must receive the same from both: the same deliveries and the same errors, word by
//! word.
//!
//! `DILIGENCE_SEED` repeats a run, `DILIGENCE_POLICIES` sets the number of policies.

mod both;
mod cases;
mod random;

use std::process::ExitCode;

use conformance::differential::{SeededRandom, number, seeds};
use conformance::{root, run_tests, test_case};

use both::{CLIENTS, PolicySide};
use random::Maker;

fn main() -> ExitCode {
    run_tests([
        test_case!(random_policies_give_the_decisions_of_dbus_daemon).requires(root()),
        test_case!(cases::the_last_matching_rule_decides_whether_a_user_connects).requires(root()),
        test_case!(cases::the_stock_policy_of_the_system_bus_applies).requires(root()),
    ])
}

/// The default number of policies, which takes a few seconds.
const POLICIES: u64 = 24;

/// The number of messages under each policy, half of them after the policy was replaced.
const STEPS: usize = 120;

fn random_policies_give_the_decisions_of_dbus_daemon() {
    let policies = number("DILIGENCE_POLICIES").unwrap_or(POLICIES);
    let mut received = 0;
    for seed in seeds(policies) {
        received += compare(&mut Maker { random: SeededRandom::from_seed(seed) });
    }
    assert!(
        received as u64 > 20 * policies,
        "only {received} messages were received, which checks little"
    );
}

/// Sends the same messages on both buses, and returns the number of received messages.
fn compare(maker: &mut Maker) -> usize {
    let mut policies = maker.policies();
    let (mut ours, mut reference) = (PolicySide::ours(&policies), PolicySide::reference(&policies));
    let mut received = check("the start", &policies, ours.begin(), reference.begin());
    for step in 0..STEPS {
        if step == STEPS / 2 {
            policies = maker.policies();
            ours.reload(&policies);
            reference.reload(&policies);
        }
        let place = maker.random.below(CLIENTS.len());
        let answer = match (ours.unanswered(place), reference.unanswered(place)) {
            (Some(call), Some(_)) if !maker.random.once_in(3) => Some(maker.answer(&call)),
            _ => None,
        };
        let message = match answer {
            Some(answer) => answer,
            None if maker.random.once_in(3) => maker.call_of_bus(),
            None => maker.message(CLIENTS.len()),
        };
        let fds = if maker.random.once_in(4) { 1 + maker.random.below(2) } else { 0 };
        let what = format!("step {step}: client {place}, {fds} fds, {message:?}");
        let of_ours = ours.act(place, message.clone(), fds);
        let of_reference = reference.act(place, message, fds);
        received += check(&what, &policies, of_ours, of_reference);
    }
    ours.stop();
    reference.stop();
    received
}

fn check(what: &str, policies: &str, ours: Vec<Vec<String>>, reference: Vec<Vec<String>>) -> usize {
    for (place, (ours, reference)) in ours.iter().zip(&reference).enumerate() {
        assert_eq!(ours, reference, "client {place} after {what}\n{policies}");
    }
    reference.iter().map(Vec::len).sum()
}
