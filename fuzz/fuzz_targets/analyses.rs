//! Any bytes as a file, and everything that can be asked of a recording: nothing panics.

#![no_main]

use capture::file::Reader;
use capture::lint::Rule;
use capture::show::Format;
use capture::statistics::{By, Groups};
use capture::{Capture, lint, timeline};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let Ok(Some(mut reader)) = Reader::new(file) else { return };
    let mut capture = Capture::default();
    while let Ok(Some(record)) = reader.next_record() {
        if capture.len() == MESSAGES_MAX {
            break;
        }
        capture.push(match record {
            capture::Record::Message(raw) => {
                // The file is memory, where nothing can be found again.
                capture::Record::Message(capture::record::RawMessage { place: None, ..raw })
            }
            other => other,
        });
    }
    let report = lint::Report::new(lint::Source::Recording("a".to_owned()), &capture, Rule::all());
    drop(lint::report::to_json(&report));
    show(&capture);
    count(&capture);
    follow(&capture);
});

fn show(capture: &Capture) {
    let (mut text, mut buffer) = (String::new(), Vec::new());
    for message in capture.messages() {
        for format in [Format::Busctl, Format::Gdbus, Format::DbusSend, Format::Json] {
            text.clear();
            format.push(&mut text, &message, &mut buffer).expect("memory can be read");
        }
    }
}

fn count(capture: &Capture) {
    let mut groups = Groups::new(capture, By::Pair);
    capture.messages().for_each(|message| groups.add(&message));
    drop(groups.table());
}

fn follow(capture: &Capture) {
    timeline::chrome_trace(capture, |_| true, std::io::sink()).expect("it takes all");
    drop(timeline::blocked_table(&timeline::blocked(capture, |_| true)));
    for start_up in timeline::start_ups(capture) {
        drop(start_up.table(capture, usize::MAX));
    }
}

/// Rules compare messages with each other, and what many of the same show a few do too.
const MESSAGES_MAX: usize = 2_000;
