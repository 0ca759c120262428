//! Builds messages, and splits a stream of bytes into messages again.
//!
//! ```sh
//! cargo run -p diligence-wire --example messages
//! ```

use std::error::Error;
use std::num::NonZeroU32;

use diligence_wire::Message;
use diligence_wire::framer::{Frame, Framer, FramerLimits, SCRATCH_LEN_MIN, Space};
use diligence_wire::message::Builder;
use diligence_wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

fn main() -> Result<(), Box<dyn Error>> {
    let mut stream = Vec::new();
    for (number, song) in (1..).zip(["one song", "another song"]) {
        Builder::method_call(ObjectPath::literal("/player"), MemberName::literal("Play"))
            .interface(InterfaceName::literal("org.example.Player"))
            .destination(BusName::new("org.example.Player")?)
            .write(&mut stream, NonZeroU32::new(number).ok_or("a serial is not 0")?, &(song,))?;
    }

    // The bytes arrive in pieces, as from a socket.
    let mut framer = Framer::new(FramerLimits::default());
    let mut scratch = vec![0; SCRATCH_LEN_MIN];
    for piece in stream.chunks(50) {
        match framer.space(&mut scratch) {
            Space::Scratch(space) => space[..piece.len()].copy_from_slice(piece),
            Space::Large { buffer, .. } => buffer.extend_from_slice(piece),
        }
        framer.received(piece.len());
        while let Some(frame) = framer.next(&scratch)? {
            let bytes = match &frame {
                Frame::Scratch(bytes) => *bytes,
                Frame::Owned(bytes) => bytes,
            };
            let message = Message::parse(bytes)?;
            let (song,): (&str,) = message.read()?;
            let member = message.member().map_or("", |name| name.as_str());
            println!("call {}: {member} {song:?}", message.serial());
        }
    }
    Ok(())
}
