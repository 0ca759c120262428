//! Saving messages of a capture to a file that other programs can read.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bodies::Bodies;
use crate::file::PcapWriter;
use crate::model::{Capture, MessageSelection};
use crate::record::{Fact, MessageContent, RecordedClock, RecordingRecord};

/// A file format in which messages can be saved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// pcapng, with all known facts about the messages: see `docs/capture-format.md`.
    Pcapng,
    /// Classic pcap: only the messages and their times.
    Pcap,
}

impl FileFormat {
    /// Returns the format for the extension of a path; `None` if the extension is unknown.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        [Self::Pcapng, Self::Pcap]
            .into_iter()
            .find(|format| extension.eq_ignore_ascii_case(format.as_str()))
    }

    /// Returns the name of the format, which is also its file extension.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pcapng => "pcapng",
            Self::Pcap => "pcap",
        }
    }
}

/// Writes the chosen messages to `out`.
///
/// # Errors
///
/// If writing to `out` fails. `InvalidData` if the file with the messages has changed, or if pcap
/// cannot represent a time.
pub fn save(
    capture: &Capture,
    chosen: &MessageSelection,
    format: FileFormat,
    out: impl Write,
) -> io::Result<()> {
    if format == FileFormat::Pcapng {
        return capture.write_chosen(out, chosen, Bodies::Whole);
    }
    // There is no limit if one of the buses recorded whole messages.
    let kept_max = capture.buses().iter().map(|bus| bus.kept_max).collect::<Option<Vec<_>>>();
    let mut writer = PcapWriter::new(out, kept_max.and_then(|kept| kept.into_iter().max()))?;
    capture.replay(chosen, |record| match record {
        RecordingRecord::Message(raw) => writer.write(&raw),
        _ => Ok(()),
    })?;
    writer.finish().map(drop)
}

worded_enum! {
    /// Information of a capture that classic pcap cannot store.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum PcapLoss {
        /// The names and processes of connections.
        Peers = "the names and processes of connections",
        /// The times when the bus routed a message and wrote each copy.
        Phases = "the times inside the bus and the recipients of copies",
        /// The bus of each message.
        Buses = "the bus of each message",
        /// Match rules, services and other findings of a recorder.
        Facts = "match rules, services and other notes of the recorder",
        /// The places where messages are missing.
        Gaps = "the places where messages are missing",
        /// The fact that messages have no times.
        Clock = "the fact that messages have no times",
        /// The fact that bodies are redacted, or that messages were made from a text.
        Content = "the fact that messages are redacted or made from a text",
        /// The fact that messages were left out.
        Excerpt = "the fact that it is an excerpt",
    }
}

impl PcapLoss {
    /// Returns the information that is lost if these messages are saved as pcap.
    pub fn find(capture: &Capture, chosen: &MessageSelection) -> Vec<Self> {
        let mut peers = capture.directory().peers();
        let is_known = peers.any(|(_, peer)| !peer.names.is_empty() || peer.process.is_some());
        let is_fact = |fact: &Fact| {
            !matches!(fact, Fact::Recorder { .. } | Fact::Ended { .. } | Fact::Excerpt(_))
        };
        let buses = capture.buses();
        let found = [
            is_known.then_some(Self::Peers),
            capture.messages().any(|it| it.routed_after().is_some()).then_some(Self::Phases),
            (buses.len() > 1).then_some(Self::Buses),
            capture.facts().iter().any(|(_, _, fact)| is_fact(fact)).then_some(Self::Facts),
            (!capture.gaps().is_empty()).then_some(Self::Gaps),
            buses.iter().any(|bus| bus.clock == RecordedClock::Absent).then_some(Self::Clock),
            buses.iter().any(|bus| bus.content != MessageContent::Bytes).then_some(Self::Content),
            (chosen.len() < capture.len() as u64 || capture.is_excerpt()).then_some(Self::Excerpt),
        ];
        found.into_iter().flatten().collect()
    }
}

impl fmt::Display for PcapLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
