//! Saving messages of a capture as a file that other programs read.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bodies::Bodies;
use crate::file::PcapWriter;
use crate::model::{Capture, MessageSelection};
use crate::record::{Fact, MessageContent, RecordedClock, RecordingRecord};

/// A format in which messages are saved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// pcapng with all that is known of the messages: see `docs/capture-format.md`.
    Pcapng,
    /// Classic pcap: the messages and their times.
    Pcap,
}

impl FileFormat {
    /// The format that the extension of a file stands for.
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?;
        [Self::Pcapng, Self::Pcap]
            .into_iter()
            .find(|format| extension.eq_ignore_ascii_case(format.as_str()))
    }

    /// Its name, which is the extension of its files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pcapng => "pcapng",
            Self::Pcap => "pcap",
        }
    }
}

/// Writes chosen messages.
///
/// # Errors
///
/// Those of `out`; of kind `InvalidData` if the file with the messages has changed, or if pcap cannot hold
/// a time.
pub fn save(
    capture: &Capture,
    chosen: &MessageSelection,
    format: FileFormat,
    out: impl Write,
) -> io::Result<()> {
    if format == FileFormat::Pcapng {
        return capture.write_chosen(out, chosen, Bodies::Whole);
    }
    // One of which all was kept has no limit.
    let kept_max = capture.buses().iter().map(|bus| bus.kept_max).collect::<Option<Vec<_>>>();
    let mut writer = PcapWriter::new(out, kept_max.and_then(|kept| kept.into_iter().max()))?;
    capture.tell(chosen, |record| match record {
        RecordingRecord::Message(raw) => writer.write(&raw),
        _ => Ok(()),
    })?;
    writer.finish().map(drop)
}

worded_enum! {
    /// What a capture has and classic pcap does not.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum PcapLoss {
        /// Names and processes.
        Peers = "the names and processes of connections",
        /// When the bus routed a message, and when it wrote which copies.
        Phases = "the times inside the bus and the recipients of copies",
        /// On which bus a message was.
        Buses = "the bus of each message",
        /// Match rules, services and what else a recorder found.
        Facts = "match rules, services and other notes of the recorder",
        /// Where messages are missing.
        Gaps = "where messages are missing",
        /// That messages have no times.
        Clock = "that messages have no times",
        /// That bodies are redacted, or that messages were made from a text.
        Content = "that messages are redacted or made from a text",
        /// That messages were left out.
        Excerpt = "that it is an excerpt",
    }
}

impl PcapLoss {
    /// All that is lost when these messages are saved as pcap.
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
