//! The last messages of a bus that is listened to, so that they can be asked about.

use capture::record::{Fact, RecordedTime, RecordingOrigin, RecordingRecord};
use capture::{Capture, CapturedMessageId};

use crate::standing::StandingFacts;

/// A capture of what came last. It does not grow for ever: when it is full, a second one that was
/// begun halfway takes its place, so each message finds at least so many before it.
#[derive(Debug)]
pub struct Rolling {
    standing: StandingFacts,
    /// What is asked.
    full: Capture,
    /// What will be.
    next: Capture,
    /// Bytes of the messages that it has.
    next_len: usize,
    /// Messages that are there at least, once so many have come, unless they are long.
    kept: usize,
}

impl Rolling {
    /// Keeps at least `kept` messages and at most twice as many; fewer if they have more than
    /// 32 MiB.
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

    /// Takes in what comes next. Of a message, says where it is now.
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
        // Rules were found when it began, and come and go since. Told again, they would stand for all
        // that there are.
        let is_rule = |record: &RecordingRecord<'_>| {
            matches!(record, RecordingRecord::Fact { fact: Fact::Rule { .. }, .. })
        };
        let records = self.standing.records(at).filter(|record| !is_rule(record));
        records.for_each(|record| fresh.push(record));
        self.full = std::mem::replace(&mut self.next, fresh);
        self.next_len = 0;
    }

    /// What is there.
    pub const fn capture(&self) -> &Capture {
        &self.full
    }
}

/// Bytes of messages that are there at least, of those that are as many.
const KEPT_LEN: usize = 32 << 20;

#[cfg(test)]
mod tests {
    use capture::bodies::Bodies;
    use capture::record::RecordedBus;
    use testkit::findings::findings;
    use testkit::recording::TestRecording;

    use super::*;

    #[test]
    fn calls_are_found_however_many_messages_come() {
        let mut recording = TestRecording::new();
        recording.owner("org.example.Mail", ":1.6");
        for _ in 0..100 {
            let call = recording.call(":1.5", "org.example.Mail", "/ org.example.Mail.Get", &());
            recording.wait_ms(3).reply(&call, ":1.6", &());
        }
        let mut rolling = Rolling::new(10);
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
    fn what_is_kept_can_be_written() {
        let mut recording = TestRecording::new();
        recording.bus(RecordedBus::default()).process(":1.5", 42, "mailer");
        let mut rolling = Rolling::new(10);
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
    fn long_messages_are_not_kept_for_ever() {
        let mut recording = TestRecording::new();
        let text = "x".repeat(1 << 20);
        recording.signal(":1.5", "/ org.example.Mail.Came", &(text.as_str(),));
        let mut rolling = Rolling::new(1_000_000);
        for _ in 0..100 {
            recording.each(|record| {
                rolling.push(record);
            });
            assert!(rolling.capture().len() <= 64, "{}", rolling.capture().len());
        }
        assert!(rolling.capture().len() >= 31);
    }

    #[test]
    fn what_the_recorder_does_is_its_own() {
        let mut recording = TestRecording::new();
        recording.fact(Fact::Recorder { unique: ":1.9".into() });
        recording.ask_bus(":1.9", "ListNames", &(), &(vec![":1.9"],));
        recording.ask_bus(":1.5", "ListNames", &(), &(vec![":1.9"],));
        let mut rolling = Rolling::new(10);
        recording.each(|record| {
            rolling.push(record);
        });
        let own: Vec<_> =
            rolling.capture().messages().map(|message| message.is_of_recorder()).collect();
        assert_eq!(own, [true, true, false, false]);
    }
}
