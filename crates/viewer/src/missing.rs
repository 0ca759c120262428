//! What went over a bus and was not heard.

use capture::record::{GapCause, RecordingGap, RecordingRecord};

/// What is missing of a bus since it was listened to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MissedMessages {
    /// Messages that were gone before they were read, as the bus has counted them.
    pub(crate) overrun: u64,
    /// How often the bus has ended the connection. Nobody knows what went over it until it was there
    /// again.
    pub(crate) disconnected: u64,
}

impl MissedMessages {
    /// Counts what a record says is missing.
    pub(crate) fn learn(&mut self, record: &RecordingRecord<'_>) {
        let RecordingRecord::Gap(RecordingGap { cause, lost, .. }) = record else { return };
        match cause {
            GapCause::Overrun => self.overrun += lost.unwrap_or(0),
            GapCause::Disconnected => self.disconnected += 1,
            // Only of files.
            GapCause::DiskFull | GapCause::CutFile | GapCause::RecorderLost => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use capture::record::BusId;

    use super::*;

    #[test]
    fn what_is_missing_is_counted_by_its_cause() {
        let mut missing = MissedMessages::default();
        for (cause, lost, overrun, disconnected) in [
            (GapCause::Overrun, Some(7), 7, 0),
            (GapCause::Disconnected, None, 7, 1),
            (GapCause::Overrun, Some(3), 10, 1),
            (GapCause::CutFile, None, 10, 1),
        ] {
            missing.learn(&RecordingRecord::Gap(RecordingGap {
                at: None,
                bus: BusId(0),
                cause,
                lost,
            }));
            assert_eq!(missing, MissedMessages { overrun, disconnected });
        }
    }
}
