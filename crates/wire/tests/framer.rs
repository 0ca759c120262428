//! The framer: pieces of any size, limits, and descriptors.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

#[expect(dead_code, reason = "values and mutations are for other tests")]
#[path = "support/random.rs"]
mod random;

use std::num::NonZeroU32;

use diligence_wire::Endian;
use diligence_wire::framer::{Frame, Framer, FramerLimits, LARGE_MESSAGE, SCRATCH_LEN_MIN};
use diligence_wire::limits::{ARRAY_LEN_MAX, FORWARDED_LEN_MAX, STAMP_LEN_MAX};
use diligence_wire::message::{Builder, FixedHeader, InvalidMessage, InvalidReason, Message};
use random::{Messages as _, Random};

/// A method return of exactly `len` bytes, at least 36.
fn message(len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let args = (vec![7_u8; len - HEADER_LEN - 4],);
    reply().write(&mut bytes, NonZeroU32::MIN, &args).unwrap();
    assert_eq!(bytes.len(), len);
    bytes
}

fn reply() -> Builder<'static> {
    Builder::method_return(NonZeroU32::MIN).endian(Endian::Little)
}

const HEADER_LEN: usize = 32;

/// The receiving side of a stream: the framer, its scratch buffer, and the messages.
struct FramedStream {
    framer: Framer,
    scratch: Vec<u8>,
    messages: Vec<Vec<u8>>,
}

impl FramedStream {
    fn new(limits: FramerLimits, scratch_len: usize) -> Self {
        let scratch = vec![0xaa; scratch_len];
        Self { framer: Framer::new(limits), scratch, messages: Vec::new() }
    }

    /// Receives as many of `bytes` as there is space for, and returns their number.
    fn receive(&mut self, bytes: &[u8]) -> usize {
        let len = self.framer.space(&mut self.scratch).put(bytes);
        assert!(len > 0, "there is always space");
        self.framer.received(len);
        len
    }

    fn split(&mut self) -> Result<(), InvalidMessage> {
        while let Some(frame) = self.framer.next(&self.scratch)? {
            self.messages.push(match frame {
                Frame::Scratch(bytes) => bytes.to_vec(),
                Frame::Owned(bytes) => bytes,
            });
        }
        Ok(())
    }

    /// Parks the framer and overwrites the scratch buffer, as another stream would.
    fn park(&mut self) {
        self.framer.park(&self.scratch);
        self.scratch.fill(0xbb);
    }
}

/// Whether another stream uses the scratch buffer after each piece.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScratchMode {
    Own,
    Shared,
}

/// Receives `messages` in pieces with the lengths that `piece` returns.
fn check(messages: &[Vec<u8>], scratch: ScratchMode, mut piece: impl FnMut() -> usize) {
    let bytes = messages.concat();
    let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
    let mut at = 0;
    while at < bytes.len() {
        let end = bytes.len().min(at + piece().max(1));
        at += stream.receive(&bytes[at..end]);
        stream.split().unwrap();
        if scratch == ScratchMode::Shared {
            stream.park();
        }
    }
    assert!(stream.messages == messages, "{} messages, {scratch:?}", messages.len());
    assert_eq!(stream.framer.kept_len(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn messages_do_not_depend_on_the_pieces_of_the_stream() {
    let lens = [
        44,
        45,
        100,
        LARGE_MESSAGE - 1,
        LARGE_MESSAGE,
        LARGE_MESSAGE + 1,
        44,
        SCRATCH_LEN_MIN - 1,
        SCRATCH_LEN_MIN,
        SCRATCH_LEN_MIN + 1,
        3 * SCRATCH_LEN_MIN,
        50,
    ];
    let messages = lens.map(message);
    for scratch in [ScratchMode::Own, ScratchMode::Shared] {
        for len in [7, 15, 16, 17, 44, 1000, LARGE_MESSAGE, SCRATCH_LEN_MIN, 1 << 30] {
            check(&messages, scratch, || len);
        }
        check(&messages[..3], scratch, || 1);
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many bytes to be interpreted")]
fn random_messages_in_random_pieces_are_reassembled() {
    let mut random = Random::from_env();
    for _ in 0..300 {
        let messages: Vec<_> = (0..random.below(40))
            .map(|_| match random.below(10) {
                0 => message(44 + random.below(3 * LARGE_MESSAGE)),
                _ => random.message(),
            })
            .collect();
        let scratch = random.pick(&[ScratchMode::Own, ScratchMode::Shared]);
        let longest = random.pick(&[10, 300, 5_000, 100_000]);
        check(&messages, scratch, || random.below(longest));
    }
}

#[test]
fn small_messages_stay_in_place_and_large_ones_get_their_own_buffer() {
    let cases = [
        (LARGE_MESSAGE - 1, 20, false),
        (LARGE_MESSAGE, LARGE_MESSAGE, false),
        (LARGE_MESSAGE, 20, true),
        (SCRATCH_LEN_MIN, SCRATCH_LEN_MIN, false),
    ];
    for (len, first, owned) in cases {
        let bytes = message(len);
        let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
        let mut at = stream.receive(&bytes[..first]);
        while at < len {
            assert_eq!(stream.framer.next(&stream.scratch), Ok(None));
            at += stream.receive(&bytes[at..]);
        }
        let frame = stream.framer.next(&stream.scratch).unwrap().unwrap();
        assert_eq!(matches!(frame, Frame::Owned(_)), owned, "{len} {first}");
    }
}

#[test]
fn bytes_after_the_handshake_are_processed_first() {
    let (first, second) = (message(50), message(60));
    let bytes = [first.clone(), second.clone()].concat();
    for kept in [0, 10, 50, 70, 110] {
        let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
        stream.framer.keep(&bytes[..kept]);
        assert_eq!(stream.framer.has_message(&stream.scratch), kept >= 50, "{kept}");
        stream.framer.unpark(&mut stream.scratch);
        stream.split().unwrap();
        if kept < bytes.len() {
            stream.receive(&bytes[kept..]);
            stream.split().unwrap();
        }
        assert_eq!(stream.messages, [first.clone(), second.clone()], "{kept}");
    }
}

#[test]
fn has_message_reports_parked_and_unparked_messages() {
    let invalid = [b"x".to_vec(), message(50)].concat();
    let cases = [
        (message(50)[..15].to_vec(), false),
        (message(50)[..49].to_vec(), false),
        (message(50), true),
        ([message(50), message(60)].concat(), true),
        (invalid, true),
        (message(LARGE_MESSAGE)[..1000].to_vec(), false),
    ];
    for (bytes, expected) in cases {
        let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
        stream.receive(&bytes);
        assert_eq!(stream.framer.has_message(&stream.scratch), expected);
        stream.park();
        assert_eq!(stream.framer.has_message(&stream.scratch), expected);
        stream.framer.unpark(&mut stream.scratch);
        assert_eq!(stream.framer.has_message(&stream.scratch), expected);
    }
}

#[test]
fn has_message_reports_complete_large_messages() {
    let bytes = message(LARGE_MESSAGE);
    let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
    stream.receive(&bytes[..1000]);
    stream.split().unwrap();
    stream.park();
    assert_eq!(stream.framer.kept_len(), 1000);
    stream.receive(&bytes[1000..]);
    assert!(stream.framer.has_message(&stream.scratch));
    stream.split().unwrap();
    assert_eq!(stream.messages, [bytes]);
}

#[test]
fn messages_can_be_left_in_the_framer() {
    // More messages than one turn routes; the framer is parked in between, and more messages
    // arrive.
    let messages: Vec<_> = (0..100).map(|n| message(44 + n)).collect();
    let bytes = messages.concat();
    let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
    let (mut at, mut cut) = (0, Vec::new());
    while cut.len() < messages.len() {
        if at < bytes.len() {
            at += stream.receive(&bytes[at..bytes.len().min(at + 2000)]);
        } else {
            stream.framer.unpark(&mut stream.scratch);
        }
        for _ in 0..7 {
            match stream.framer.next(&stream.scratch).unwrap() {
                Some(Frame::Scratch(message)) => cut.push(message.to_vec()),
                other => assert_eq!(other, None),
            }
        }
        stream.park();
    }
    assert!(cut == messages);
}

#[test]
fn length_limits_apply_as_soon_as_the_length_is_known() {
    let small = FramerLimits { message_len_max: 100, ..FramerLimits::default() };
    assert_eq!(check_first_bytes(small, &message(100)), Ok(()));
    let over = |len, limit, at| Err(InvalidReason::OverConfiguredLimit { len, limit }.at(at));
    assert_eq!(check_first_bytes(small, &message(101)[..16]), over(101, 100, 4));
    let fields = (ARRAY_LEN_MAX - STAMP_LEN_MAX) as u32;
    assert_eq!(check_first_bytes(FramerLimits::default(), &header_with_fields(fields)), Ok(()));
    let too_long = Err(InvalidReason::NoRoomForSender { len: fields + 1, limit: fields }.at(12));
    assert_eq!(
        check_first_bytes(FramerLimits::default(), &header_with_fields(fields + 1)),
        too_long
    );
    let most = FORWARDED_LEN_MAX as u32;
    let forwarded = FramerLimits { message_len_max: FORWARDED_LEN_MAX, ..FramerLimits::default() };
    let mut large = message(100);
    large[4..8].copy_from_slice(&(most - HEADER_LEN as u32 + 1).to_le_bytes());
    let too_long = Err(InvalidReason::NoRoomForSender { len: most + 1, limit: most }.at(4));
    assert_eq!(check_first_bytes(forwarded, &large[..16]), too_long);
    assert_eq!(
        check_first_bytes(FramerLimits::default(), b"x---------------"),
        Err(InvalidReason::ByteOrder.at(0))
    );
}

#[test]
fn limits_can_be_changed_between_messages() {
    let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
    stream.receive(&[message(90), message(90)].concat());
    assert!(stream.framer.next(&stream.scratch).is_ok());
    stream.framer.set_limits(FramerLimits { message_len_max: 80, ..FramerLimits::default() });
    let over = InvalidReason::OverConfiguredLimit { len: 90, limit: 80 };
    assert_eq!(stream.framer.next(&stream.scratch), Err(over.at(4)));
}

/// The result of framing the first bytes of a stream.
fn check_first_bytes(limits: FramerLimits, bytes: &[u8]) -> Result<(), InvalidMessage> {
    let mut stream = FramedStream::new(limits, SCRATCH_LEN_MIN);
    stream.receive(bytes);
    stream.split()
}

fn header_with_fields(len: u32) -> [u8; FixedHeader::LEN] {
    let mut header = *b"l\x02\0\x01\0\0\0\0\x01\0\0\0\0\0\0\0";
    header[12..].copy_from_slice(&len.to_le_bytes());
    header
}

#[test]
fn descriptors_are_assigned_by_count() {
    let limits = FramerLimits { message_fds_max: 3, ..FramerLimits::default() };
    let cases: &[(u32, u32, Result<u32, InvalidReason>)] = &[
        (0, 0, Ok(0)),
        (3, 3, Ok(3)),
        // The remaining descriptors belong to the next message.
        (3, 1, Ok(1)),
        (1, 2, Err(InvalidReason::DescriptorsMissing { announced: 2, received: 1 })),
        (9, 4, Err(InvalidReason::DescriptorsOverLimit { received: 4, limit: 3 })),
    ];
    for &(received, announced, expected) in cases {
        let mut bytes = Vec::new();
        reply().unix_fds(announced).write(&mut bytes, NonZeroU32::MIN, &()).unwrap();
        let message = Message::parse(&bytes).unwrap();
        let mut framer = Framer::new(limits);
        framer.received_fds(received);
        // UNIX_FDS follows the reply serial.
        let claimed = framer.claim_fds(&message);
        assert_eq!(claimed, expected.map_err(|reason| reason.at(24)));
        assert_eq!(framer.pending_fds(), received - claimed.unwrap_or(0));
    }
}

/// A message that announces descriptors.
fn with_descriptors(count: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    reply().unix_fds(count).write(&mut bytes, NonZeroU32::MIN, &()).unwrap();
    bytes
}

/// The number of descriptors of the next message, or the error that it is incomplete.
fn claim(stream: &mut FramedStream) -> Result<u32, &'static str> {
    let Ok(Some(Frame::Scratch(bytes))) = stream.framer.next(&stream.scratch) else {
        return Err("no message");
    };
    let message = Message::parse(bytes).unwrap();
    if stream.framer.take_incomplete(&message).is_some() {
        return Err("incomplete");
    }
    stream.framer.claim_fds(&message).map_err(|_| "invalid")
}

#[test]
fn lost_descriptors_make_only_their_message_incomplete() {
    let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
    stream.framer.received_fds(2);
    // The first message has all its descriptors; the descriptors of the third were lost.
    stream.receive(&[with_descriptors(2), with_descriptors(0), with_descriptors(3)].concat());
    stream.framer.lost_fds();
    assert_eq!(claim(&mut stream), Ok(2));
    assert_eq!(claim(&mut stream), Ok(0));
    assert_eq!(claim(&mut stream), Err("incomplete"));
    assert_eq!(claim(&mut stream), Err("no message"));
    stream.framer.received_fds(1);
    stream.receive(&with_descriptors(1));
    assert_eq!(claim(&mut stream), Ok(1), "the next one has its own");
    stream.receive(&with_descriptors(1));
    assert_eq!(claim(&mut stream), Err("invalid"), "the loss excuses no later message");
}

#[test]
fn messages_in_parts_lose_all_their_descriptors() {
    let mut stream = FramedStream::new(FramerLimits::default(), SCRATCH_LEN_MIN);
    let bytes = with_descriptors(3);
    stream.framer.received_fds(1);
    stream.receive(&bytes[..20]);
    stream.framer.lost_fds();
    assert_eq!(claim(&mut stream), Err("no message"));
    stream.receive(&bytes[20..]);
    stream.framer.received_fds(2);
    assert_eq!(claim(&mut stream), Err("incomplete"));
    assert_eq!(stream.framer.pending_fds(), 2, "later descriptors belong to later messages");
    stream.receive(&with_descriptors(2));
    assert_eq!(claim(&mut stream), Ok(2));
}

#[test]
fn pending_descriptors_are_limited() {
    let limits = FramerLimits { message_fds_max: 3, ..FramerLimits::default() };
    let mut stream = FramedStream::new(limits, SCRATCH_LEN_MIN);
    let bytes = [message(50), message(50)].concat();
    stream.framer.received_fds(4);
    stream.receive(&bytes[..60]);
    // The descriptors may belong to the first message, which was not returned yet.
    assert!(matches!(stream.framer.next(&stream.scratch), Ok(Some(_))));
    let error = InvalidReason::DescriptorsOverLimit { received: 4, limit: 3 }.at(0);
    assert_eq!(stream.framer.next(&stream.scratch), Err(error));
}
