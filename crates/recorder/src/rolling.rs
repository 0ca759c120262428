//! The last messages of live buses, for queries.

use capture::record::{Fact, RecordedTime, RecordingOrigin, RecordingRecord};
use capture::{Capture, CapturedMessageId};

use crate::standing::StandingFacts;

/// A capture of the last messages, of bounded size. When the capture is full (by messages or by
/// bytes), a second one, which was started halfway, replaces it. So after the start, about half of
/// the capacity is always filled.
#[derive(Debug)]
pub struct RollingCapture {
    standing: StandingFacts,
    /// The capture that is queried.
    full: Capture,
    /// The capture that will replace it.
    next: Capture,
    /// The number of message bytes in `next`.
    next_len: usize,
    /// The minimum number of messages that are present, once as many have come, unless they are
    /// long.
    kept: usize,
}

impl RollingCapture {
    /// Creates a capture that keeps at least `kept` messages and at most twice as many; fewer if
    /// they have more than 32 MiB.
    pub fn new(kept: usize) -> Self {
        let standing = StandingFacts::new(RecordingOrigin::default());
        Self {
            standing,
            full: Capture::default(),
            next: Capture::default(),
            next_len: 0,
            kept: kept.max(1),
        }
    }

    /// Adds the next record. Returns the position of a message in the present capture.
    pub fn push(&mut self, record: RecordingRecord<'_>) -> Option<CapturedMessageId> {
        let message = match &record {
            RecordingRecord::Message(raw) => Some((raw.at, raw.bytes.len())),
            _ => None,
        };
        self.standing.learn(&record);
        self.next.push(record.clone());
        self.full.push(record);
        let (at, len) = message?;
        self.next_len += len;
        if self.next.len() >= self.kept || self.next_len >= KEPT_LEN {
            self.turn_over(at);
        }
        self.full.messages().next_back().map(|message| message.id())
    }

    fn turn_over(&mut self, at: RecordedTime) {
        let mut fresh = Capture::default();
        // Rules were found at the start, and have changed since. If they were repeated, they would
        // be taken for all present rules.
        let is_rule = |record: &RecordingRecord<'_>| {
            matches!(record, RecordingRecord::Fact { fact: Fact::Rule { .. }, .. })
        };
        let records = self.standing.records(at).filter(|record| !is_rule(record));
        records.for_each(|record| fresh.push(record));
        self.full = std::mem::replace(&mut self.next, fresh);
        self.next_len = 0;
    }

    /// Returns the present capture.
    pub const fn capture(&self) -> &Capture {
        &self.full
    }
}

/// The number of message bytes at which a capture is full.
const KEPT_LEN: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use capture::bodies::Bodies;
    use capture::record::RecordedBus;
    use testkit::findings::findings;
    use testkit::recording::TestRecording;

    use super::*;

    #[test]
    fn rolling_captures_pair_calls_in_long_recordings() {
        let mut recording = TestRecording::new();
        recording.owner("org.example.Mail", ":1.6");
        for _ in 0..100 {
            let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
            recording.wait_ms(3).reply(&call, ":1.6", &());
        }
        let mut rolling = RollingCapture::new(10);
        let mut answered = 0;
        recording.each(|record| {
            let Some(id) = rolling.push(record) else { return };
            let capture = rolling.capture();
            assert!(capture.len() <= 20, "{}", capture.len());
            let message = capture.message(id);
            answered += usize::from(message.duration().is_some());
            assert!(message.from().is_some() && !message.is_of_recorder());
        });
        assert_eq!(answered, 100);
    }

    #[test]
    fn rolling_captures_can_be_written_and_read() {
        let mut recording = TestRecording::new();
        recording.bus(RecordedBus::default()).process(":1.5", 42, "mailer");
        let mut rolling = RollingCapture::new(10);
        for _ in 0..25 {
            let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
            recording.wait_ms(3).reply(&call, ":1.6", &()).owner("org.example.Mail", ":1.7");
        }
        recording.each(|record| {
            rolling.push(record);
            let mut file = Vec::new();
            rolling.capture().write(&mut file, Bodies::Whole).expect("memory takes all");
            let again = Capture::from_bytes(file).expect("a recording");
            let found = findings(rolling.capture()).into_iter().zip(findings(&again));
            let mut found = found.filter(|(found, _)| found.0 != "origins");
            assert_eq!(found.find(|(found, again)| found != again), None);
        });
    }

    #[test]
    fn rolling_captures_drop_long_messages() {
        let mut recording = TestRecording::new();
        let text = "x".repeat(1 << 20);
        recording.signal(":1.5", "/ org.example.Mail.Came", &(text.as_str(),));
        let mut rolling = RollingCapture::new(1_000_000);
        for _ in 0..100 {
            recording.each(|record| {
                rolling.push(record);
            });
            assert!(rolling.capture().len() <= 64, "{}", rolling.capture().len());
        }
        assert!(rolling.capture().len() >= 31);
    }

    #[test]
    fn rolling_captures_know_messages_of_the_recorder() {
        let mut recording = TestRecording::new();
        recording.fact(Fact::Recorder { unique: ":1.9".into() });
        recording.ask_bus(":1.9", "ListNames", &(), &(vec![":1.9"],));
        recording.ask_bus(":1.5", "ListNames", &(), &(vec![":1.9"],));
        let mut rolling = RollingCapture::new(10);
        recording.each(|record| {
            rolling.push(record);
        });
        let own: Vec<_> =
            rolling.capture().messages().map(|message| message.is_of_recorder()).collect();
        assert_eq!(own, [true, true, false, false]);
    }
}
