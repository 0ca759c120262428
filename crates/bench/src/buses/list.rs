//! Lists of buses on the command line.

use std::fmt;
use std::str::FromStr;

use super::{BusKind, UnknownBus};

/// The buses of a comparison, in the order of its columns: at least one, without duplicates.
///
/// In text, they are separated by commas. If the part after an address has the form of a key, it
/// belongs to the address.
///
/// ```
/// use bench::buses::{BusKind, BusList};
///
/// let buses: BusList = "busd,unix:path=/run/bus,guid=0123456789abcdef0123456789abcdef".parse()?;
/// let [BusKind::Busd, BusKind::Address(address)] = buses.kinds() else {
///     panic!("two");
/// };
/// assert!(address.entries()[0].guid.is_some());
/// # Ok::<(), bench::buses::BusListError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BusList(Vec<BusKind>);

impl BusList {
    /// Returns all buses that have a name.
    #[must_use]
    pub fn all() -> Self {
        Self(BusKind::ALL.into())
    }

    /// Returns the buses in order.
    #[must_use]
    pub fn kinds(&self) -> &[BusKind] {
        &self.0
    }
}

impl FromStr for BusList {
    type Err = BusListError;

    fn from_str(text: &str) -> Result<Self, BusListError> {
        let mut kinds = Vec::new();
        for word in words(text) {
            let kind = word.parse()?;
            if kinds.contains(&kind) {
                return Err(BusListError::Twice(kind));
            }
            kinds.push(kind);
        }
        Ok(Self(kinds))
    }
}

impl fmt::Display for BusList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(index, kind)| {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{kind}")
        })
    }
}

/// A text is not a list of buses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BusListError {
    /// A word does not name a bus.
    #[error(transparent)]
    BusKind(#[from] UnknownBus),
    /// A bus appears twice, so its columns would be the same.
    #[error("{0} is named twice")]
    Twice(BusKind),
}

/// Splits at commas, except within addresses.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (index, piece) in text.split(',').enumerate() {
        if index > 0 {
            let word = &text[start..end];
            if !(word.contains(':') && is_key(piece)) {
                words.push(word);
                start = end + 1;
            }
            end += 1;
        }
        end += piece.len();
    }
    words.push(&text[start..end]);
    words
}

/// True if a part has an `=` that does not follow a colon, unlike the first part of an address.
fn is_key(piece: &str) -> bool {
    piece.find(['=', ':']).is_some_and(|at| piece.as_bytes()[at] == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_lists_are_not_split_within_addresses() {
        let check = |text: &str, expected: &[&str]| assert_eq!(words(text), expected, "{text}");
        check("", &[""]);
        check("busd", &["busd"]);
        check("busd,", &["busd", ""]);
        check(",,a", &["", "", "a"]);
        check("a,b=c", &["a", "b=c"]);
        check("tcp:host=h,port=1,busd", &["tcp:host=h,port=1", "busd"]);
        check("unix:path=/a,unix:path=/b", &["unix:path=/a", "unix:path=/b"]);
        check("tcp:host=h,port=1;unix:path=/b,x=y,a", &["tcp:host=h,port=1;unix:path=/b,x=y", "a"]);
    }

    #[test]
    fn lists() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let parsed = text.parse::<BusList>().map(|buses| buses.to_string());
            let parsed = parsed.map_err(|error| error.to_string());
            assert_eq!(parsed.as_deref().map_err(String::as_str), expected, "{text}");
        };
        for text in ["busd", "busd,diligence", "unix:path=/a,x=1,dbus-daemon"] {
            check(text, Ok(text));
        }
        check("busd,busd", Err("busd is named twice"));
        check("unix:path=/a,unix:path=/a", Err("unix:path=/a is named twice"));
        check("busd,,", Err(&"".parse::<BusKind>().unwrap_err().to_string()));
        assert_eq!(BusList::all().to_string(), "diligence,dbus-daemon,dbus-broker,busd");
    }
}
