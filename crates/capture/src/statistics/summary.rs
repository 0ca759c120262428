//! Totals of a recording, with caveats.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use wire::message::MessageType;

use crate::collected::collected;
use crate::model::{
    CallOutcome, Capture, CapturedMessage, Health, LateEvidence, UnpairedReplyKind,
    unpaired_replies,
};
use crate::record::{
    BusId, CaptureMethod, EndCause, Excerpt, Fact, GapCause, Late, RecordedClock, RecordedTime,
    TimeSpan,
};
use crate::text::units::{counted, duration, grouped};

/// The totals of a recording, or of the messages that a query selects.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The number of messages.
    pub messages: u64,
    /// The size of the messages in bytes, including bytes that were not kept.
    pub bytes: u64,
    /// The time from the first message to the last.
    #[serde(rename = "span_ns", serialize_with = "as_nanos")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub span: Duration,
    /// The number of calls.
    pub calls: u64,
    /// The number of successful replies.
    pub returns: u64,
    /// The number of errors.
    pub errors: u64,
    /// The number of signals.
    pub signals: u64,
    /// The number of messages of other types, or whose type cannot be read.
    pub unknown: u64,
    /// The number of calls to the bus itself.
    pub driver_calls: u64,
    /// The number of calls with an unknown destination, because the capture cut headers.
    pub calls_to_unknown: u64,
    /// The number of messages to or from the bus itself.
    pub driver_messages: u64,
    /// The number of calls whose caller disconnected before a reply, or was waiting when the
    /// recording ended.
    pub unanswered: u64,
    /// The number of unanswered calls whose caller disconnected.
    pub caller_left: u64,
    /// The number of unanswered calls whose caller was waiting when the recording ended.
    pub waiting: u64,
    /// The number of calls that the bus answered with an error because the callee had not replied
    /// in time.
    pub time_outs: u64,
    /// The number of calls that the bus answered with an error because the callee had disconnected.
    pub callee_left: u64,
    /// The number of calls with an unknown outcome, because the capture cut messages.
    pub unknown_outcome: u64,
    /// The number of replies after a timeout, or after the caller had disconnected.
    pub late: u64,
    /// The number of errors from the bus about messages other than calls that it could not deliver,
    /// mostly late replies.
    pub undelivered: u64,
    /// The number of replies without a recorded call.
    pub orphans: u64,
    /// The number of replies with an unknown call, because the capture cut headers.
    pub unknown_call: u64,
    /// The number of messages that were not kept completely.
    pub cut: u64,
    /// The number of messages whose header was not kept completely.
    pub headers_cut: u64,
    /// The number of messages whose body was redacted.
    pub redacted: u64,
    /// The number of messages that violate the specification.
    pub invalid: u64,
    /// The number of times that the clock jumped back in the whole recording: see
    /// [`clock_set_back`](Capture::clock_set_back).
    pub backward: u64,
    #[serde(skip)]
    extent: TimeSpan,
}

fn as_nanos<S: serde::Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

impl Summary {
    /// Adds a message to the totals.
    pub fn add(&mut self, message: &CapturedMessage<'_>) {
        self.messages += 1;
        self.bytes += u64::from(message.len());
        let is_driver = message.is_driver_traffic();
        self.driver_messages += u64::from(is_driver);
        match message.kind() {
            MessageType::MethodCall => {
                self.calls += 1;
                self.driver_calls += u64::from(is_driver);
                let is_cut = message.health() == Health::HeaderCut;
                self.calls_to_unknown += u64::from(is_cut && message.destination_id().is_none());
                self.add_outcome(message);
            }
            MessageType::MethodReturn => self.returns += 1,
            MessageType::Error => self.errors += 1,
            MessageType::Signal => self.signals += 1,
            MessageType::Unknown(_) => self.unknown += 1,
        }
        match message.health() {
            Health::Whole => {}
            Health::BodyRedacted => self.redacted += 1,
            Health::BodyCut => self.cut += 1,
            Health::HeaderCut => {
                self.cut += 1;
                self.headers_cut += 1;
            }
            Health::BodyInvalid | Health::HeaderInvalid => self.invalid += 1,
        }
        self.extent.add(message.at());
        self.span = self.extent.length();
    }

    fn add_outcome(&mut self, call: &CapturedMessage<'_>) {
        let Some(outcome) = call.outcome() else { return };
        self.unanswered += u64::from(outcome.is_unanswered());
        match outcome {
            CallOutcome::TimedOut => self.time_outs += 1,
            CallOutcome::CalleeLeft => self.callee_left += 1,
            CallOutcome::CallerLeft => self.caller_left += 1,
            CallOutcome::Waiting => self.waiting += 1,
            CallOutcome::Unknown => self.unknown_outcome += 1,
            CallOutcome::Returned | CallOutcome::Failed | CallOutcome::NoReplyExpected => {}
        }
    }

    /// Adds the totals that single messages do not show: jumps of the clock, and replies without a
    /// call, among the messages for which `selects` returns true.
    pub fn complete(
        &mut self,
        capture: &Capture,
        mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
    ) {
        self.backward = capture.clock_set_back().len() as u64;
        for loose in unpaired_replies(capture) {
            if selects(&capture.message(loose.reply)) {
                match loose.kind {
                    UnpairedReplyKind::Late { .. } => self.late += 1,
                    UnpairedReplyKind::Undelivered { .. } => self.undelivered += 1,
                    UnpairedReplyKind::Orphan => self.orphans += 1,
                    UnpairedReplyKind::Unknown => self.unknown_call += 1,
                }
            }
        }
    }
}

/// A fact that limits the meaning of the totals of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Caveat {
    /// Messages are missing from the recording.
    Gap {
        /// The reason why they are missing.
        cause: GapCause,
        /// The number of missing messages, if known.
        lost: Option<u64>,
    },
    /// The times are those at which a recorder read its copies.
    TimesOfCopies {
        /// The name of the bus.
        bus: String,
    },
    /// The recorder read messages late.
    Late {
        /// The name of the bus.
        bus: String,
        /// The number of messages that were read late.
        messages: u64,
        /// The number of times that the recorder did not run.
        times: u64,
        /// The longest delay of a message.
        by: Duration,
        /// The time when the first late message was read, since the first message of the recording.
        first: Duration,
        /// The total time in which the recorder read the late messages.
        read_in: Duration,
        /// The kind of evidence for it.
        evidence: LateEvidence,
    },
    /// Other programs have continued a bus, while messages waited.
    Replaced {
        /// The name of the bus.
        bus: String,
        /// The number of replacements.
        times: u64,
        /// The version of the program that continued last.
        version: String,
        /// When the first one had continued, since the first message of the recording.
        first: Duration,
        /// The longest pause of the bus.
        paused: Duration,
    },
    /// Replies of the bus itself are missing.
    NoDriverReplies {
        /// The name of the bus.
        bus: String,
    },
    /// The messages of a bus have no times.
    NoTimes {
        /// The name of the bus.
        bus: String,
    },
    /// A recording by Diligence that was not ended on purpose.
    EndedEarly {
        /// The reason why it ended.
        cause: EndCause,
    },
    /// A recording by Diligence without a record of its end.
    NotEnded,
    /// The recording does not state how it was made.
    MethodUnknown {
        /// The name of the bus.
        bus: String,
    },
    /// The recorder captured only some messages.
    Filtered {
        /// The match rules of the recorder.
        filters: Vec<String>,
    },
    /// The recording was saved as an excerpt.
    Excerpt {
        /// The name of the bus.
        bus: String,
        /// The selection of the excerpt.
        excerpt: Excerpt,
    },
    /// Messages were not kept completely; their sizes are nevertheless correct.
    Cut {
        /// The number of these messages.
        messages: u64,
    },
    /// The headers of messages were cut.
    HeadersCut {
        /// The number of these messages.
        messages: u64,
        /// True if messages of the recorder may be among them.
        recorder: bool,
    },
    /// The notes of the Diligence recorder are missing.
    NotesMissing,
    /// Message bodies were redacted; everything else is correct.
    Redacted {
        /// The number of these messages.
        messages: u64,
    },
    /// The clock jumped back, so some times are wrong.
    ClockWentBack {
        /// The number of jumps.
        times: u64,
    },
    /// Parts of the file cannot be read.
    Damaged {
        /// The number of unreadable places.
        places: u64,
        /// The offset of the first place in bytes.
        at: u64,
        /// The problem at the first place.
        what: String,
    },
    /// The processes behind the connections are unknown.
    NoProcesses,
}

impl Caveat {
    /// Returns the caveats that messages are missing, or may be missing.
    pub fn of_end(capture: &Capture) -> Vec<Self> {
        let gaps = capture.gaps().iter().map(|gap| Self::Gap { cause: gap.cause, lost: gap.lost });
        let mut caveats: Vec<_> = gaps.collect();
        let ends = capture.endings().into_iter();
        let early = ends.filter(|cause| matches!(cause, EndCause::NoBus | EndCause::Broken));
        caveats.extend(early.map(|cause| Self::EndedEarly { cause }));
        caveats.extend(capture.is_without_end().then_some(Self::NotEnded));
        caveats.extend(capture.is_without_notes().then_some(Self::NotesMissing));
        caveats.extend(Self::of_lateness(capture));
        caveats.extend(capture.damage().first().map(|first| Self::Damaged {
            places: capture.damage_count(),
            at: first.at,
            what: first.what.clone(),
        }));
        caveats.extend(capture.excerpts().map(|(bus, excerpt)| Self::Excerpt {
            bus: capture.bus_label(bus).into_owned(),
            excerpt: excerpt.clone(),
        }));
        caveats
    }

    /// Returns the caveats that messages were read late, one for each bus and kind of evidence.
    pub fn of_lateness(capture: &Capture) -> Vec<Self> {
        let spans = capture.lateness();
        if spans.is_empty() {
            return Vec::new();
        }
        let start = capture.messages().map(|message| message.at()).min().unwrap_or_default();
        let spans = spans.into_iter();
        let by_bus = collected(spans.map(|span| ((span.bus, span.evidence), span.late)));
        let caveat = |((bus, evidence), spans): &((BusId, LateEvidence), Vec<Late>)| Self::Late {
            bus: capture.bus_label(*bus).into_owned(),
            messages: spans.iter().map(|late| late.messages).sum(),
            times: spans.len() as u64,
            by: spans.iter().map(Late::by).max().unwrap_or_default(),
            first: spans[0].resumed.since(start).unwrap_or_default(),
            read_in: spans.iter().map(Late::catching_up).sum(),
            evidence: *evidence,
        };
        by_bus.iter().map(caveat).collect()
    }

    /// Returns the caveats that a bus paused because another program has continued it.
    pub fn of_replacements(capture: &Capture) -> Vec<Self> {
        let facts = capture.facts().iter().filter_map(|(at, bus, fact)| match fact {
            Fact::Replaced { new, paused_ns, .. } => Some((*bus, (*at, new, *paused_ns))),
            _ => None,
        });
        let by_bus = collected(facts);
        if by_bus.is_empty() {
            return Vec::new();
        }
        let start = capture.messages().map(|message| message.at()).min().unwrap_or_default();
        let caveat = |(bus, replacements): &(BusId, Vec<(RecordedTime, &String, u64)>)| {
            let longest = replacements.iter().map(|(.., paused)| *paused).max().unwrap_or_default();
            Self::Replaced {
                bus: capture.bus_label(*bus).into_owned(),
                times: replacements.len() as u64,
                version: replacements.last().map(|(_, new, _)| (*new).clone()).unwrap_or_default(),
                first: replacements[0].0.since(start).unwrap_or_default(),
                paused: Duration::from_nanos(longest),
            }
        };
        by_bus.iter().map(caveat).collect()
    }

    /// Returns all caveats, the most important first.
    pub fn of(capture: &Capture, summary: &Summary) -> Vec<Self> {
        let mut caveats = Self::of_end(capture);
        caveats.extend(Self::of_replacements(capture));
        let back = summary.backward;
        caveats.extend((back > 0).then_some(Self::ClockWentBack { times: back }));
        let cut = summary.cut;
        caveats.extend((cut > 0).then_some(Self::Cut { messages: cut }));
        let (messages, recorder) = (summary.headers_cut, capture.directory().has_recorder());
        caveats.extend((messages > 0).then_some(Self::HeadersCut { messages, recorder }));
        let redacted = summary.redacted;
        caveats.extend((redacted > 0).then_some(Self::Redacted { messages: redacted }));
        for (index, bus) in capture.buses().iter().enumerate() {
            let label = || capture.bus_label(BusId(index as u16)).into_owned();
            if !bus.filters.is_empty() {
                caveats.push(Self::Filtered { filters: bus.filters.clone() });
            }
            caveats.extend(match bus.method {
                _ if bus.clock == RecordedClock::Absent => Some(Self::NoTimes { bus: label() }),
                CaptureMethod::Trace => None,
                CaptureMethod::Monitor => Some(Self::TimesOfCopies { bus: label() }),
                CaptureMethod::Eavesdrop => Some(Self::NoDriverReplies { bus: label() }),
                CaptureMethod::Unknown => Some(Self::MethodUnknown { bus: label() }),
            });
        }
        if capture.buses().is_empty() && !capture.is_empty() {
            caveats.push(Self::MethodUnknown { bus: capture.bus_label(BusId(0)).into_owned() });
        }
        if capture.directory().peers().all(|(_, peer)| peer.process.is_none()) {
            caveats.push(Self::NoProcesses);
        }
        caveats
    }
}

impl Caveat {
    fn write_late(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Late { bus, messages, times, by, first, read_in, evidence } = self else {
            return Ok(());
        };
        let (messages, by) = (counted(*messages, "message", "messages"), duration(*by));
        let (times, read_in) = (counted(*times, "time", "times"), duration(*read_in));
        let first = duration(*first);
        match evidence {
            LateEvidence::Reported => write!(
                f,
                "{bus}: {messages} were read up to {by} late, because the recorder was stopped or had no \
                 processor ({times}, first until {first} after the start). They were read within {read_in}; \
                 durations that would be wrong are omitted"
            ),
            LateEvidence::FastReplies | LateEvidence::Numbers => write!(
                f,
                "{bus}: {messages} were {} read up to {by} late ({times}, first {first} after the start). After a \
                 silence, {read_in} contained the usual number of messages for this delay{}; durations near it may be \
                 wrong",
                if *evidence == LateEvidence::Numbers { "possibly" } else { "probably" },
                if *evidence == LateEvidence::Numbers {
                    ""
                } else {
                    ", and replies followed their calls faster than at any other time"
                },
            ),
        }
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { cause, lost } => {
                match lost {
                    Some(lost) => {
                        write!(f, "{} missing: ", counted(*lost, "message is", "messages are"))?;
                    }
                    None => f.write_str("messages are missing: ")?,
                }
                f.write_str(cause_words(*cause))
            }
            Self::TimesOfCopies { bus } => {
                write!(f, "{bus}: times are those at which a monitor read its copies")
            }
            Self::Late { .. } => self.write_late(f),
            Self::Replaced { bus, times, version, first, paused } => {
                let (first, paused) = (duration(*first), duration(*paused));
                let times = counted(*times, "time", "times");
                write!(
                    f,
                    "{bus}: the program of the bus was replaced ({times}, first {first} after the \
                     start, now version {version}). Messages waited for up to {paused}; none is missing"
                )
            }
            Self::NoDriverReplies { bus } => write!(
                f,
                "{bus}: recorded by eavesdropping, so replies of the bus are missing; times are those \
                 at which copies were read"
            ),
            Self::NoTimes { bus } => {
                write!(f, "{bus}: messages have no times, so durations are unknown")
            }
            Self::EndedEarly { cause } => write!(f, "the recording ended early: {cause}"),
            Self::NotEnded => f.write_str(
                "the recording has no record of its end: the recorder was killed or is still recording, \
                 so the last messages may be missing",
            ),
            Self::NotesMissing => f.write_str(
                "the notes of the recorder are missing, probably because another program rewrote the \
                 file: names, processes and losses may be unknown",
            ),
            Self::HeadersCut { messages, recorder } => write_headers_cut(f, *messages, *recorder),
            Self::MethodUnknown { bus } => write!(
                f,
                "{bus}: the file does not state how it was recorded; its times are probably those at \
                 which a monitor read its copies"
            ),
            Self::Filtered { filters } => {
                write!(f, "contains only messages that match {}", filters.join(" or "))
            }
            Self::Excerpt { bus, excerpt } => {
                let of = counted(excerpt.of, "message", "messages");
                write!(f, "{bus}: an excerpt with {} of {of}", grouped(excerpt.messages))?;
                match excerpt.query.as_str() {
                    "" => Ok(()),
                    query => write!(f, ", selected by {query}"),
                }
            }
            Self::Cut { messages } => {
                let messages = counted(*messages, "message", "messages");
                write!(f, "{messages} were not kept completely; sizes are the original ones")
            }
            Self::Redacted { messages } => write!(
                f,
                "the contents of {} were redacted during the recording; everything else is correct",
                counted(*messages, "message", "messages")
            ),
            Self::ClockWentBack { times } => {
                let times = counted(*times, "time", "times");
                write!(f, "the clock jumped back {times}; durations across a jump are omitted")
            }
            Self::Damaged { places, at, what } => {
                let places = counted(*places, "place", "places");
                write!(f, "{places} of the file cannot be read, first at byte {at}: {what}")
            }
            Self::NoProcesses => f.write_str("the processes of the connections are unknown"),
        }
    }
}

fn write_headers_cut(f: &mut fmt::Formatter<'_>, messages: u64, recorder: bool) -> fmt::Result {
    write!(
        f,
        "the headers of {} were cut: their senders, recipients, members and calls are unknown where \
         they are missing",
        counted(messages, "message", "messages")
    )?;
    f.write_str(if recorder { "; messages of the recorder itself may be counted" } else { "" })
}

const fn cause_words(cause: GapCause) -> &'static str {
    match cause {
        GapCause::Overrun => "the recorder was slower than the bus",
        GapCause::Disconnected => "the bus disconnected the recorder",
        GapCause::DiskFull => "the disk was full",
        GapCause::CutFile => "the file is cut",
        GapCause::RecorderLost => "the recorder reports that it lost messages",
    }
}
