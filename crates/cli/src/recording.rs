//! Recordings on the command line.

use std::path::Path;
use std::sync::Arc;

use capture::Capture;
use capture::model::OpenError;
use capture::query::{Query, QueryError};
use capture::text::units::counted;
use serde::Serialize;

use crate::exit::ExitError;
use crate::output::complain;
use crate::progress::{ShownWork, WorkTask};

/// The words that are files, which stand first, and the query that the rest is. A first word is a
/// file even if there is none, so that a mistake in its name is told as that.
pub(crate) fn files_and_query(words: &[String]) -> Result<(&[String], Query), RecordingError> {
    if let Some((first, rest)) = words.split_first() {
        check_order(first, rest)?;
    }
    let (files, rest) = words.split_at(files_of(words));
    Ok((files, query(rest)?))
}

/// Checks that a query does not stand where the file has to be.
pub(crate) fn check_order(file: &str, rest: &[String]) -> Result<(), RecordingError> {
    let is_there = |word: &str| word == "-" || Path::new(word).exists();
    match rest.iter().find(|word| is_there(word)) {
        Some(behind) if !is_there(file) && file.contains([':', '=', '~', '<', '>']) => {
            Err(RecordingError::Order { query: file.to_owned(), file: behind.clone() })
        }
        _ => Ok(()),
    }
}

/// How many words are files.
fn files_of(words: &[String]) -> usize {
    let rest = words.get(1..).unwrap_or_default();
    let more = rest.iter().take_while(|word| Path::new(word).exists()).count();
    words.len().min(1 + more)
}

/// The query that these words are.
pub(crate) fn query(words: &[String]) -> Result<Query, RecordingError> {
    Query::parse(&words.join(" ")).map_err(RecordingError::Query)
}

/// Reads recordings into one, and shows on a terminal how far that is.
pub(crate) fn open(files: &[impl AsRef<Path>]) -> Result<Capture, RecordingError> {
    let progress = Arc::default();
    let _work = ShownWork::start(WorkTask::Reading(names(files), Arc::clone(&progress)));
    Capture::open_all_observed(files, &progress)
        .map(note_foreign_parts)
        .map_err(RecordingError::Open)
}

/// The same, but what several files have is there for each of them.
pub(crate) fn open_side_by_side(files: &[impl AsRef<Path>]) -> Result<Capture, RecordingError> {
    let progress = Arc::default();
    let _work = ShownWork::start(WorkTask::Reading(names(files), Arc::clone(&progress)));
    let opened = Capture::open_side_by_side_observed(files, &progress);
    opened.map(note_foreign_parts).map_err(RecordingError::Open)
}

/// Says on standard error which files were not read although they have the names of parts.
fn note_foreign_parts(capture: Capture) -> Capture {
    for part in capture.foreign_parts() {
        complain(&format!("note: {} is not read: it is of another recording\n", part.display()));
    }
    capture
}

/// The files that are read, for a line of the terminal.
fn names(files: &[impl AsRef<Path>]) -> String {
    match files {
        [only] => only.as_ref().display().to_string(),
        several => counted(several.len() as u64, "file", "files"),
    }
}

/// The files that a recording was read from, for a heading: also the parts that were not named, and that
/// several files are read as one.
pub(crate) fn heading(capture: &Capture) -> String {
    let names: Vec<_> = capture.files_read().map(|path| path.display().to_string()).collect();
    let mut text = match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        several => format!("{}, read as one recording", several.join(", ")),
    };
    if capture.repeated_messages() > 0 {
        let repeated = counted(capture.repeated_messages(), "message", "messages");
        text += &format!("; {repeated} found in more than one of them counted once");
    }
    text
}

/// Says on standard error that a query selects no message of those that a command is about, and why; and
/// that recipients are unknown, if it asks for them. The command goes on: that nothing was found can be
/// the answer.
pub(crate) fn warn_if_unmatched(command: &str, capture: &Capture, query: &Query) {
    note_unknown_recipients(query, capture);
    let work = ShownWork::start(WorkTask::Messages("searching", capture.len() as u64));
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
    complain(&format!("diligence {command}: {text}\n"));
}

/// Says on standard error how many messages of the recorder a query would select and are left out.
pub(crate) fn note_hidden(query: &Query, capture: &Capture) {
    if let Some(sentence) = query.of_recorder(capture).sentence() {
        note(&sentence);
    }
}

/// Says on standard error that the recipients for which a query asks are unknown, and why.
pub(crate) fn note_unknown_recipients(query: &Query, capture: &Capture) {
    if let Some(reason) = query.unknown_recipients(capture) {
        note(&format!(
            "recipients are unknown in this recording, so `recipients` matches nothing: {reason}"
        ));
    }
}

/// Says on standard error what to know before numbers are believed.
pub(crate) fn note(text: &str) {
    complain(&format!("note: {text}\n"));
}

/// Why a command has no messages to work on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error("the query: {0}")]
    Query(QueryError),
    #[error(
        "there is no file {query}; files come first, and a query behind them: {file} '{query}'"
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

/// A value as JSON for programs that people read too.
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
