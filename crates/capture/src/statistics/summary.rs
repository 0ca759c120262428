//! The whole of a recording in a few numbers.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use wire::message::MessageType;

use crate::collected::collected;
use crate::model::{
    CallOutcome, Capture, CapturedMessage, Health, LateEvidence, LooseKind, loose_replies,
};
use crate::record::{
    BusId, CaptureMethod, EndCause, Excerpt, GapCause, Late, RecordedClock, TimeSpan,
};
use crate::text::units::{counted, duration, grouped};

/// The whole of a recording, or of what a query selects of it, in a few numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// All messages.
    pub messages: u64,
    /// Bytes that they had, whatever was kept.
    pub bytes: u64,
    /// From the first to the last, by the clock.
    #[serde(rename = "span_ns", serialize_with = "as_nanos")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub span: Duration,
    /// Calls.
    pub calls: u64,
    /// Returns.
    pub returns: u64,
    /// Errors.
    pub errors: u64,
    /// Signals.
    pub signals: u64,
    /// Messages of other types, or that are too broken to say.
    pub unknown: u64,
    /// Calls of the bus itself.
    pub driver_calls: u64,
    /// Calls whose destination is unknown, because the capture cut headers.
    pub calls_to_unknown: u64,
    /// Messages to or from the bus itself.
    pub driver_messages: u64,
    /// Calls whose callers left before a reply, or were waiting when the recording ended.
    pub unanswered: u64,
    /// Of these, calls whose callers left.
    pub caller_left: u64,
    /// Of these, calls whose callers were waiting when the recording ended.
    pub waiting: u64,
    /// Calls that the bus answered with an error because the callee had not replied in time.
    pub time_outs: u64,
    /// Calls that the bus answered with an error because the callee had left.
    pub callee_left: u64,
    /// Calls whose outcome is unknown, because the capture cut messages.
    pub unknown_outcome: u64,
    /// Replies that came after a time-out, or after the caller had left.
    pub late: u64,
    /// Errors of the bus about messages other than calls, which it could not deliver: late replies mostly.
    pub undelivered: u64,
    /// Replies to no recorded call.
    pub orphans: u64,
    /// Replies whose call is unknown, because the capture cut headers.
    pub unknown_call: u64,
    /// Messages of which a part was not kept.
    pub cut: u64,
    /// Of these, messages of whose header a part was not kept.
    pub headers_cut: u64,
    /// Messages of which it is crossed out what they say.
    pub redacted: u64,
    /// Messages that break a rule of the specification.
    pub invalid: u64,
    /// How often the clock was set back in the whole recording: see
    /// [`clock_set_back`](Capture::clock_set_back).
    pub backward: u64,
    #[serde(skip)]
    extent: TimeSpan,
}

fn as_nanos<S: serde::Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

impl Summary {
    /// Counts a message.
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

    /// Adds what single messages do not show: how often the clock was set back, and the answers that belong
    /// to no call, among the messages that `selects` lets pass.
    pub fn complete(
        &mut self,
        capture: &Capture,
        mut selects: impl FnMut(&CapturedMessage<'_>) -> bool,
    ) {
        self.backward = capture.clock_set_back().len() as u64;
        for loose in loose_replies(capture) {
            if selects(&capture.message(loose.reply)) {
                match loose.kind {
                    LooseKind::Late { .. } => self.late += 1,
                    LooseKind::Undelivered { .. } => self.undelivered += 1,
                    LooseKind::Orphan => self.orphans += 1,
                    LooseKind::Unknown => self.unknown_call += 1,
                }
            }
        }
    }
}

/// What there is to know about a recording before its numbers are believed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Caveat {
    /// Messages are missing.
    Gap {
        /// Why.
        cause: GapCause,
        /// How many, if they were counted.
        lost: Option<u64>,
    },
    /// The times are those at which a recorder has read a copy.
    TimesOfCopies {
        /// What the bus is called.
        bus: String,
    },
    /// Messages were read late.
    Late {
        /// What the bus is called.
        bus: String,
        /// How many messages.
        messages: u64,
        /// How often the recorder did not run.
        times: u64,
        /// How long a message waited at most.
        by: Duration,
        /// When the first of them was read, since the first message of the recording.
        first: Duration,
        /// How long the recorder took to read all that waited.
        read_in: Duration,
        /// How that is known.
        evidence: LateEvidence,
    },
    /// Answers of the bus itself are not in it.
    NoDriverReplies {
        /// What the bus is called.
        bus: String,
    },
    /// Its messages have no times.
    NoTimes {
        /// What the bus is called.
        bus: String,
    },
    /// A recording of ours that nobody ended.
    EndedEarly {
        /// Why it ended.
        cause: EndCause,
    },
    /// A recording of ours that does not say why it ended.
    NotEnded,
    /// The recording does not say how it was made.
    MethodUnknown {
        /// What the bus is called.
        bus: String,
    },
    /// Only some messages were asked for.
    Filtered {
        /// The rules.
        filters: Vec<String>,
    },
    /// Messages were left out when it was saved.
    Excerpt {
        /// What the bus is called.
        bus: String,
        /// What was selected.
        excerpt: Excerpt,
    },
    /// Of messages only a part was kept; their sizes are nevertheless right.
    Cut {
        /// Of how many.
        messages: u64,
    },
    /// The headers of messages were cut.
    HeadersCut {
        /// Of how many.
        messages: u64,
        /// Whether messages of the recorder may be among them.
        recorder: bool,
    },
    /// The notes of our recorder are missing.
    NotesMissing,
    /// What messages say was crossed out; all else of them is right.
    Redacted {
        /// Of how many.
        messages: u64,
    },
    /// The clock was set back, so some times are wrong.
    ClockWentBack {
        /// How often.
        times: u64,
    },
    /// Places of the file cannot be read.
    Damaged {
        /// How many.
        places: u64,
        /// Bytes from the start of the file to the first of them.
        at: u64,
        /// What is wrong there.
        what: String,
    },
    /// Nothing is known about the processes behind the connections.
    NoProcesses,
}

impl Caveat {
    /// What says that messages are missing, or may be.
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

    /// What says that messages were read late: one for each bus and each kind of evidence.
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

    /// All that there is to know, the worst first.
    pub fn of(capture: &Capture, summary: &Summary) -> Vec<Self> {
        let mut caveats = Self::of_end(capture);
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
                 processor ({times}, first until {first} after the start): they were read in {read_in}, and durations that \
                 this makes wrong are left out"
            ),
            LateEvidence::FastReplies | LateEvidence::Numbers => write!(
                f,
                "{bus}: {messages} were {} read up to {by} late ({times}, first {first} after the start): after a silence \
                 as many came in {read_in} as usually in that time{}; durations around there may be wrong",
                if *evidence == LateEvidence::Numbers { "possibly" } else { "probably" },
                if *evidence == LateEvidence::Numbers {
                    ""
                } else {
                    ", and replies followed their calls faster than ever"
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
                write!(f, "{bus}: times are those at which a monitor has read its copies")
            }
            Self::Late { .. } => self.write_late(f),
            Self::NoDriverReplies { bus } => write!(
                f,
                "{bus}: overheard by match rules, so the answers of the bus are not there; times \
                 are those at which copies were read"
            ),
            Self::NoTimes { bus } => {
                write!(f, "{bus}: messages have no times, so no duration is known")
            }
            Self::EndedEarly { cause } => write!(f, "the recording ended early: {cause}"),
            Self::NotEnded => f.write_str(
                "the recording does not say why it ended: the recorder was killed or is still \
                 recording, and the last messages may be missing",
            ),
            Self::NotesMissing => f.write_str(
                "another program has written this file again and left out the notes of the recorder: \
                 names, processes and losses may be unknown",
            ),
            Self::HeadersCut { messages, recorder } => write_headers_cut(f, *messages, *recorder),
            Self::MethodUnknown { bus } => write!(
                f,
                "{bus}: the file does not say how it was recorded; its times are probably those \
                 at which a monitor has read its copies"
            ),
            Self::Filtered { filters } => {
                write!(f, "only messages that were asked for: {}", filters.join(" or "))
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
                write!(f, "of {messages} only a part was kept; sizes are the original ones")
            }
            Self::Redacted { messages } => write!(
                f,
                "the contents of {} were redacted when they were recorded; all else is right",
                counted(*messages, "message", "messages")
            ),
            Self::ClockWentBack { times } => {
                let times = counted(*times, "time", "times");
                write!(f, "the clock went back {times}; durations across that are left out")
            }
            Self::Damaged { places, at, what } => {
                let places = counted(*places, "place", "places");
                write!(f, "{places} of the file cannot be read, first at byte {at}: {what}")
            }
            Self::NoProcesses => f.write_str("the processes of the connections are not known"),
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
        GapCause::Disconnected => "the bus has disconnected the recorder",
        GapCause::DiskFull => "the disk was full",
        GapCause::CutFile => "the file is cut",
        GapCause::RecorderLost => "the recorder says that it has lost some",
    }
}
