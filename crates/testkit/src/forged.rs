//! Messages that are nearly valid: valid ones of every type, with invalid parts.

use wire::Endian;
use wire::body::{Value, Writer};
use wire::message::{FieldCode, MessageType};
use wire::names::ObjectPath;
use wire::signature::Signature;

use crate::mutated::ODD;
use crate::random::Random;

/// A message in parts, each of which may be invalid.
#[derive(Clone, Debug)]
pub struct Forged {
    /// The byte order of numbers.
    pub endian: Endian,
    /// The type of the message.
    pub kind: u8,
    /// The flags of the message.
    pub flags: u8,
    /// The version of the protocol.
    pub version: u8,
    /// The serial of the message.
    pub serial: u32,
    /// The fields of the header.
    pub fields: Vec<(u8, Value)>,
    /// The arguments. Only a header field states their types.
    pub args: Vec<Value>,
}

impl Forged {
    /// Creates a valid message without descriptors.
    pub fn valid(random: &mut Random) -> Self {
        let text = random.signature();
        let signature = Signature::new(&text).expect("valid");
        let args = random.values(signature);
        let kind = random.pick(&[1, 2, 3, 4, 4, 5, 255]);
        let mut forged = Self {
            endian: random.pick(&[Endian::Little, Endian::Big]),
            kind,
            flags: if random.once_in(2) { 0 } else { random.number() as u8 },
            version: 1,
            serial: 1 + random.number() as u32 % 1000,
            fields: Vec::new(),
            args,
        };
        for code in FIELDS {
            if needs(kind, code) || random.once_in(3) {
                forged.fields.push((code as u8, field(code, random)));
            }
        }
        if !signature.is_empty() || random.once_in(4) {
            let signature = Value::Signature(signature.into());
            forged.fields.push((FieldCode::Signature as u8, signature));
        }
        if random.once_in(8) {
            forged.fields.push((FieldCode::UnixFds as u8, Value::Uint32(0)));
        }
        for end in 1..forged.fields.len() {
            forged.fields.swap(end, random.below(end + 1));
        }
        forged
    }

    /// Changes a part, mostly so that the message becomes invalid.
    pub fn spoil(&mut self, random: &mut Random) {
        let at = random.below(self.fields.len().max(1));
        match random.below(12) {
            0 => self.fields.extend(self.fields.get(at).cloned()),
            1 if !self.fields.is_empty() => drop(self.fields.remove(at)),
            2 => {
                let code = 10 + random.below(246) as u8;
                self.fields.insert(at.min(self.fields.len()), (code, any_value(random)));
            }
            3 => self.fields.push((random.below(12) as u8, any_value(random))),
            4 if !self.fields.is_empty() => self.fields[at].0 = random.below(12) as u8,
            5 if !self.fields.is_empty() => self.fields[at].1 = any_value(random),
            6 => self.fields.push((FieldCode::UnixFds as u8, Value::Uint32(random.pick(&ODD)))),
            7 => self.kind = random.below(8) as u8,
            8 => self.version = random.pick(&[0, 2, 255]),
            9 => self.serial = random.pick(&ODD),
            10 => self.set_field(FieldCode::ReplySerial, Value::Uint32(random.pick(&ODD))),
            _ => self.use_reserved_name(random),
        }
    }

    /// Nests an argument in many containers: as many as permitted, or some more.
    pub fn nest(&mut self, random: &mut Random) {
        let mut value = match random.below(3) {
            0 => Value::Bytes(vec![0; random.below(3)]),
            1 => array(Value::Uint32(7), random.below(2)),
            _ => any_value(random),
        };
        for _ in 0..random.pick(&[31, 32, 33, 58, 59, 60, 61, 62, 63, 64, 65]) {
            value = wrap(value, random);
        }
        match random.once_in(3) {
            // Unknown header fields have values, too.
            true => self.fields.push((77, value)),
            false => self.set_args(vec![value]),
        }
    }

    /// Encodes the message, with correct lengths.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.endian.mark(), self.kind, self.flags, self.version];
        bytes.extend_from_slice(&[0; 4]);
        let mut writer = Writer::new(&mut bytes, self.endian);
        writer.uint32(self.serial);
        writer.array(8, |writer| {
            for (code, value) in &self.fields {
                writer.structure(|writer| {
                    writer.byte(*code);
                    Value::Variant(Box::new(value.clone())).write(writer);
                });
            }
        });
        writer.align(8);
        let start = writer.len();
        self.args.iter().for_each(|value| value.write(&mut writer));
        let len = writer.len() - start;
        // A signature that is too long is one of the tested errors.
        let _ = writer.finish();
        bytes[4..8].copy_from_slice(&self.endian.u32_bytes(len as u32));
        bytes
    }

    fn set_args(&mut self, args: Vec<Value>) {
        let mut text = String::new();
        args.iter().for_each(|value| value.push_signature(&mut text));
        // If the type is too deep for a signature, the signature does not change: variants have no
        // such limit.
        if let Ok(signature) = Signature::new(&text) {
            self.set_field(FieldCode::Signature, Value::Signature(signature.into()));
            self.args = args;
        }
    }

    fn set_field(&mut self, code: FieldCode, value: Value) {
        self.fields.retain(|(other, _)| *other != code as u8);
        self.fields.push((code as u8, value));
    }

    /// Uses reserved names, which messages must not have, and unusual names that are valid.
    fn use_reserved_name(&mut self, random: &mut Random) {
        let (code, text) = random.pick(&[
            (FieldCode::Path, "/org/freedesktop/DBus/Local"),
            (FieldCode::Interface, "org.freedesktop.DBus.Local"),
            (FieldCode::Destination, "org.freedesktop.DBus.Local"),
            (FieldCode::Destination, "org.freedesktop.DBus"),
            (FieldCode::Sender, ":1"),
            (FieldCode::Sender, ":.1"),
            (FieldCode::Sender, ":1.1-a"),
            (FieldCode::Interface, "a-b.c"),
            (FieldCode::Member, "a.b"),
        ]);
        let value = match code {
            FieldCode::Path => Value::ObjectPath(ObjectPath::new(text).expect("valid").into()),
            _ => Value::from(text),
        };
        self.set_field(code, value);
    }
}

fn needs(kind: u8, code: FieldCode) -> bool {
    use FieldCode::{ErrorName, Interface, Member, Path, ReplySerial};
    match MessageType::from_code(kind) {
        Some(MessageType::MethodCall) => matches!(code, Path | Member),
        Some(MessageType::Signal) => matches!(code, Path | Interface | Member),
        Some(MessageType::MethodReturn) => code == ReplySerial,
        Some(MessageType::Error) => matches!(code, ErrorName | ReplySerial),
        Some(MessageType::Unknown(_)) | None => false,
    }
}

fn field(code: FieldCode, random: &mut Random) -> Value {
    match code {
        FieldCode::Path => {
            Value::ObjectPath(ObjectPath::new(&random.path()).expect("valid").into())
        }
        FieldCode::Member => random.element().as_str().into(),
        FieldCode::ReplySerial => Value::Uint32(1 + random.below(1000) as u32),
        FieldCode::Sender if random.once_in(2) => ":1.42".into(),
        _ => random.dotted().as_str().into(),
    }
}

fn any_value(random: &mut Random) -> Value {
    loop {
        let text = random.signature();
        if let Some(kind) = Signature::new(&text).expect("valid").types().next() {
            return random.value(kind, 2);
        }
    }
}

/// Puts a value into a random container.
fn wrap(value: Value, random: &mut Random) -> Value {
    let mut text = String::new();
    value.push_signature(&mut text);
    let is_short = Signature::new(&text).is_ok();
    match random.below(10) {
        0 if is_short => array(value, 1),
        1 | 2 if is_short => Value::Struct(vec![value]),
        _ => Value::Variant(Box::new(value)),
    }
}

/// Returns an array with `times` copies of a value.
fn array(value: Value, times: usize) -> Value {
    let mut text = String::new();
    value.push_signature(&mut text);
    let element = Signature::new(&text).expect("valid").into();
    Value::Array { element, items: vec![value; times] }
}

const FIELDS: [FieldCode; 7] = [
    FieldCode::Path,
    FieldCode::Interface,
    FieldCode::Member,
    FieldCode::ErrorName,
    FieldCode::ReplySerial,
    FieldCode::Destination,
    FieldCode::Sender,
];
