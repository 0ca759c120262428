//! What messages say is crossed out, or cut: no rule takes that for what they have said.

use std::collections::BTreeSet;

use diligence_capture::Capture;
use diligence_capture::lint::Rule;
use diligence_capture::lint::rule::Needs;
use diligence_capture::record::{Bus, Content, RawMessage, Record};
use diligence_testkit::recording::Recording;

use crate::scene::*;
use crate::{cases, found};

/// A recording of which what messages say was crossed out when it was made.
fn redacted(recording: &Recording) -> Capture {
    changed_by(recording, |record| match record {
        Record::Bus(bus) if bus.content == Content::Bytes => {
            Record::Bus(Bus { content: Content::Redacted, ..bus })
        }
        other => other,
    })
}

/// A recording that keeps no more than so many bytes of each message.
fn cut(recording: &Recording, kept: usize) -> Capture {
    changed_by(recording, |record| match record {
        Record::Message(raw) => {
            let bytes = &raw.bytes[..raw.bytes.len().min(kept)];
            Record::Message(RawMessage { bytes, ..raw })
        }
        other => other,
    })
}

fn changed_by(recording: &Recording, change: impl Fn(Record<'_>) -> Record<'_>) -> Capture {
    let mut capture = Capture::default();
    recording.each(|record| capture.push(change(record)));
    capture
}

/// All that the other tests play, by what it is called.
pub(crate) fn recordings() -> impl Iterator<Item = (&'static str, Recording)> {
    let played = cases().flat_map(|case| {
        [(case.name, case.recording(case.raises)), (case.name, case.recording(case.misses))]
    });
    played.chain([("quiet", quiet())])
}

#[test]
fn what_is_crossed_out_raises_nothing_new() {
    for (name, recording) in recordings() {
        let raised = found(&redacted(&recording));
        let known = found(&recording.capture());
        let new: Vec<_> = raised.difference(&known).filter(|rule| *rule != "L50").collect();
        assert!(new.is_empty(), "{name}: {new:?}");
        let bodies = Rule::all().iter().filter(|rule| rule.needs == Needs::Bodies);
        let bodies: BTreeSet<_> = bodies.map(|rule| rule.id.to_string()).collect();
        assert!(raised.is_disjoint(&bodies), "{name}: {raised:?}");
    }
}

#[test]
fn what_is_cut_raises_nothing_new() {
    let wrong = recordings().flat_map(|(name, recording)| {
        let known = found(&recording.capture());
        let raised = (16..=320).step_by(8).map(move |kept| (kept, found(&cut(&recording, kept))));
        raised.flat_map(move |(kept, raised)| {
            let new = raised.difference(&known).filter(|rule| *rule != "L50");
            new.map(|rule| format!("{name}: {rule} of {kept} bytes each")).collect::<Vec<_>>()
        })
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
