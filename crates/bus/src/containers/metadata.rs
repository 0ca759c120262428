//! The metadata of a container, which its manager defines and the bus only returns.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

/// Metadata of type `a{sv}`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct ContainerMetadata(BTreeMap<String, Value>);

/// A file descriptor is in the metadata, where the bus cannot keep it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DescriptorInMetadata;

impl ContainerMetadata {
    /// Accepts entries without file descriptors.
    pub(crate) fn new(entries: BTreeMap<String, Value>) -> Result<Self, DescriptorInMetadata> {
        if entries.values().any(has_descriptor) {
            return Err(DescriptorInMetadata);
        }
        Ok(Self(entries))
    }

    pub(crate) const fn entries(&self) -> &BTreeMap<String, Value> {
        &self.0
    }

    /// The length of the metadata as a variant, in bytes, which is what dbus-daemon limits.
    pub(crate) fn len(&self) -> u64 {
        let bytes = self.to_message();
        let message = Message::parse(&bytes).expect("the bus wrote it");
        VARIANT_SIGNATURE_LEN + message.body().len() as u64
    }

    /// A message with the metadata as its only argument.
    fn to_message(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        Builder::method_return(NonZeroU32::MIN)
            .write(&mut bytes, NonZeroU32::MIN, &(&self.0,))
            .expect("the metadata was in a message");
        bytes
    }
}

/// Metadata is saved as a message, because that is a format for values of any type.
impl Serialize for ContainerMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_message().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContainerMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Vec::<u8>::deserialize(deserializer)?;
        let message = Message::parse(&bytes).map_err(D::Error::custom)?;
        let (entries,) = message.read().map_err(D::Error::custom)?;
        Self::new(entries).map_err(|_| D::Error::custom("metadata with a file descriptor"))
    }
}

fn has_descriptor(value: &Value) -> bool {
    match value {
        Value::UnixFd(_) => true,
        Value::Variant(inner) => has_descriptor(inner),
        Value::Array { items, .. } | Value::Struct(items) => items.iter().any(has_descriptor),
        Value::DictEntry(entry) => has_descriptor(&entry.0) || has_descriptor(&entry.1),
        _ => false,
    }
}

/// The signature `a{sv}` at the beginning of a variant, with its length, its terminating zero byte
/// and padding.
const VARIANT_SIGNATURE_LEN: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;

    fn metadata(value: Value) -> Result<ContainerMetadata, DescriptorInMetadata> {
        ContainerMetadata::new([("key".into(), value)].into())
    }

    #[test]
    fn descriptors_are_found_at_any_depth() {
        let fd = || Value::UnixFd(0);
        for value in [
            fd(),
            Value::Variant(Box::new(fd())),
            Value::Struct([Value::Byte(1), fd()].into()),
            Value::DictEntry(Box::new((Value::Byte(1), fd()))),
        ] {
            assert_eq!(metadata(value.clone()), Err(DescriptorInMetadata), "{value:?}");
        }
        assert!(metadata(Value::Struct([Value::Byte(1)].into())).is_ok());
    }

    #[test]
    fn the_length_is_that_of_a_variant() {
        assert_eq!(ContainerMetadata::default().len(), 16);
        // The key with its length, padding, the signature of the value, and the value.
        let entry = 4 + 4 + 3 + 1;
        assert_eq!(metadata(Value::Byte(1)).map(|it| it.len()), Ok(16 + entry));
    }
}
