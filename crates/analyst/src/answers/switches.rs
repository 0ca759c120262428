//! The times when processes ran on a processor.

use capture::Capture;
use capture::record::RecordedTime;
use capture::timeline::{ProcessorRecord, processes};
use serde::Serialize;

use super::AnswerBody;
use crate::frame::{ColumnName, FrameColumn, PageFrame};
use crate::selection::{SelectionSpan, start};

/// The times when processes ran; the numbers are in columns.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchesAnswer {
    /// True if the recording has the times when processes ran.
    pub is_recorded: bool,
}

/// Returns the times when processes ran within a time range, process by process. Each process is
/// represented by one of its connections.
pub(crate) fn switches(capture: &Capture, stretch: &SelectionSpan) -> PageFrame {
    let processors = ProcessorRecord::of(capture);
    let start = start(capture);
    let since = |at: RecordedTime| (at.0 - start.0) as f64;
    let peers = processes(capture);
    let mut rows = SwitchRows::default();
    for (pid, from, until) in processors.spans() {
        let Some(peer) = peers.get(&pid) else { continue };
        rows.add(stretch, peer.index() as u32, since(from), since(until));
    }
    let answer = SwitchesAnswer { is_recorded: !processors.is_empty() };
    PageFrame::answer(AnswerBody::Switches(answer))
        .with_column(ColumnName::Peer, FrameColumn::U32(&rows.peer))
        .with_column(ColumnName::From, FrameColumn::F64(&rows.from))
        .with_column(ColumnName::Until, FrameColumn::F64(&rows.until))
        .with_column(ColumnName::On, FrameColumn::F64(&rows.on))
}

/// Time spans in which processes ran. `on` is the time in nanoseconds that a process ran within a
/// span: less than the length of the span if several spans were merged.
#[derive(Debug, Default)]
struct SwitchRows {
    peer: Vec<u32>,
    from: Vec<f64>,
    until: Vec<f64>,
    on: Vec<f64>,
}

impl SwitchRows {
    fn add(&mut self, stretch: &SelectionSpan, peer: u32, from: f64, until: f64) {
        let is_seen = stretch.from.is_none_or(|start| start < until)
            && stretch.until.is_none_or(|end| from < end);
        if !is_seen {
            return;
        }
        match (self.peer.last(), self.until.last_mut(), self.on.last_mut()) {
            (Some(&last), Some(end), Some(on)) if last == peer && from - *end < stretch.finest => {
                *end = until;
                *on += until - from;
            }
            _ => self.push(peer, from, until),
        }
    }

    fn push(&mut self, peer: u32, from: f64, until: f64) {
        self.peer.push(peer);
        self.from.push(from);
        self.until.push(until);
        self.on.push(until - from);
    }
}

#[cfg(test)]
mod tests {
    use capture::record::{Fact, ProcessorUse};
    use testkit::recording::TestRecording;

    use super::*;

    #[test]
    fn spans_closer_than_the_resolution_are_merged() {
        let mut recording = TestRecording::new();
        recording.process(":1.5", 500, "mail").call(":1.5", ":1.6", "/ org.example.Mail.Get", &());
        let capture = recording.capture();
        let at = start(&capture);
        let spans = vec![(10, 5), (20, 5), (100, 50)];
        let until = RecordedTime(at.0 + 1000);
        recording.fact(Fact::Ran(ProcessorUse {
            pid: 500,
            from: at,
            until,
            spans,
            ..ProcessorUse::default()
        }));
        let capture = recording.capture();
        for (stretch, expected) in [
            (
                SelectionSpan::default(),
                vec![(10.0, 15.0, 5.0), (20.0, 25.0, 5.0), (100.0, 150.0, 50.0)],
            ),
            (at_most(6.0), vec![(10.0, 25.0, 10.0), (100.0, 150.0, 50.0)]),
            (between(16.0, 100.0), vec![(20.0, 25.0, 5.0)]),
            (between(149.0, 900.0), vec![(100.0, 150.0, 50.0)]),
        ] {
            assert_eq!(entries(&capture, &stretch), expected, "{stretch:?}");
        }
    }

    fn at_most(finest: f64) -> SelectionSpan {
        SelectionSpan { finest, ..SelectionSpan::default() }
    }

    fn between(from: f64, until: f64) -> SelectionSpan {
        SelectionSpan { from: Some(from), until: Some(until), finest: 0.0 }
    }

    /// The last three columns, row by row.
    fn entries(capture: &Capture, stretch: &SelectionSpan) -> Vec<(f64, f64, f64)> {
        let bytes = switches(capture, stretch).into_bytes();
        let json = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        let head: serde_json::Value = serde_json::from_slice(&bytes[8..8 + json]).unwrap();
        let count = head["columns"][1]["length"].as_u64().unwrap() as usize;
        let data = &bytes[8 + json + (count * 4).next_multiple_of(8)..];
        let number = |column: usize, row: usize| {
            let at = (column * count + row) * 8;
            f64::from_le_bytes(data[at..at + 8].try_into().unwrap())
        };
        (0..count).map(|row| (number(0, row), number(1, row), number(2, row))).collect()
    }
}
