//! Converts recorded messages to rows.

use wire::message::{FieldCode, FixedHeader, Flags, HeaderScan, InvalidMessage, MessageType};
use wire::message::{InvalidReason, ScannedField};
use wire::names::{BusName, ErrorName, InterfaceName, MemberName, ObjectPath};
use wire::signature::Signature;

use super::row::{ABSENT, Health, MessageRow};
use super::store::StoredPlace;
use super::strings::{Strings, TextId};
use crate::record::RawMessage;

/// Parses the headers of messages and interns their names.
///
/// Nearly all names have been seen before; only new ones are validated.
#[derive(Debug)]
pub(super) struct Scanner {
    pub(super) strings: Strings,
    pub(super) words: BusWords,
    /// For each text, the [`FieldCode`]s, as bits, for which it was validated.
    valid: Vec<u16>,
}

/// The interned names by which messages of the bus are recognized.
#[derive(Clone, Copy, Debug)]
pub(super) struct BusWords {
    pub(super) driver: TextId,
    pub(super) name_owner_changed: TextId,
    pub(super) hello: TextId,
    pub(super) get_name_owner: TextId,
    pub(super) process_id: TextId,
    pub(super) user: TextId,
    pub(super) credentials: TextId,
}

impl BusWords {
    fn new(strings: &mut Strings) -> Self {
        let mut intern = |word| strings.intern(word);
        Self {
            driver: intern("org.freedesktop.DBus"),
            name_owner_changed: intern("NameOwnerChanged"),
            hello: intern("Hello"),
            get_name_owner: intern("GetNameOwner"),
            process_id: intern("GetConnectionUnixProcessID"),
            user: intern("GetConnectionUnixUser"),
            credentials: intern("GetConnectionCredentials"),
        }
    }
}

impl Default for Scanner {
    fn default() -> Self {
        let mut strings = Strings::default();
        Self { words: BusWords::new(&mut strings), strings, valid: Vec::new() }
    }
}

impl Scanner {
    pub(super) fn row(
        &mut self,
        raw: &RawMessage<'_>,
        place: StoredPlace,
    ) -> (MessageRow, Option<InvalidMessage>) {
        let mut row = empty_row(raw, place);
        let found = self.read(raw, &mut row);
        row.health = match found {
            Ok(health) => health,
            Err(Invalid::Header(_)) => Health::HeaderInvalid,
            Err(Invalid::Body(_)) => Health::BodyInvalid,
        };
        (row, found.err().map(Invalid::reason))
    }

    fn read(&mut self, raw: &RawMessage<'_>, row: &mut MessageRow) -> Result<Health, Invalid> {
        let Some(start) = raw.bytes.first_chunk() else {
            return Ok(Health::HeaderCut);
        };
        let fixed = FixedHeader::parse(start).map_err(Invalid::Header)?;
        row.serial = fixed.serial.get();
        row.kind = fixed.message_type;
        row.flags = fixed.flags;
        // The length in the header is the one that was sent; that in the file may be wrong.
        if fixed.message_len() != row.len as usize {
            row.len = row.len.max(fixed.message_len() as u32);
        }
        let is_cut = raw.bytes.len() < fixed.body_start();
        let found = HeaderScan::new(raw.bytes, &fixed).each(|field| self.field(field, row));
        if is_cut {
            return Ok(Health::HeaderCut);
        }
        found.map_err(Invalid::Header)?;
        check_required(row, &fixed).map_err(Invalid::Header)?;
        self.body(raw, row, &fixed)
    }

    #[inline]
    fn field(
        &mut self,
        field: ScannedField<'_>,
        row: &mut MessageRow,
    ) -> Result<(), InvalidMessage> {
        match field {
            ScannedField::Text(code, bytes) => {
                let text = self.text(code, bytes)?;
                *match code {
                    FieldCode::Path => &mut row.path,
                    FieldCode::Interface => &mut row.interface,
                    FieldCode::Destination => &mut row.destination,
                    FieldCode::Sender => &mut row.sender,
                    FieldCode::Signature => &mut row.signature,
                    _ => &mut row.member,
                } = text;
            }
            ScannedField::Number(FieldCode::ReplySerial, serial) => row.reply_serial = serial,
            ScannedField::Number(_, fds) => row.unix_fds = u8::try_from(fds).unwrap_or(u8::MAX),
            ScannedField::Unknown(_) => {}
        }
        Ok(())
    }

    #[inline]
    fn text(&mut self, code: FieldCode, bytes: &[u8]) -> Result<TextId, InvalidMessage> {
        if let Some(text) = self.strings.seen(bytes)
            && self.valid.get(text.index()).is_some_and(|valid| valid & bit(code) != 0)
        {
            return Ok(text);
        }
        self.new_text(code, bytes)
    }

    #[cold]
    fn new_text(&mut self, code: FieldCode, bytes: &[u8]) -> Result<TextId, InvalidMessage> {
        let text = check(code, bytes)?;
        let text = self.strings.intern(text);
        if self.valid.len() <= text.index() {
            self.valid.resize(text.index() + 1, 0);
        }
        self.valid[text.index()] |= bit(code);
        Ok(text)
    }

    fn body(
        &self,
        raw: &RawMessage<'_>,
        row: &MessageRow,
        fixed: &FixedHeader,
    ) -> Result<Health, Invalid> {
        if raw.bytes.len() < fixed.message_len() {
            return Ok(Health::BodyCut);
        }
        if fixed.body_len == 0 && row.signature.is_none() {
            return Ok(Health::Whole);
        }
        let types = Signature::new(self.strings.get(row.signature)).unwrap_or_default();
        let bytes = &raw.bytes[..fixed.message_len()];
        wire::body::Validator::new(bytes, fixed.endian, fixed.body_start())
            .body(types)
            .map_err(Invalid::Body)?;
        Ok(Health::Whole)
    }
}

/// The part of a message that is invalid.
#[derive(Clone, Copy, Debug)]
enum Invalid {
    Header(InvalidMessage),
    Body(InvalidMessage),
}

impl Invalid {
    const fn reason(self) -> InvalidMessage {
        match self {
            Self::Header(error) | Self::Body(error) => error,
        }
    }
}

const fn bit(code: FieldCode) -> u16 {
    1 << code as u16
}

fn empty_row(raw: &RawMessage<'_>, place: StoredPlace) -> MessageRow {
    MessageRow {
        at: raw.at,
        place,
        len: raw.len,
        kept: raw.bytes.len() as u32,
        serial: 0,
        reply_serial: 0,
        sender: TextId::NONE,
        destination: TextId::NONE,
        path: TextId::NONE,
        interface: TextId::NONE,
        member: TextId::NONE,
        signature: TextId::NONE,
        partner: ABSENT,
        bus: raw.bus,
        kind: MessageType::Unknown(0),
        flags: Flags::NONE,
        health: Health::Whole,
        unix_fds: 0,
    }
}

/// Validates the value of a field.
fn check(code: FieldCode, bytes: &[u8]) -> Result<&str, InvalidMessage> {
    let name = |kind| InvalidReason::FieldName(code, kind).at(0);
    match code {
        FieldCode::Path => ObjectPath::from_bytes(bytes).map(|path| path.as_str()),
        FieldCode::Interface => InterfaceName::from_bytes(bytes).map(|name| name.as_str()),
        FieldCode::Member => MemberName::from_bytes(bytes).map(|name| name.as_str()),
        FieldCode::ErrorName => ErrorName::from_bytes(bytes).map(|name| name.as_str()),
        FieldCode::Destination | FieldCode::Sender => {
            // In a monitor's view, connections that have not called Hello have this name.
            if bytes == NOT_ACTIVE.as_bytes() {
                return Ok(NOT_ACTIVE);
            }
            BusName::from_bytes(bytes).map(|name| name.as_str())
        }
        FieldCode::Signature | FieldCode::ReplySerial | FieldCode::UnixFds => {
            return Signature::from_bytes(bytes)
                .map(|types| types.as_str())
                .map_err(|error| InvalidReason::Signature(error.kind).at(0));
        }
    }
    .map_err(|error| name(error.kind))
}

fn check_required(row: &MessageRow, fixed: &FixedHeader) -> Result<(), InvalidMessage> {
    use FieldCode::{ErrorName, Interface, Member, Path, ReplySerial};
    let absent = |code| match code {
        Path => row.path.is_none(),
        Interface => row.interface.is_none(),
        Member | ErrorName => row.member.is_none(),
        _ => row.reply_serial == 0,
    };
    let required: &[FieldCode] = match row.kind {
        MessageType::MethodCall => &[Path, Member],
        MessageType::Signal => &[Path, Interface, Member],
        MessageType::MethodReturn => &[ReplySerial],
        MessageType::Error => &[ErrorName, ReplySerial],
        MessageType::Unknown(_) => &[],
    };
    match required.iter().find(|&&code| absent(code)) {
        None => Ok(()),
        Some(&code) => Err(InvalidReason::FieldMissing(code).at(fixed.fields_end())),
    }
}

/// The name of connections that have not called Hello.
const NOT_ACTIVE: &str = ":not.active.yet";
