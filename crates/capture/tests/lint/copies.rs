//! Copies of a recording have the same findings; redacted copies contain no arguments.

use capture::Capture;
use capture::bodies::Bodies;
use capture::record::Fact;
use testkit::findings::{body_texts, findings};

use crate::unread::recordings;

fn copy(capture: &Capture, bodies: Bodies) -> Vec<u8> {
    let mut file = Vec::new();
    capture.write(&mut file, bodies).expect("memory takes all");
    file
}

#[test]
fn copies_have_the_same_findings_and_statistics() {
    for (name, recording) in recordings() {
        let capture = Capture::from_bytes(recording.pcapng()).expect("a recording");
        for capture in [capture, recording.capture()] {
            let copy = Capture::from_bytes(copy(&capture, Bodies::Whole)).expect("a recording");
            // A recording in memory has no origin.
            let comparable = |capture| {
                let mut found = findings(capture);
                found.retain(|(topic, _)| topic != "origins");
                found
            };
            for (found, again) in comparable(&capture).into_iter().zip(comparable(&copy)) {
                assert_eq!(found, again, "{name}");
            }
        }
    }
}

/// Activated names, and match rules without argument conditions, also occur outside of bodies.
#[test]
fn redacted_copies_contain_no_arguments() {
    for (name, recording) in recordings() {
        let capture = recording.capture();
        let file = copy(&capture, Bodies::Redacted);
        let redacted = Capture::from_bytes(file.clone()).expect("a recording");
        let file = String::from_utf8_lossy(&file);
        let strings = redacted.strings();
        let rules = redacted.facts().iter().filter_map(|(_, _, fact)| match fact {
            Fact::Rule { rule, .. } => Some(rule.as_str()),
            _ => None,
        });
        let names: Vec<_> = strings.ids().map(|id| strings.get(id)).chain(rules).collect();
        for text in body_texts(&capture) {
            let is_name = names.iter().any(|name| name.contains(&text));
            assert!(is_name || !file.contains(&text), "{name}: {text}");
        }
    }
}
