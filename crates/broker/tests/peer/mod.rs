//! A minimal client that also receives file descriptors.

use std::io::{Read, Write};
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use sys::transfer::{TransferWait, receive};
use wire::Message;
use wire::body::EncodeArgs;
use wire::message::{Builder, FixedHeader};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

pub(crate) struct BrokerPeer {
    stream: UnixStream,
    serial: u32,
    bytes: Vec<u8>,
    pub(crate) name: String,
    /// Descriptors received so far.
    pub(crate) fds: Vec<OwnedFd>,
}

impl BrokerPeer {
    pub(crate) fn connect(path: &Path) -> Self {
        let mut stream = UnixStream::connect(path).expect("the bus listens");
        let lines = b"\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n";
        stream.write_all(lines).expect("room");
        let answer = b"DATA\r\nOK 01234567890123456789012345678901\r\nAGREE_UNIX_FD\r\n";
        stream.read_exact(&mut answer.clone()).expect("it lets us in");
        let (bytes, fds) = (Vec::new(), Vec::new());
        let mut peer = Self { stream, serial: 0, bytes, name: String::new(), fds };
        let path = ObjectPath::literal("/org/freedesktop/DBus");
        let hello = Builder::method_call(path, MemberName::literal("Hello"))
            .interface(InterfaceName::literal("org.freedesktop.DBus"))
            .destination(BusName::new("org.freedesktop.DBus").expect("a name"));
        let serial = peer.send(hello, &());
        let reply = peer.reply_to(serial);
        let reply = Message::parse(&reply).expect("a message");
        peer.name = reply.read::<(String,)>().expect("a name").0;
        peer
    }

    /// The number in its unique name.
    pub(crate) fn number(&self) -> u64 {
        self.name.strip_prefix(":1.").and_then(|number| number.parse().ok()).expect("a number")
    }

    pub(crate) fn send(&mut self, builder: Builder<'_>, args: &impl EncodeArgs) -> NonZeroU32 {
        self.serial += 1;
        let serial = NonZeroU32::new(self.serial).expect("it has been counted up");
        let mut bytes = Vec::new();
        builder.write(&mut bytes, serial, args).expect("it fits");
        self.stream.write_all(&bytes).expect("room");
        serial
    }

    /// Sends messages without arguments in one write.
    pub(crate) fn send_together<'a>(&mut self, builders: impl Iterator<Item = Builder<'a>>) {
        let mut bytes = Vec::new();
        for builder in builders {
            self.serial += 1;
            let serial = NonZeroU32::new(self.serial).expect("it has been counted up");
            builder.write(&mut bytes, serial, &()).expect("it fits");
        }
        self.stream.write_all(&bytes).expect("room");
    }

    /// Waits for the reply to a call, and skips other messages.
    pub(crate) fn reply_to(&mut self, serial: NonZeroU32) -> Vec<u8> {
        loop {
            let bytes = self.next_message();
            let message = Message::parse(&bytes).expect("a message");
            if message.reply_serial() == Some(serial) {
                return bytes;
            }
        }
    }

    fn next_message(&mut self) -> Vec<u8> {
        loop {
            if let Some(start) = self.bytes.first_chunk() {
                let len = FixedHeader::parse(start).expect("a valid header").message_len();
                if self.bytes.len() >= len {
                    return self.bytes.drain(..len).collect();
                }
            }
            let mut space = [0; 4096];
            let received = receive(&self.stream, &mut space, &mut self.fds, TransferWait::Block);
            let received = received.expect("the bus is there");
            assert!(received.bytes > 0, "the bus is there");
            self.bytes.extend_from_slice(&space[..received.bytes]);
        }
    }
}
