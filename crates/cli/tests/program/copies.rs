//! Complete and redacted copies of a recording of the demo programs.

use std::path::Path;

use capture::Capture;
use capture::bodies::Bodies;
use capture::record::Fact;
use testkit::findings::{body_texts, findings};

use crate::live::demo;
use crate::recorder::read;
use crate::support::{ProgramFolder, SpawnedProgram, text};

fn record(folder: &ProgramFolder, address: &str) -> Capture {
    let file = folder.join("a.pcapng").display().to_string();
    let mut command = folder.diligence();
    command.args(["record", "--introspect", "--max-time", "4s", "--address", address, "-o", &file]);
    let output = SpawnedProgram::start(&mut command).ended();
    assert!(output.status.success(), "{}", text(&output.stderr));
    read(Path::new(&file))
}

fn copy(capture: &Capture, bodies: Bodies) -> Vec<u8> {
    let mut file = Vec::new();
    capture.write(&mut file, bodies).expect("writing to memory succeeds");
    file
}

/// Returns the texts that a redacted recording may contain: names, rules, and descriptions of
/// processes and objects.
fn names(capture: &Capture) -> String {
    let strings = capture.strings();
    let texts = strings.ids().map(|id| strings.get(id).to_owned());
    let processes = capture.directory().peers().map(|(_, peer)| format!("{:?}", peer.process));
    let facts = capture.facts().iter().filter_map(|(_, _, fact)| match fact {
        Fact::Introspection { xml, .. } => Some(xml.clone()),
        Fact::Rule { rule, .. } => Some(rule.clone()),
        Fact::Activatable { name } => Some(name.clone()),
        _ => None,
    });
    texts.chain(processes).chain(facts).collect::<Vec<_>>().join("\n")
}

#[test]
fn redacted_copies_of_a_recording_contain_no_message_texts() {
    let folder = ProgramFolder::new();
    let (_bus, address) = demo(&folder);
    let capture = record(&folder, &address);
    assert!(capture.len() > 100, "{}", capture.len());
    let whole = Capture::from_bytes(copy(&capture, Bodies::Whole)).expect("a recording");
    for (found, again) in findings(&capture).into_iter().zip(findings(&whole)) {
        assert!(found == again, "{}: {}\n{}", found.0, found.1, again.1);
    }
    let file = copy(&capture, Bodies::Redacted);
    let redacted = Capture::from_bytes(file.clone()).expect("a recording");
    assert_eq!(redacted.len(), capture.len());
    let file = String::from_utf8_lossy(&file);
    let (names, texts) = (names(&redacted), body_texts(&capture));
    let secrets: Vec<_> = texts.iter().filter(|text| !names.contains(*text)).collect();
    assert!(secrets.len() > 20, "{secrets:?}");
    for text in secrets {
        assert!(!file.contains(text), "{text}");
    }
}
