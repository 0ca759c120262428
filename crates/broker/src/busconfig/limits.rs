//! The names of `<limit>` elements, the ranges of their values, and the fields that they set.

use std::time::Duration;

use bus::BusLimits;

use super::error::LimitError;

/// A limit with its configured value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    name: &'static str,
    target: Target,
    value: i64,
}

impl Limit {
    /// Parses the name and the text of a `<limit>`.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, LimitError> {
        let (name, target) =
            *LIMITS.iter().find(|(known, _)| *known == name).ok_or(LimitError::Unknown)?;
        let value = parse_integer(text).ok_or(LimitError::NotANumber)?;
        if value < 0 {
            Err(LimitError::Negative)
        } else if value > target.max() {
            Err(LimitError::TooLarge)
        } else {
            Ok(Self { name, target, value })
        }
    }

    /// Whether the limit applies to one connection or one user, so that it can be set per user.
    pub(super) fn can_be_of_a_user(self) -> bool {
        OF_USERS.contains(&self.name)
    }

    pub(super) fn apply(self, limits: &mut BusLimits) {
        let value = self.value.unsigned_abs();
        match self.target {
            Target::Size(field) | Target::Count(field) => *field(limits) = value,
            Target::Time(field) => *field(limits) = Some(Duration::from_millis(value)),
            Target::TimeOrNever(field) => {
                *field(limits) = (value > 0).then(|| Duration::from_millis(value));
            }
        }
    }
}

/// Compares the name and the value. The name identifies a limit.
impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.value) == (other.name, other.value)
    }
}

impl Eq for Limit {}

/// The field that a limit sets, with its unit.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// A number of bytes or descriptors, which may exceed 32 bits.
    Size(fn(&mut BusLimits) -> &mut u64),
    /// A number of objects, such as connections or match rules.
    Count(fn(&mut BusLimits) -> &mut u64),
    /// A duration in milliseconds.
    Time(fn(&mut BusLimits) -> &mut Option<Duration>),
    /// A duration in milliseconds; 0 means unlimited.
    TimeOrNever(fn(&mut BusLimits) -> &mut Option<Duration>),
}

impl Target {
    const fn max(self) -> i64 {
        match self {
            Self::Size(_) => i64::MAX,
            Self::Count(_) | Self::Time(_) | Self::TimeOrNever(_) => i32::MAX as i64,
        }
    }
}

const LIMITS: [(&str, Target); 21] = [
    ("max_incoming_bytes", Target::Size(|to| &mut to.max_incoming_bytes)),
    ("max_incoming_unix_fds", Target::Size(|to| &mut to.max_incoming_unix_fds)),
    ("max_outgoing_bytes", Target::Size(|to| &mut to.max_outgoing_bytes)),
    ("max_outgoing_unix_fds", Target::Size(|to| &mut to.max_outgoing_unix_fds)),
    ("max_message_size", Target::Size(|to| &mut to.max_message_size)),
    ("max_message_unix_fds", Target::Size(|to| &mut to.max_message_unix_fds)),
    ("service_start_timeout", Target::Time(|to| &mut to.service_start_timeout)),
    ("auth_timeout", Target::Time(|to| &mut to.auth_timeout)),
    ("pending_fd_timeout", Target::Time(|to| &mut to.pending_fd_timeout)),
    ("reply_timeout", Target::TimeOrNever(|to| &mut to.reply_timeout)),
    ("max_completed_connections", Target::Count(|to| &mut to.max_completed_connections)),
    ("max_incomplete_connections", Target::Count(|to| &mut to.max_incomplete_connections)),
    ("max_connections_per_user", Target::Count(|to| &mut to.max_connections_per_user)),
    ("max_pending_service_starts", Target::Count(|to| &mut to.max_pending_service_starts)),
    ("max_names_per_connection", Target::Count(|to| &mut to.max_names_per_connection)),
    ("max_match_rules_per_connection", Target::Count(|to| &mut to.max_match_rules_per_connection)),
    ("max_replies_per_connection", Target::Count(|to| &mut to.max_replies_per_connection)),
    ("max_containers", Target::Count(|to| &mut to.max_containers)),
    ("max_containers_per_user", Target::Count(|to| &mut to.max_containers_per_user)),
    ("max_container_metadata_bytes", Target::Count(|to| &mut to.max_container_metadata_bytes)),
    ("max_connections_per_container", Target::Count(|to| &mut to.max_connections_per_container)),
];

const OF_USERS: [&str; 8] = [
    "max_incoming_bytes",
    "max_incoming_unix_fds",
    "max_outgoing_bytes",
    "max_outgoing_unix_fds",
    "max_connections_per_user",
    "max_names_per_connection",
    "max_match_rules_per_connection",
    "max_replies_per_connection",
];

/// Parses an integer like strtol(3) with base 0: `0x` before hexadecimal digits, `0` before octal
/// ones. The whole text must be a number.
pub(super) fn parse_integer(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    // The standard library would accept a second sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_c_reads_them() {
        let cases = [
            ("0", Some(0)),
            ("5000", Some(5000)),
            (" \n5000\t", Some(5000)),
            ("+5", Some(5)),
            ("-1", Some(-1)),
            ("0x20", Some(32)),
            ("0X2a", Some(42)),
            ("-0x2", Some(-2)),
            ("010", Some(8)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("", None),
            ("-", None),
            ("--1", None),
            ("0x", None),
            ("0x-1", None),
            ("08", None),
            ("ff", None),
            ("- 5", None),
            ("5 bees", None),
            ("5.0", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_integer(text), expected, "{text:?}");
        }
    }

    /// Each name changes exactly one field, which no other name changes.
    #[test]
    fn each_limit_has_a_field_of_its_own() {
        let mut seen = Vec::new();
        for (name, _) in LIMITS {
            let mut limits = BusLimits::default();
            Limit::parse(name, "7").unwrap().apply(&mut limits);
            let shown = format!("{limits:?}");
            assert!(shown.contains(&format!("{name}: 7")) || shown.contains("Some(7ms)"), "{name}");
            assert!(!seen.contains(&shown), "{name} shares a field");
            seen.push(shown);
        }
    }

    #[test]
    fn values_have_bounds() {
        let cases = [
            ("max_bees", "5000", Err(LimitError::Unknown)),
            ("", "5000", Err(LimitError::Unknown)),
            ("max_names_per_connection", "bees", Err(LimitError::NotANumber)),
            ("max_names_per_connection", "-1", Err(LimitError::Negative)),
            ("max_names_per_connection", "0", Ok(0)),
            ("max_names_per_connection", "2147483647", Ok(2_147_483_647)),
            ("max_names_per_connection", "2147483648", Err(LimitError::TooLarge)),
            ("max_containers", "2147483648", Err(LimitError::TooLarge)),
            ("auth_timeout", "-1", Err(LimitError::Negative)),
            ("auth_timeout", "2147483648", Err(LimitError::TooLarge)),
            ("reply_timeout", "-1", Err(LimitError::Negative)),
            ("reply_timeout", "0", Ok(0)),
            ("reply_timeout", "2147483648", Err(LimitError::TooLarge)),
            ("max_incoming_bytes", "-1", Err(LimitError::Negative)),
            ("max_incoming_bytes", "9223372036854775807", Ok(i64::MAX)),
            ("max_message_unix_fds", "2147483648", Ok(2_147_483_648)),
        ];
        for (name, text, expected) in cases {
            let parsed = Limit::parse(name, text).map(|limit| limit.value);
            assert_eq!(parsed, expected, "{name} {text}");
        }
    }

    #[test]
    fn a_reply_timeout_of_0_removes_the_limit() {
        let mut limits = BusLimits::default();
        for (text, expected) in [("100", Some(Duration::from_millis(100))), ("0", None)] {
            Limit::parse("reply_timeout", text).unwrap().apply(&mut limits);
            assert_eq!(limits.reply_timeout, expected);
        }
    }
}
