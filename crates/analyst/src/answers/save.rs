//! Messages as a file for other programs.

use capture::Capture;
use capture::model::MessageSelection;
use capture::save::{self, FileFormat};
use serde::Serialize;

use super::AnswerBody;
use crate::frame::{ColumnName, FrameColumn, PageFrame};
use crate::question::QuestionRefusal;
use crate::selection::Selection;

/// A file with messages.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SaveAnswer {
    /// The number of messages in the file.
    pub messages: u64,
}

/// Writes the selected messages to a file. A whole recording as pcapng includes the messages of the
/// recorder. A pcap file cannot mark them, so it does not.
pub(crate) fn save(
    capture: &Capture,
    selection: &Selection,
    format: FileFormat,
) -> Result<PageFrame, QuestionRefusal> {
    let selected = selection.parse(capture)?;
    let mut selector = selected.selector();
    let chosen = match selection.is_everything() && format == FileFormat::Pcapng {
        true => MessageSelection::all(capture),
        false => {
            MessageSelection::find(capture, &selection.words(), |message| selector.selects(message))
        }
    };
    let mut file = Vec::new();
    save::save(capture, &chosen, format, &mut file)?;
    let frame = PageFrame::answer(AnswerBody::Save(SaveAnswer { messages: chosen.len() }));
    Ok(frame.with_column(ColumnName::File, FrameColumn::U8(&file)))
}
