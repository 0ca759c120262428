//! The packets on a lane.

/// What precedes a message on a lane, in the byte order of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FrameHeader {
    /// The number of messages that the bus had queued for the recipient when the message was sent.
    /// The recipient processes it behind these.
    pub behind: u64,
    /// The time on the monotonic clock when the message was sent, in nanoseconds.
    pub sent_at: u64,
}

impl FrameHeader {
    /// The bytes of the header.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&self.behind.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.sent_at.to_ne_bytes());
        bytes
    }

    /// Splits a packet into its header and its message. `None` if it is too short.
    pub fn split(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (header, message) = packet.split_first_chunk::<HEADER_LEN>()?;
        let (behind, sent_at) = header.split_first_chunk::<8>()?;
        let sent_at = u64::from_ne_bytes(sent_at.try_into().ok()?);
        Some((Self { behind: u64::from_ne_bytes(*behind), sent_at }, message))
    }
}

/// The length of a header in bytes. It is a multiple of eight, so that messages are aligned.
pub const HEADER_LEN: usize = 16;

/// The maximum length of a message on a lane, in bytes. Longer ones go to the bus.
pub const MESSAGE_LEN_MAX: usize = 64 * 1024;

/// The maximum length of a packet in bytes.
pub const FRAME_LEN_MAX: usize = HEADER_LEN + MESSAGE_LEN_MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_a_header_and_a_message() {
        let header = FrameHeader { behind: 7, sent_at: u64::MAX };
        let packet = [&header.to_bytes()[..], b"message"].concat();
        assert_eq!(FrameHeader::split(&packet), Some((header, &b"message"[..])));
        assert_eq!(FrameHeader::split(&packet[..HEADER_LEN - 1]), None);
    }
}
