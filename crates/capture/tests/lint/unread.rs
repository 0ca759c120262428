//! Redacted and cut messages: no rule draws conclusions from the bytes that are left.

use std::collections::BTreeSet;

use capture::Capture;
use capture::lint::rule::Needs;
use capture::lint::{LintRule, lint};
use capture::record::{MessageContent, RawMessage, RecordedBus, RecordingRecord};
use testkit::recording::TestRecording;

use crate::scene::*;
use crate::{cases, found};

/// The recording as if its bodies had been redacted while it was made.
fn redacted(recording: &TestRecording) -> Capture {
    changed_by(recording, |record| match record {
        RecordingRecord::Bus(bus) if bus.content == MessageContent::Bytes => {
            RecordingRecord::Bus(RecordedBus { content: MessageContent::Redacted, ..bus })
        }
        other => other,
    })
}

/// The recording with at most `kept` bytes of each message.
fn cut(recording: &TestRecording, kept: usize) -> Capture {
    changed_by(recording, |record| match record {
        RecordingRecord::Message(raw) => {
            let bytes = &raw.bytes[..raw.bytes.len().min(kept)];
            RecordingRecord::Message(RawMessage { bytes, ..raw })
        }
        other => other,
    })
}

fn changed_by(
    recording: &TestRecording,
    change: impl Fn(RecordingRecord<'_>) -> RecordingRecord<'_>,
) -> Capture {
    let mut capture = Capture::default();
    recording.each(|record| capture.push(change(record)));
    capture
}

/// The recordings of all cases, each with the name of the case.
pub(crate) fn recordings() -> impl Iterator<Item = (&'static str, TestRecording)> {
    let played = cases().flat_map(|case| {
        [(case.name, case.recording(case.raises)), (case.name, case.recording(case.misses))]
    });
    played.chain([("quiet", quiet())])
}

#[test]
fn redacted_messages_raise_no_new_findings() {
    for (name, recording) in recordings() {
        let raised = found(&redacted(&recording));
        let known = found(&recording.capture());
        let new: Vec<_> = raised.difference(&known).filter(|rule| *rule != "L50").collect();
        assert!(new.is_empty(), "{name}: {new:?}");
        let bodies = LintRule::all().iter().filter(|rule| rule.needs == Needs::Bodies);
        let bodies: BTreeSet<_> = bodies.map(|rule| rule.id.to_string()).collect();
        assert!(raised.is_disjoint(&bodies), "{name}: {raised:?}");
    }
}

type Play = fn(&mut TestRecording);

/// Cuts the last message within its header.
fn behead(r: &mut TestRecording) {
    r.cut(20);
}

#[test]
fn cut_headers_lead_to_no_conclusion_about_missing_messages() {
    let plays: [(&str, Play); 5] = [
        ("the reply of a service that disconnected", |r| {
            let call = pending(r, CLIENT, MAIL, "Load");
            behead(r.wait_us(300).reply(&call, SERVICE, &(1_u32,)));
            r.wait_ms(5).owner_changed(MAIL, SERVICE, "").owner_changed(SERVICE, SERVICE, "");
        }),
        ("the reply to a caller that disconnected", |r| {
            let call = pending(r, CLIENT, MAIL, "Load");
            behead(r.wait_us(300).reply(&call, SERVICE, &(1_u32,)));
            r.wait_ms(2000).owner_changed(CLIENT, CLIENT, "");
        }),
        ("the calls that remove a rule", |r| {
            for _ in 0..3 {
                r.wait_ms(5).ask_bus(CLIENT, "AddMatch", &(rule("New"),), &());
                let what = "/org/freedesktop/DBus org.freedesktop.DBus.RemoveMatch";
                r.wait_ms(5).call(CLIENT, "org.freedesktop.DBus", what, &(rule("New"),));
                behead(r);
            }
        }),
        ("the replies to 64 calls", |r| {
            for _ in 0..64 {
                let call = pending(r.wait_us(20), CLIENT, MAIL, "Load");
                behead(r.wait_us(5).reply(&call, SERVICE, &()));
            }
        }),
        ("the calls of services", |r| {
            for number in 0..100_u32 {
                r.wait_ms(5).ask_bus(CLIENT, &format!("GetId{number}"), &(), &(number,));
                pending(r.wait_ms(5), CLIENT, MAIL, "Load");
                behead(r);
                pending(r.wait_ms(5), CLIENT, MAIL, "Load");
                behead(r);
            }
        }),
    ];
    for (name, play) in plays {
        let mut recording = scene();
        play(&mut recording);
        let findings = lint(&recording.capture(), LintRule::all());
        let says: Vec<_> = findings.iter().map(|it| (it.rule.to_string(), &it.says)).collect();
        let [(rule, says)] = says.as_slice() else { panic!("{name}: {says:?}") };
        assert_eq!(rule, "L50", "{name}");
        assert!(says.contains("the header is cut"), "{name}: {says}");
    }
}

#[test]
fn cut_messages_raise_no_new_findings() {
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
