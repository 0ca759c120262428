//! The messages in the lines of a transcript.

use testkit::header_fields;
use testkit::text::ValueCursor;
use testkit::world;
use wire::Endian;
use wire::body::Value;
use wire::message::{Builder, Flags};
use wire::names::ErrorName;

use super::{DRIVER, DRIVER_PATH, FLAGS};

/// A message as described by a line of a transcript.
#[derive(Default)]
pub(crate) struct MessageLine {
    kind: String,
    destination: Option<String>,
    path: Option<String>,
    /// The interface and the member, or the name of an error.
    name: Option<String>,
    reply_serial: Option<u32>,
    pub(crate) serial: Option<u32>,
    sender: Option<String>,
    fds: u32,
    flags: Flags,
    endian: Option<Endian>,
    unknown_field: Option<u8>,
    is_broken: bool,
    args: Vec<Value>,
}

impl MessageLine {
    pub(crate) fn parse(line: &str) -> Self {
        let mut cursor = ValueCursor::new(line);
        let mut words = Self { kind: cursor.word().to_owned(), ..Self::default() };
        match words.kind.as_str() {
            "bus" => {
                let (interface, member) = world::driver_method(cursor.word());
                words.kind = "call".to_owned();
                words.destination = Some(DRIVER.to_owned());
                words.path = Some(DRIVER_PATH.to_owned());
                words.name = Some(format!("{interface}.{member}"));
            }
            "call" => words.destination = Some(cursor.word().to_owned()),
            _ => {}
        }
        while !cursor.is_at_end() {
            if cursor.is_at_value() {
                words.args.push(cursor.value());
            } else {
                words.word(cursor.word());
            }
        }
        words.destination = words.destination.filter(|name| name != "-");
        words
    }

    fn word(&mut self, word: &str) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let number = || value.parse().expect("a number");
        match name {
            "to" => self.destination = Some(value.to_owned()),
            "re" => self.reply_serial = Some(number()),
            "at" => self.path = Some(value.to_owned()),
            "serial" => self.serial = Some(number()),
            "sender" => self.sender = Some(value.to_owned()),
            "fds" => self.fds = number(),
            "field" => self.unknown_field = Some(number() as u8),
            "big" => self.endian = Some(Endian::Big),
            "broken" => self.is_broken = true,
            path if path.starts_with('/') => self.path = Some(path.to_owned()),
            _ => match FLAGS.iter().find(|(_, flag)| *flag == name) {
                Some((flag, _)) => self.flags = self.flags.with(*flag),
                None => self.name = Some(word.to_owned()),
            },
        }
    }

    pub(crate) fn build(&self, serial: u32) -> Vec<u8> {
        let mut bytes = world::build(self.builder(), serial, &self.args);
        if let Some(code) = self.kind.strip_prefix("type") {
            bytes[1] = code.parse().expect("a number");
        }
        if let Some(code) = self.unknown_field {
            bytes = header_fields::with_text(&bytes, code);
        }
        if let Some(serial) = self.reply_serial
            && !matches!(&*self.kind, "return" | "error")
        {
            bytes = header_fields::with_reply_serial(&bytes, serial);
        }
        if self.is_broken {
            *bytes.last_mut().expect("a body") ^= 0xff;
        }
        bytes
    }

    fn builder(&self) -> Builder<'_> {
        let name = self.name.as_deref().unwrap_or_default();
        let (interface, member) = match name.rsplit_once('.') {
            Some((interface, member)) => (Some(interface), member),
            None => (None, name),
        };
        let path = || world::path(self.path.as_deref().expect("a path"));
        let call = || self.reply_serial.expect("re=").try_into().expect("not 0");
        let builder = match self.kind.as_str() {
            "return" => Builder::method_return(call()),
            "error" => Builder::error(ErrorName::new(name).expect("an error name"), call()),
            "signal" => Builder::signal(
                path(),
                world::interface(interface.expect("an interface")),
                world::member(member),
            ),
            _ => {
                let builder = Builder::method_call(path(), world::member(member));
                match interface {
                    Some(interface) => builder.interface(world::interface(interface)),
                    None => builder,
                }
            }
        };
        let builder = builder.flags(self.flags).unix_fds(self.fds);
        let builder = self.endian.map_or(builder, |endian| builder.endian(endian));
        let builder =
            self.destination.iter().fold(builder, |b, text| b.destination(world::name(text)));
        self.sender.iter().fold(builder, |builder, text| builder.sender(world::name(text)))
    }
}
