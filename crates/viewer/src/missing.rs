//! Counts of messages on a live bus that were not captured.

use capture::record::{GapCause, RecordingGap, RecordingRecord};

/// Messages of a bus that are missing from the capture since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MissedMessages {
    /// The number of messages that were overwritten before they were read, as counted by the bus.
    pub(crate) overrun: u64,
    /// The number of times that the bus closed the connection. The number of messages missed until
    /// the reconnection is unknown.
    pub(crate) disconnected: u64,
}

impl MissedMessages {
    /// Counts the messages that a record reports as missing.
    pub(crate) fn add(&mut self, record: &RecordingRecord<'_>) {
        let RecordingRecord::Gap(RecordingGap { cause, lost, .. }) = record else { return };
        match cause {
            GapCause::Overrun => self.overrun += lost.unwrap_or(0),
            GapCause::Disconnected => self.disconnected += 1,
            // These gaps occur only in files.
            GapCause::DiskFull | GapCause::CutFile | GapCause::RecorderLost => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use capture::record::BusId;

    use super::*;

    #[test]
    fn missing_messages_are_counted_by_cause() {
        let mut missing = MissedMessages::default();
        for (cause, lost, overrun, disconnected) in [
            (GapCause::Overrun, Some(7), 7, 0),
            (GapCause::Disconnected, None, 7, 1),
            (GapCause::Overrun, Some(3), 10, 1),
            (GapCause::CutFile, None, 10, 1),
        ] {
            missing.add(&RecordingRecord::Gap(RecordingGap {
                at: None,
                bus: BusId(0),
                cause,
                lost,
            }));
            assert_eq!(missing, MissedMessages { overrun, disconnected });
        }
    }
}
