//! Messages as a file that other programs read.

use capture::Capture;
use capture::model::Chosen;
use capture::save::{self, FileFormat};

use crate::frame::{Column, Frame};
use crate::question::Refusal;
use crate::selection::Selection;

/// The messages that are meant, as a file. A whole recording as pcapng also has the messages of the recorder;
/// a pcap file would not say which they are.
pub(crate) fn save(
    capture: &Capture,
    selection: &Selection,
    format: FileFormat,
) -> Result<Frame, Refusal> {
    let selected = selection.parse(capture)?;
    let mut selector = selected.selector();
    let chosen = match selection.is_everything() && format == FileFormat::Pcapng {
        true => Chosen::all(capture),
        false => Chosen::find(capture, &selection.words(), |message| selector.selects(message)),
    };
    let mut file = Vec::new();
    save::save(capture, &chosen, format, &mut file)?;
    let frame = Frame::new("answer").with("messages", chosen.len());
    Ok(frame.with_column("file", Column::U8(&file)))
}
