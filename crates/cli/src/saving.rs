//! Saving selected messages of a recording as a file, for `export` and `show`.

use std::io;

use capture::Capture;
use capture::model::MessageSelection;
use capture::query::Query;
use capture::save::{FileFormat, PcapLoss, save};
use capture::text::units::counted;

use crate::output::{DocumentOutput, print_to_stderr};

/// Writes the messages that a query selects, and returns their number. Notes on standard error say
/// which other messages the file contains, and what the format cannot hold.
pub(crate) fn save_matching(
    capture: &Capture,
    query: &Query,
    format: FileFormat,
    out: &mut DocumentOutput,
) -> io::Result<u64> {
    let chosen = match (format, query.expression()) {
        // Only pcapng marks the messages of the recorder, so other formats leave them out.
        (FileFormat::Pcapng, None) => MessageSelection::all(capture),
        _ => {
            let mut matcher = query.matcher();
            MessageSelection::find(capture, query.text(), |message| matcher.selects(message))
        }
    };
    save(capture, &chosen, format, out)?;
    if chosen.partners() > 0 {
        let saved = counted(chosen.len(), "message", "messages");
        let partners = match chosen.partners() {
            1 => {
                "1 of them does not match the query, but is the call or the reply of one that does"
            }
            count => &format!(
                "{count} of them do not match the query, but are calls or replies of messages that do"
            ),
        };
        print_to_stderr(&format!("note: saved {saved}: {partners}\n"));
    }
    let lost = PcapLoss::find(capture, &chosen);
    if format == FileFormat::Pcap && !lost.is_empty() {
        let lost: Vec<_> = lost.iter().map(PcapLoss::to_string).collect();
        print_to_stderr(&format!("note: pcap cannot store: {}; pcapng can\n", lost.join("; ")));
    }
    Ok(chosen.len())
}
