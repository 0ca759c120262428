//! Who may do what: random policies and random messages, on the reference and on the bus under
//! test. Every client must hear the same of both: the same deliveries, the same errors, word by word.
//!
//! `DILIGENCE_SEED` repeats a run, `DILIGENCE_POLICIES` says how many policies are tried.

mod both;
mod cases;
mod random;

use conformance::differential::{SeededRandom, number, seeds};
use conformance::root_for;

use both::{CLIENTS, PolicySide};
use random::Maker;

/// Policies that are tried when nothing else is said: some seconds' worth.
const POLICIES: u64 = 24;

/// What is done under each policy, half of it after the policy was replaced.
const STEPS: usize = 120;

#[test]
fn random_policies_have_the_verdicts_of_the_reference() {
    if !root_for("policies for several users") {
        return;
    }
    let policies = number("DILIGENCE_POLICIES").unwrap_or(POLICIES);
    let mut heard = 0;
    for seed in seeds(policies) {
        heard += compare(&mut Maker { random: SeededRandom::from_seed(seed) });
    }
    assert!(heard as u64 > 20 * policies, "only {heard} messages were heard, which checks little");
}

/// Does the same on both buses, and gives how much was heard.
fn compare(maker: &mut Maker) -> usize {
    let mut policies = maker.policies();
    let (mut ours, mut reference) = (PolicySide::ours(&policies), PolicySide::reference(&policies));
    let mut heard = check("the start", &policies, ours.begin(), reference.begin());
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
        heard += check(&what, &policies, of_ours, of_reference);
    }
    ours.stop();
    reference.stop();
    heard
}

fn check(what: &str, policies: &str, ours: Vec<Vec<String>>, reference: Vec<Vec<String>>) -> usize {
    for (place, (ours, reference)) in ours.iter().zip(&reference).enumerate() {
        assert_eq!(ours, reference, "client {place} after {what}\n{policies}");
    }
    reference.iter().map(Vec::len).sum()
}
