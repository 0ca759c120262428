//! The signals of a volume manager after all volumes have changed.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use wire::body::Value;
use wire::message::Builder;
use wire::names::{InterfaceName, MemberName, ObjectPath, ObjectPathBuf};

use crate::raw::{RawError, Template};

/// The number of volumes. One PropertiesChanged signal is emitted for each: first for the physical
/// ones, then for the logical ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct VolumeCounts {
    pub(crate) physical: u64,
    pub(crate) logical: u64,
}

impl VolumeCounts {
    pub(crate) const fn count(self) -> u64 {
        self.physical + self.logical
    }
}

/// The match rule for these signals.
pub(crate) const RULE: &str = "type='signal',interface='org.freedesktop.DBus.Properties',\
     member='PropertiesChanged',path_namespace='/com/redhat/lvmdbus1'";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VolumeKind {
    Physical,
    Logical,
}

/// The signals, in order. Signals whose paths have the same length differ only in the path.
pub(super) struct VolumeSignals {
    volumes: VolumeCounts,
    next: u64,
    kind: VolumeKind,
    template: Template,
    /// The position of the volume number in the path.
    place: Range<usize>,
}

impl VolumeSignals {
    pub(super) fn new(volumes: VolumeCounts) -> Result<Self, RawError> {
        let (template, place) = signal(VolumeKind::Physical, "0")?;
        Ok(Self { volumes, next: 0, kind: VolumeKind::Physical, template, place })
    }

    /// Returns the next signal; after the last one, starts again with the first.
    pub(super) fn next(&mut self) -> Result<&[u8], RawError> {
        let (kind, number) = match self.next.checked_sub(self.volumes.physical) {
            None => (VolumeKind::Physical, self.next),
            Some(number) => (VolumeKind::Logical, number),
        };
        self.next = (self.next + 1) % self.volumes.count().max(1);
        let mut buffer = [0; DIGITS_MAX];
        let mut unused = &mut buffer[..];
        write!(unused, "{number}").expect("a number of 64 bits has at most 20 digits");
        let digits = DIGITS_MAX - unused.len();
        let digits = &buffer[..digits];
        if kind != self.kind || digits.len() != self.place.len() {
            self.change_to(kind, digits)?;
        }
        self.template.put(self.place.clone(), digits);
        self.template.next_serial();
        Ok(self.template.bytes())
    }

    fn change_to(&mut self, kind: VolumeKind, digits: &[u8]) -> Result<(), RawError> {
        let serial = self.template.serial();
        (self.template, self.place) = signal(kind, &String::from_utf8_lossy(digits))?;
        self.template.continue_from(serial);
        self.kind = kind;
        Ok(())
    }
}

/// Builds the signal of a volume, and returns it with the position of its number in the path.
fn signal(kind: VolumeKind, number: &str) -> Result<(Template, Range<usize>), RawError> {
    let (folder, interface) = match kind {
        VolumeKind::Physical => ("Pv", "com.redhat.lvmdbus1.Pv"),
        VolumeKind::Logical => ("Lv", "com.redhat.lvmdbus1.Lv"),
    };
    let text = format!("/com/redhat/lvmdbus1/{folder}/{number}");
    let path = ObjectPath::new(&text).expect("letters, digits and slashes make a path");
    let head = Builder::signal(
        path,
        InterfaceName::literal("org.freedesktop.DBus.Properties"),
        MemberName::literal("PropertiesChanged"),
    );
    let body = (interface, properties(kind), Vec::<&str>::new());
    let template = Template::new(head, &body)?;
    let place = template.find(&text).expect("it was written there");
    Ok((template, place.end - number.len()..place.end))
}

/// Returns the properties that change when a volume grows.
fn properties(kind: VolumeKind) -> BTreeMap<&'static str, Value> {
    let group = ObjectPathBuf::from(ObjectPath::literal("/com/redhat/lvmdbus1/Vg/0"));
    let gigabytes = |count: u64| Value::Uint64(count << 30);
    let text = |text: &str| Value::String(text.to_owned());
    let common = [("SizeBytes", gigabytes(40)), ("Vg", Value::ObjectPath(group))];
    let special = match kind {
        VolumeKind::Physical => vec![
            ("Allocatable", Value::Boolean(true)),
            ("FreeBytes", gigabytes(12)),
            ("PeAllocCount", Value::Uint64(7168)),
            ("PeCount", Value::Uint64(10_240)),
            ("UsedBytes", gigabytes(28)),
        ],
        VolumeKind::Logical => vec![
            ("Active", Value::Boolean(true)),
            ("Attr", text("-wi-a-----")),
            ("DataPercent", Value::Uint32(0)),
            ("SegType", text("linear")),
        ],
    };
    common.into_iter().chain(special).collect()
}

/// The number of digits of the largest 64-bit number.
const DIGITS_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use wire::message::Message;

    #[test]
    fn each_volume_has_its_signal() {
        let mut signals = VolumeSignals::new(VolumeCounts { physical: 101, logical: 11 }).unwrap();
        for round in 0..2 {
            for number in 0..112 {
                let bytes = signals.next().unwrap();
                let message = Message::parse(bytes).unwrap();
                message.validate_body().unwrap();
                let (folder, index) =
                    if number < 101 { ("Pv", number) } else { ("Lv", number - 101) };
                let path = message.path().unwrap();
                assert_eq!(path.as_str(), format!("/com/redhat/lvmdbus1/{folder}/{index}"));
                assert_eq!(message.serial().get(), round * 112 + number + 1);
                assert_eq!(message.signature().as_str(), "sa{sv}as");
            }
        }
    }
}
