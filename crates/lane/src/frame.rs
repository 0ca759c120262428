//! The packets on a lane.

/// What follows a message on a lane, in the byte order of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FrameStamp {
    /// The number of messages that the bus had queued for the recipient when the message was sent.
    /// The recipient processes it behind these.
    pub behind: u64,
    /// The time on the monotonic clock when the program sent the message, in nanoseconds: after
    /// everything that has caused it, and before everything that it causes.
    pub sent_at: u64,
}

impl FrameStamp {
    /// The bytes of the stamp.
    pub fn to_bytes(self) -> [u8; STAMP_LEN] {
        let mut bytes = [0; STAMP_LEN];
        bytes[..8].copy_from_slice(&self.behind.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.sent_at.to_ne_bytes());
        bytes
    }

    /// Splits a packet into its message and its stamp. `None` if it is too short.
    pub fn split(packet: &[u8]) -> Option<(&[u8], Self)> {
        let (message, stamp) = packet.split_last_chunk::<STAMP_LEN>()?;
        let (behind, sent_at) = stamp.split_first_chunk::<8>()?;
        let sent_at = u64::from_ne_bytes(sent_at.try_into().ok()?);
        Some((message, Self { behind: u64::from_ne_bytes(*behind), sent_at }))
    }
}

/// The length of a stamp in bytes.
pub const STAMP_LEN: usize = 16;

/// The maximum length of a message on a lane, in bytes. Longer ones go to the bus.
pub const MESSAGE_LEN_MAX: usize = 64 * 1024;

/// The maximum length of a packet in bytes.
pub const FRAME_LEN_MAX: usize = MESSAGE_LEN_MAX + STAMP_LEN;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_a_message_and_a_stamp() {
        let stamp = FrameStamp { behind: 7, sent_at: u64::MAX };
        let packet = [b"message", &stamp.to_bytes()[..]].concat();
        assert_eq!(FrameStamp::split(&packet), Some((&b"message"[..], stamp)));
        assert_eq!(FrameStamp::split(&packet[..STAMP_LEN - 1]), None);
    }
}
