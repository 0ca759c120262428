//! The state of a bus as lines of text, for logs and pipes.
//!
//! Programs may parse these lines, so their format is stable: the time of day in UTC, a word for the
//! kind of line, and columns or a text.
//!
//! ```text
//! 12:00:01Z bus         1234 msg/s    1.2 MiB/s   12 connections    8 names   31 rules    0 B   queued    0 lost
//! 12:00:01Z member       512 /s      120 KiB/s    240 B   each  org.example.Battery.Changed  org.example.Battery -> *
//! 12:00:01Z connected :1.7 battery connected, pid 4711, is org.example.Battery
//! ```
//!
//! | word | printed | content |
//! | --- | --- | --- |
//! | `bus` | at most once a second, if a number changed | rates over 3 seconds, and totals |
//! | `member` | after `bus` | the busiest methods and signals, at most three |
//! | `page` | when the address of the page has been used | the next address of the page |
//! | `connected`, `left`, `name`, `error`, `log`, `problem` | when it happens | a description of the event |

use std::time::Duration;

use super::model::{NoteId, Notes, Snapshot, UsedMember};
use super::view::busiest;
use capture::text::units;

/// Formats snapshots as lines, and omits what was already printed.
#[derive(Debug, Default)]
pub(crate) struct PlainLines {
    summary: String,
    next_note: NoteId,
}

impl PlainLines {
    /// Returns the new lines. `now` is the time since 1970.
    pub(crate) fn lines(&mut self, now: Duration, snapshot: &Snapshot, notes: &Notes) -> String {
        let mut text = String::new();
        let mut say = |word: &str, what: &str| text.push_str(&line(now, word, what));
        let (new, next) = notes.since(self.next_note);
        for note in new {
            say(note.kind.word(), &note.text);
        }
        self.next_note = next;
        let summary = summary(snapshot);
        if summary != self.summary {
            say("bus", &summary);
            let busy = busiest(&snapshot.members);
            let busy = busy.into_iter().filter(|member| member.rate.messages > 0.0);
            busy.take(MEMBERS_SHOWN).for_each(|member| say("member", &member_line(member)));
            self.summary = summary;
        }
        text
    }
}

/// Formats a line. `now` is the time since 1970.
pub(crate) fn line(now: Duration, word: &str, what: &str) -> String {
    format!("{} {word:<9} {what}\n", units::time_of_day(now))
}

fn summary(snapshot: &Snapshot) -> String {
    let rules = snapshot.rules.map_or_else(|| String::from("?"), |rules| rules.to_string());
    format!(
        "{:>7} msg/s {:>9}/s {:>4} connections {:>4} names {rules:>4} rules {:>9} queued {:>4} lost",
        units::count(snapshot.rate.messages),
        units::bytes(snapshot.rate.bytes),
        snapshot.connection_count(),
        snapshot.names,
        units::bytes(snapshot.queued() as f64),
        snapshot.lost,
    )
}

fn member_line(member: &UsedMember) -> String {
    let interface = member.interface.as_deref().map(|name| format!("{name}."));
    let (from, to) = member.ends();
    format!(
        "{:>7} /s    {:>9}/s {:>9} each  {}{}  {from} -> {to}",
        units::count(member.rate.messages),
        units::bytes(member.rate.bytes),
        units::bytes(member.len),
        interface.unwrap_or_default(),
        member.member,
    )
}

/// The maximum number of methods and signals in each update.
const MEMBERS_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::super::model::{NoteKind, UsedMemberKind};
    use super::*;
    use crate::live::TrafficRate;

    #[test]
    fn only_changes_are_printed() {
        let mut plain = PlainLines::default();
        let mut notes = Notes::default();
        let mut snapshot = Snapshot::default();
        let noon = Duration::from_secs(12 * 3600);
        let zeros = "12:00:00Z bus             0 msg/s       0 B/s    0 connections    0 names    \
                     ? rules       0 B queued    0 lost\n";
        assert_eq!(plain.lines(noon, &snapshot, &notes), zeros);
        assert_eq!(plain.lines(noon, &snapshot, &notes), "");
        notes.add(Duration::ZERO, NoteKind::Error, "it failed".into());
        assert_eq!(plain.lines(noon, &snapshot, &notes), "12:00:00Z error     it failed\n");
        snapshot.rate = TrafficRate { messages: 1234.0, bytes: 2_000_000.0 };
        snapshot.rules = Some(31);
        snapshot.members =
            vec![member(UsedMemberKind::Signal, 0.0), member(UsedMemberKind::Method, 50.0)];
        assert_eq!(
            plain.lines(noon, &snapshot, &notes),
            "12:00:00Z bus          1234 msg/s   1.9 MiB/s    0 connections    0 names   \
             31 rules       0 B queued    0 lost\n\
             12:00:00Z member         50 /s      4.9 KiB/s     100 B each  org.a.M  there -> here\n"
        );
    }

    fn member(kind: UsedMemberKind, messages: f64) -> UsedMember {
        UsedMember {
            kind,
            interface: Some("org.a".into()),
            member: "M".into(),
            owner: "here".into(),
            party: Some("there".into()),
            more_parties: 0,
            rate: TrafficRate { messages, bytes: messages * 100.0 },
            errors: 0.0,
            len: 100.0,
            count: 7,
        }
    }
}
