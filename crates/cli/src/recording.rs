//! Opening recordings and parsing queries that are given on the command line.

use std::path::Path;
use std::sync::Arc;

use capture::Capture;
use capture::model::OpenError;
use capture::query::{Query, QueryError};
use capture::text::units::counted;
use serde::Serialize;

use crate::exit::ExitError;
use crate::output::{print_message, print_to_stderr};
use crate::progress::{WorkProgress, WorkTask};

/// Splits words into files, which come first, and a query. The first word is always a file, even if
/// it does not exist, so that a misspelled name is reported as a missing file.
pub(crate) fn files_and_query(words: &[String]) -> Result<(&[String], Query), RecordingError> {
    if let Some((first, rest)) = words.split_first() {
        check_order(first, rest)?;
    }
    let (files, rest) = words.split_at(files_of(words));
    Ok((files, query(rest)?))
}

/// Fails if the first word looks like a query and a later word is a file.
pub(crate) fn check_order(file: &str, rest: &[String]) -> Result<(), RecordingError> {
    let is_there = |word: &str| word == "-" || Path::new(word).exists();
    match rest.iter().find(|word| is_there(word)) {
        Some(behind) if !is_there(file) && file.contains([':', '=', '~', '<', '>']) => {
            Err(RecordingError::Order { query: file.to_owned(), file: behind.clone() })
        }
        _ => Ok(()),
    }
}

/// The number of leading words that are files.
fn files_of(words: &[String]) -> usize {
    let rest = words.get(1..).unwrap_or_default();
    let more = rest.iter().take_while(|word| Path::new(word).exists()).count();
    words.len().min(1 + more)
}

/// Parses the words of a query.
pub(crate) fn query(words: &[String]) -> Result<Query, RecordingError> {
    Query::parse(&words.join(" ")).map_err(RecordingError::Query)
}

/// Opens files and merges them into one recording, and shows the progress on a terminal.
pub(crate) fn open(files: &[impl AsRef<Path>]) -> Result<Capture, RecordingError> {
    let progress = Arc::default();
    let _work = WorkProgress::start(WorkTask::Reading(names(files), Arc::clone(&progress)));
    Capture::open_all_observed(files, &progress)
        .map(note_foreign_parts)
        .map_err(RecordingError::Open)
}

/// Like [`open`], but keeps the messages of each file even if several files contain them.
pub(crate) fn open_side_by_side(files: &[impl AsRef<Path>]) -> Result<Capture, RecordingError> {
    let progress = Arc::default();
    let _work = WorkProgress::start(WorkTask::Reading(names(files), Arc::clone(&progress)));
    let opened = Capture::open_side_by_side_observed(files, &progress);
    opened.map(note_foreign_parts).map_err(RecordingError::Open)
}

/// Prints a note for each file that was not read although it has the name of a part.
fn note_foreign_parts(capture: Capture) -> Capture {
    for part in capture.foreign_parts() {
        print_to_stderr(&format!(
            "note: {} was not read: it belongs to another recording\n",
            part.display()
        ));
    }
    capture
}

/// The description of the files for a progress line.
fn names(files: &[impl AsRef<Path>]) -> String {
    match files {
        [only] => only.as_ref().display().to_string(),
        several => counted(several.len() as u64, "file", "files"),
    }
}

/// The files of a recording for a heading, including parts that were not named on the command line.
/// It says if several files were merged.
pub(crate) fn heading(capture: &Capture) -> String {
    let names: Vec<_> = capture.files_read().map(|path| path.display().to_string()).collect();
    let mut text = match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        several => format!("{}, merged into one recording", several.join(", ")),
    };
    if capture.repeated_messages() > 0 {
        let repeated = counted(capture.repeated_messages(), "message", "messages");
        text += &format!("; {repeated} found in several of them count once");
    }
    text
}

/// Prints the reason to standard error if a query selects no message, and a note if it asks for
/// recipients that are unknown. This is not an error, because an empty result can be the answer.
pub(crate) fn warn_if_unmatched(command: &str, capture: &Capture, query: &Query) {
    note_unknown_recipients(query, capture);
    let work = WorkProgress::start(WorkTask::Messages("searching", capture.len() as u64));
    let mut matcher = query.matcher();
    let mut is_selected = |message| {
        work.count();
        matcher.selects(&message)
    };
    if capture.messages().any(&mut is_selected) {
        return;
    }
    drop(work);
    let of_recorder = query.of_recorder(capture).sentence();
    let leaves_out = query.leaves_out();
    let why = || query.no_match(capture, &mut |message| !leaves_out(message));
    let reason = of_recorder.unwrap_or_else(why);
    let text = match query.expression() {
        Some(_) => format!("no message matches the query: {reason}"),
        None => reason,
    };
    print_message(&format!("diligence {command}"), &text);
}

/// Prints a note with the number of messages from and to the recorder that the query skips.
pub(crate) fn note_hidden(query: &Query, capture: &Capture) {
    if let Some(sentence) = query.of_recorder(capture).sentence() {
        note(&sentence);
    }
}

/// Prints a note if the query asks for recipients and the recording does not contain them.
pub(crate) fn note_unknown_recipients(query: &Query, capture: &Capture) {
    if let Some(reason) = query.unknown_recipients(capture) {
        note(&format!(
            "recipients are unknown in this recording, so `recipients` matches nothing: {reason}"
        ));
    }
}

/// Prints a note to standard error that readers need to interpret the output.
pub(crate) fn note(text: &str) {
    print_message("note", &text);
}

/// An error in the query, or in opening a recording.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error("the query: {0}")]
    Query(QueryError),
    #[error(
        "there is no file {query}; files come first, and the query follows them: {file} '{query}'"
    )]
    Order { query: String, file: String },
    #[error("cannot read {0}")]
    Open(OpenError),
}

impl ExitError for RecordingError {
    fn status(&self) -> u8 {
        match self {
            Self::Query(_) | Self::Order { .. } => 2,
            Self::Open(_) => 1,
        }
    }
}

/// Formats a value as indented JSON with a newline at the end.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_first_and_the_rest_is_a_query() {
        let here = env!("CARGO_MANIFEST_DIR").to_owned();
        for (words, files) in [
            (&[][..], 0),
            (&["nowhere.pcap"], 1),
            (&[&here, &here, "member:Get*", "dur>5ms"], 2),
            (&["nowhere.pcap", "x", &here], 1),
        ] {
            let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(files_of(&words), files, "{words:?}");
        }
    }
}
