//! The content of `PropertiesChanged` signals.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use wire::body::{ReadError, Value};

use super::traffic::{CheckedTraffic, PROPERTIES};
use crate::model::CapturedMessage;

/// A `PropertiesChanged` signal with its decoded body.
#[derive(Clone, Debug)]
pub(super) struct PropertyChange<'c> {
    pub(super) signal: CapturedMessage<'c>,
    /// The interface whose properties have changed.
    pub(super) interface: Box<str>,
    /// Names of properties, each with a hash of its new value.
    pub(super) values: Vec<(Box<str>, u64)>,
    /// Names of properties that the signal invalidates without sending their values.
    pub(super) invalidated: Vec<Box<str>>,
}

/// Decodes all `PropertiesChanged` signals, except signals with incomplete bodies.
pub(super) fn read<'c>(lint: &CheckedTraffic<'c>) -> Vec<PropertyChange<'c>> {
    let signals = lint.signals.iter().filter(|signal| is_change(signal));
    let read = |signal: &CapturedMessage<'c>| lint.read(signal, |body| parse(*signal, body).ok());
    signals.filter_map(read).collect()
}

/// Returns true if a message is a `PropertiesChanged` signal.
pub(super) fn is_change(signal: &CapturedMessage<'_>) -> bool {
    signal.member() == "PropertiesChanged"
        && signal.interface() == PROPERTIES
        && signal.signature() == "sa{sv}as"
}

fn parse<'c>(
    signal: CapturedMessage<'c>,
    body: &wire::Message<'_>,
) -> Result<PropertyChange<'c>, ReadError> {
    let mut reader = body.reader();
    let interface = reader.string()?.into();
    let mut values = Vec::new();
    let end = reader.start_array(DICT_ENTRY_ALIGNMENT)?;
    while reader.has_more(end)? {
        reader.start_struct()?;
        let name = reader.string()?.into();
        let kind = reader.variant()?;
        let start = reader.at();
        for kind in kind.types() {
            Value::read(kind, &mut reader)?;
        }
        values.push((name, hash_of(&body.bytes()[start..reader.at()])));
    }
    let mut invalidated = Vec::new();
    let end = reader.start_array(TEXT_ALIGNMENT)?;
    while reader.has_more(end)? {
        invalidated.push(reader.string()?.into());
    }
    Ok(PropertyChange { signal, interface, values, invalidated })
}

/// A hash of these bytes, with a random seed for each process. Therefore the author of a recording
/// cannot choose different bytes with the same hash.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    static HASHER: OnceLock<RandomState> = OnceLock::new();
    HASHER.get_or_init(RandomState::default).hash_one(bytes)
}

const DICT_ENTRY_ALIGNMENT: usize = 8;
const TEXT_ALIGNMENT: usize = 4;
