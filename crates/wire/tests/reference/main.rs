//! The same verdicts as the reference: what it accepts is accepted here, and reads the same; what it
//! refuses is refused. Random messages, names, signatures, addresses and match rules go through both.
//!
//! libdbus is asked by a program of its own, `judge.c`, and about match rules a bus, for nothing of
//! libdbus that is public reads them. Where the two differ on purpose is in `deviations.rs`, each a row of
//! docs/deviations.md; anything else is a failure that shows the case.
//!
//! `DILIGENCE_CASES` says how many messages, `DILIGENCE_SEED` where to begin.

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

/// How many cases go over the pipe at once.
const BATCH: usize = 250;

/// Which of the deviations explains that two verdicts are not the same, if one does.
type Excuse = Option<&'static str>;

/// Random cases of one kind, and how to judge them here.
struct ReferenceComparison<'c, C> {
    kind: JudgedText,
    count: usize,
    /// Makes a case.
    case: &'c dyn Fn(&mut Random) -> C,
    /// Judges it here.
    ours: &'c dyn Fn(&C) -> ReferenceVerdict,
    /// Says whether the two may differ about it so: the case, ours, theirs.
    excuse: &'c dyn Fn(&C, &ReferenceVerdict, &ReferenceVerdict) -> Excuse,
}

impl<C: AsRef<[u8]>> ReferenceComparison<'_, C> {
    fn run(&self, judge: &mut Judge) {
        let mut random = Random::from_env();
        let mut tally = BTreeMap::new();
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
                let outcome = match (self.excuse)(case, &ours, &theirs) {
                    _ if ours == theirs => outcome(&ours),
                    _ if is_invalid(&ours) && is_invalid(&theirs) => "refused",
                    Some(excuse) => excuse,
                    None => {
                        differences.push((shown(case.as_ref()), ours, theirs));
                        continue;
                    }
                };
                *tally.entry(outcome).or_insert(0_usize) += 1;
            }
        }
        println!("{:?}: {tally:?}", self.kind);
        for (case, ours, theirs) in &differences {
            println!("{case}\n  ours:   {ours:?}\n  theirs: {theirs:?}");
        }
        assert!(differences.is_empty(), "{:?}: {} differ", self.kind, differences.len());
        for outcome in ["accepted", "refused"] {
            let count = tally.get(outcome).copied().unwrap_or_default();
            assert!(count > self.count / 20, "too few were {outcome}: {tally:?}");
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

/// What a library says of a text: that it is right, or why not.
fn verdict<T, E: std::fmt::Debug>(result: Result<T, E>) -> ReferenceVerdict {
    match result {
        Ok(_) => ReferenceVerdict::Valid(0),
        Err(error) => ReferenceVerdict::Invalid(format!("{error:?}")),
    }
}

/// Takes a character out or puts something in, once or twice.
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

/// Bytes as a literal of Rust, to be put into a test.
fn shown(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

/// How many cases there are of something that is tried `share` times as often as messages are in a
/// hundred.
fn cases(share: usize) -> usize {
    let messages = match std::env::var("DILIGENCE_CASES") {
        Ok(text) => text.parse().expect("DILIGENCE_CASES is a number"),
        Err(_) => 300_000,
    };
    messages / 100 * share
}

/// Enough to see what they have in common.
const DIFFERENCES_SHOWN: usize = 12;
