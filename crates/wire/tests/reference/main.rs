//! Differential tests against libdbus: both implementations must accept the same input and read the
//! same content. The input is random: messages, names, signatures, addresses and match rules.
//!
//! The program `judge.c` queries libdbus. Match rules are sent to a bus, because libdbus has no
//! public function for them. Intended differences are in `deviations.rs`; each is a row of
//! docs/deviations.md. Any other difference is a failure that prints the case.
//!
//! `DILIGENCE_CASES` is the number of messages, `DILIGENCE_SEED` the seed of the random numbers.

mod addresses;
mod bus;
mod deviations;
mod judge;
mod messages;
mod rules;
mod texts;

use std::collections::BTreeMap;

use testkit::random::Random;

use judge::{Judge, JudgedText, ReferenceVerdict};

/// Number of cases per batch.
const BATCH: usize = 250;

/// The known deviation that explains why two verdicts differ, if there is one.
type KnownDeviation = Option<&'static str>;

/// Random cases of one kind, and their verdicts by this implementation.
struct ReferenceComparison<'c, C> {
    kind: JudgedText,
    count: usize,
    /// Generates a random case.
    case: &'c dyn Fn(&mut Random) -> C,
    /// The verdict of this implementation.
    ours: &'c dyn Fn(&C) -> ReferenceVerdict,
    /// The known deviation for a case, our verdict and the verdict of libdbus.
    deviation: &'c dyn Fn(&C, &ReferenceVerdict, &ReferenceVerdict) -> KnownDeviation,
}

impl<C: AsRef<[u8]>> ReferenceComparison<'_, C> {
    fn run(&self, judge: &mut Judge) {
        let mut random = Random::from_env();
        let mut counts = BTreeMap::new();
        let mut differences = Vec::new();
        let mut left = self.count;
        while left > 0 && differences.len() < DIFFERENCES_SHOWN {
            let count = left.min(BATCH);
            left -= count;
            let cases: Vec<C> = (0..count).map(|_| (self.case)(&mut random)).collect();
            judge.ask(self.kind, cases.iter().map(AsRef::as_ref));
            let ours: Vec<ReferenceVerdict> = cases.iter().map(self.ours).collect();
            for (case, ours) in cases.iter().zip(ours) {
                let theirs = judge.verdict();
                let outcome = match (self.deviation)(case, &ours, &theirs) {
                    _ if ours == theirs => outcome(&ours),
                    _ if is_invalid(&ours) && is_invalid(&theirs) => "refused",
                    Some(deviation) => deviation,
                    None => {
                        differences.push((rust_literal(case.as_ref()), ours, theirs));
                        continue;
                    }
                };
                *counts.entry(outcome).or_insert(0_usize) += 1;
            }
        }
        println!("{:?}: {counts:?}", self.kind);
        for (case, ours, theirs) in &differences {
            println!("{case}\n  ours:   {ours:?}\n  theirs: {theirs:?}");
        }
        assert!(differences.is_empty(), "{:?}: {} differ", self.kind, differences.len());
        for outcome in ["accepted", "refused"] {
            let count = counts.get(outcome).copied().unwrap_or_default();
            assert!(count > self.count / 20, "too few cases were {outcome}: {counts:?}");
        }
    }
}

fn is_invalid(verdict: &ReferenceVerdict) -> bool {
    matches!(verdict, ReferenceVerdict::Invalid(_))
}

fn outcome(verdict: &ReferenceVerdict) -> &'static str {
    match verdict {
        ReferenceVerdict::Valid(_) => "accepted",
        ReferenceVerdict::Incomplete => "incomplete",
        ReferenceVerdict::Invalid(_) => "refused",
    }
}

/// Converts the result of a parser to a verdict.
fn verdict<T, E: std::fmt::Debug>(result: Result<T, E>) -> ReferenceVerdict {
    match result {
        Ok(_) => ReferenceVerdict::Valid(0),
        Err(error) => ReferenceVerdict::Invalid(format!("{error:?}")),
    }
}

/// Removes or inserts a character, once or twice.
fn distort(text: &mut String, odd: &[&str], random: &mut Random) {
    for _ in 0..random.pick(&[1, 1, 2]) {
        let at = random.below(text.chars().count() + 1);
        let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        match random.below(3) {
            0 if at < text.len() => drop(text.remove(at)),
            _ => text.insert_str(at, random.pick(odd)),
        }
    }
}

/// Formats bytes as a Rust literal, to be pasted into a test.
fn rust_literal(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

/// Number of cases for a kind that is tested `share` percent as often as messages.
fn cases(share: usize) -> usize {
    let messages = match std::env::var("DILIGENCE_CASES") {
        Ok(text) => text.parse().expect("DILIGENCE_CASES is a number"),
        Err(_) => 300_000,
    };
    messages / 100 * share
}

/// Maximum number of printed differences; enough to see a pattern.
const DIFFERENCES_SHOWN: usize = 12;
