//! The limits that the specification sets, with their names.
//!
//! A bus may be configured to allow less; nobody may allow more.

/// Bytes in a whole message, header and body ("Message Protocol").
pub const MESSAGE_LEN_MAX: usize = 1 << 27;

/// Bytes in one array, without its length word and the padding before its first element
/// ("Marshaling (Wire Format)"). The array of header fields is under the same limit.
pub const ARRAY_LEN_MAX: usize = 1 << 26;

/// Bytes by which a header, and the array of its fields, can grow when a bus puts SENDER in: the
/// padding before it, its type and length, a name and the 0 byte.
pub const STAMP_LEN_MAX: usize = 7 + 8 + NAME_LEN_MAX + 1;

/// Bytes in a message that a bus may pass on. With the sender put in, it must still be one that
/// the recipient may accept; or else one peer could have the bus disconnect another.
pub const FORWARDED_LEN_MAX: usize = MESSAGE_LEN_MAX - STAMP_LEN_MAX;

/// Bytes in a signature ("Valid Signatures").
pub const SIGNATURE_LEN_MAX: usize = 255;

/// Bytes in a bus, interface, member or error name ("Valid Names").
pub const NAME_LEN_MAX: usize = 255;

/// Array type codes that may be nested in one signature ("Valid Signatures").
pub const ARRAY_DEPTH_MAX: usize = 32;

/// Open parentheses that may be nested in one signature ("Valid Signatures").
pub const STRUCT_DEPTH_MAX: usize = 32;

/// Containers of all kinds, variants among them, that may be nested in one value
/// ("Message Protocol", on the maximum depth of container nesting).
pub const VALUE_DEPTH_MAX: usize = 64;
