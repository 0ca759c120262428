//! L50: gaps and faults of the recording itself.

use super::prelude::*;
use crate::lint::finding::FindingParty;
use crate::model::{CLOCK_BACK_MIN, Health, LateEvidence};
use crate::record::{
    BusId, CaptureMethod as Listening, EndCause, Excerpt, GapCause, Late, MessageContent,
    RecordedBus, RecordedClock,
};

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(50),
    title: "the recording is incomplete",
    rating: Rating::Always(FindingSeverity::Info),
    needs: Needs::Messages,
    meaning: "Messages are missing or cut, or the recorder read them so late that their times are \
              wrong, or the programs behind the connections are unknown. Other findings may be \
              wrong or missing because of it, so this finding is listed first.",
    thresholds: &[
        Threshold::span("jump of the clock backward", CLOCK_BACK_MIN),
        Threshold::percent(
            "share of connections without a name and a process, more than",
            NAMELESS_PERCENT as u64,
        ),
    ],
    example: "busctl capture of systemd 252 keeps the first 4096 bytes of a message, so 1 % of the \
              messages of a recorded session are cut, and it records no names of programs.",
    advice: "Record again with diligence record. It keeps whole messages, names and processes, and \
             reports the messages that it missed.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let mut found = gaps(lint);
    found.extend(endings(lint));
    found.extend(damage(lint));
    found.extend(listening(lint));
    found.extend(excerpts(lint));
    found.extend(cut(lint));
    found.extend(invalid(lint));
    found.extend(clock(lint));
    found.extend(late(lint));
    found.extend(nameless(lint));
    found
}

fn finding(lint: &LintContext<'_>, subject: &str, says: String) -> Finding {
    let stable = String::from("recording");
    let recording = FindingParty { stable, ..lint.named("the recording") };
    Finding::new(recording).about(subject).says(says)
}

fn gaps(lint: &LintContext<'_>) -> Vec<Finding> {
    let by_cause = collected(lint.capture.gaps().iter().map(|gap| (gap.cause, gap)));
    let report = |(cause, gaps): &(GapCause, Vec<&crate::record::RecordingGap>)| {
        let lost: u64 = gaps.iter().filter_map(|gap| gap.lost).sum();
        let why = match cause {
            GapCause::Overrun => "the recorder was slower than the bus",
            GapCause::Disconnected => "the bus disconnected the recorder",
            GapCause::DiskFull => "the disk was full",
            GapCause::CutFile => "the file is cut",
            GapCause::RecorderLost => "the recorder reports that it lost messages",
        };
        let lost = match lost {
            0 => String::from("an unknown number of messages"),
            lost => units::counted(lost, "message"),
        };
        finding(lint, "gap", format!("lacks {lost}: {why}")).severity(FindingSeverity::High)
    };
    by_cause.iter().map(report).collect()
}

/// Recordings that were not ended on purpose, or lack the record of how they ended.
fn endings(lint: &LintContext<'_>) -> Vec<Finding> {
    let severity = |cause| match cause {
        EndCause::Asked
        | EndCause::Command
        | EndCause::Trigger
        | EndCause::Time
        | EndCause::Size => None,
        EndCause::NoBus => Some(FindingSeverity::Med),
        EndCause::Broken => Some(FindingSeverity::High),
    };
    let causes = lint.capture.endings().into_iter();
    let causes = causes.filter_map(|cause| Some((cause, severity(cause)?)));
    let report = |(cause, severity)| {
        finding(lint, "end", format!("ended early: {cause}")).severity(severity)
    };
    let killed = lint.capture.is_without_end().then(|| {
        let says = "has no record of its end: the recorder was killed or is still recording, so the \
                    last messages may be missing";
        finding(lint, "end", says.into()).severity(FindingSeverity::Med)
    });
    let rewritten = lint.capture.is_without_notes().then(|| {
        let says = "lacks the notes of the recorder, probably because another program rewrote the \
                    file: names, processes and losses may be unknown";
        finding(lint, "notes", says.into()).severity(FindingSeverity::Med)
    });
    causes.map(report).chain(killed).chain(rewritten).collect()
}

fn damage(lint: &LintContext<'_>) -> Option<Finding> {
    let first = lint.capture.damage().first()?;
    let count = units::counted(lint.capture.damage_count(), "place");
    let says = format!("cannot be read at {count}, first at byte {}: {}", first.at, first.what);
    Some(finding(lint, "damage", says).severity(FindingSeverity::High))
}

fn listening(lint: &LintContext<'_>) -> Vec<Finding> {
    let faults = lint.capture.buses().iter().flat_map(faults_of);
    faults
        .map(|(subject, says)| finding(lint, subject, says).severity(FindingSeverity::Med))
        .collect()
}

/// Recordings saved as an excerpt of another recording.
fn excerpts(lint: &LintContext<'_>) -> Vec<Finding> {
    let blind = rules_that_need(&[Needs::MatchRules]);
    let report = |(bus, excerpt): (BusId, &Excerpt)| {
        let of = units::counted(excerpt.of, "message");
        let query = match excerpt.query.as_str() {
            "" => String::new(),
            query => format!(", selected by {query}"),
        };
        let says = format!(
            "is an excerpt with {} of {of} of {}{query}: {blind} are not checked, and findings about \
             missing messages may be wrong",
            units::grouped(excerpt.messages),
            lint.capture.bus_label(bus)
        );
        finding(lint, "excerpt", says).severity(FindingSeverity::Med)
    };
    lint.capture.excerpts().map(report).collect()
}

/// Faults that follow from the method by which a bus was recorded, each with its subject.
fn faults_of(bus: &RecordedBus) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    if !bus.filters.is_empty() {
        let filters = bus.filters.join(" or ");
        faults.push(("filter", format!("contains only messages that match {filters}")));
    }
    if bus.method == Listening::Eavesdrop {
        faults
            .push(("eavesdrop", "was made by eavesdropping; the bus's replies are missing".into()));
    }
    if bus.clock == RecordedClock::Absent {
        faults.push(("times", "has no times; no other rule is checked".into()));
    }
    match bus.content {
        MessageContent::Bytes => {}
        MessageContent::Redacted => faults.push(("redacted", redacted(bus.method))),
        MessageContent::Headers | MessageContent::Texts => {
            let says = "was converted from text; flags, sizes and most arguments are missing";
            faults.push(("text", says.into()))
        }
    }
    faults
}

/// The rules that cannot be checked in a redacted recording. Of match rules, it contains only those
/// that existed when the recorder started and that have no argument conditions.
fn redacted(method: Listening) -> String {
    let blind = match method {
        Listening::Trace => rules_that_need(&[Needs::Bodies]),
        _ => rules_that_need(&[Needs::Bodies, Needs::Recipients]),
    };
    format!(
        "has redacted message bodies: {blind} cannot be checked, and {} know only the match rules \
         that existed when it began and have no argument conditions",
        rules_that_need(&[Needs::MatchRules])
    )
}

fn rules_that_need(needs: &[Needs]) -> String {
    let rules = LintRule::all().iter().filter(|rule| needs.contains(&rule.needs));
    rules.map(|rule| rule.id.to_string()).collect::<Vec<_>>().join(", ")
}

fn cut(lint: &LintContext<'_>) -> Option<Finding> {
    let is_cut =
        |it: &CapturedMessage<'_>| matches!(it.health(), Health::BodyCut | Health::HeaderCut);
    let cut: Vec<_> = lint.capture.messages().filter(is_cut).collect();
    let share = units::share(cut.len(), lint.capture.len());
    let cut_headers = cut.iter().filter(|message| message.health() == Health::HeaderCut).count();
    let headers = match cut_headers {
        0 => String::new(),
        cut_headers => format!(
            "; of {}, the header is cut too, so they are not checked, and a missing reply, call or \
             match rule leads to no finding",
            units::counted(cut_headers as u64, "message")
        ),
    };
    let says = format!(
        "contains only the beginning of {share} of the messages, which {} ignore{headers}",
        rules_that_need(&[Needs::Bodies])
    );
    (!cut.is_empty()).then(|| {
        finding(lint, "cut", says).severity(FindingSeverity::Med).shown_by(&cut).query("is:cut")
    })
}

fn invalid(lint: &LintContext<'_>) -> Option<Finding> {
    let invalid = lint.capture.invalid();
    let (_, reason) = invalid.first()?;
    let says = format!(
        "contains {} that violate the D-Bus specification; first: {reason}",
        units::counted(invalid.len() as u64, "message")
    );
    let evidence = Evidence::of(invalid.iter().map(|(id, _)| *id));
    Some(finding(lint, "invalid", says).severity(FindingSeverity::Med).evidence(evidence))
}

fn clock(lint: &LintContext<'_>) -> Option<Finding> {
    let after = lint.capture.clock_set_back();
    let times = units::counted(after.len() as u64, "time");
    let says = format!("has a clock that jumped back {times}; durations across a jump are unknown");
    (!after.is_empty()).then(|| {
        finding(lint, "clock", says).severity(FindingSeverity::Med).evidence(Evidence::of(after))
    })
}

/// Messages that the recorder read late, so that their times are wrong.
fn late(lint: &LintContext<'_>) -> Vec<Finding> {
    let spans = lint.capture.lateness();
    let report = |(evidence, spans): &(LateEvidence, Vec<Late>)| {
        let messages: u64 = spans.iter().map(|late| late.messages).sum();
        let by = spans.iter().map(Late::by).max().unwrap_or_default();
        let read_in: Duration = spans.iter().map(Late::catching_up).sum();
        let (how, confidence) = match evidence {
            LateEvidence::Reported => ("were", Confidence::High),
            LateEvidence::FastReplies => ("were probably", Confidence::Medium),
            LateEvidence::Numbers => ("were possibly", Confidence::Low),
        };
        let says = format!(
            "has times that are up to {} late: {} {how} read within {}, after the recorder had not \
             run; findings about rates, waits and slow calls may be wrong there",
            units::span(by),
            units::counted(messages, "message"),
            units::span(read_in)
        );
        let evidence = Evidence::of(lint.capture.messages().filter_map(|message| {
            let is_late = |late: &Late| late.resumed <= message.at() && message.at() <= late.until;
            spans.iter().any(is_late).then(|| message.id())
        }));
        finding(lint, "late", says)
            .severity(FindingSeverity::Med)
            .confidence(confidence)
            .evidence(evidence)
    };
    let spans = spans.into_iter().map(|span| (span.evidence, span.late));
    collected(spans).iter().map(report).collect()
}

/// A finding if most connections lack both a name and a process, so that readers cannot identify
/// their programs.
fn nameless(lint: &LintContext<'_>) -> Option<Finding> {
    let peers = lint
        .capture
        .directory()
        .peers()
        .filter(|(id, peer)| peer.unique != lint.capture.driver() && !lint.is_observer(*id));
    let (unknown, known): (Vec<_>, Vec<_>) =
        peers.partition(|(_, peer)| peer.names.is_empty() && peer.process.is_none());
    let all = unknown.len() + known.len();
    let says = format!(
        "lacks both the name and the process of {} of {}",
        unknown.len(),
        units::counted(all as u64, "connection")
    );
    (unknown.len() * 100 > all * NAMELESS_PERCENT).then(|| finding(lint, "names", says))
}

const NAMELESS_PERCENT: usize = 50;
