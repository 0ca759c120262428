//! The limits of the specification, with names.
//!
//! A bus may be configured with lower limits, but not with higher ones.

/// Bytes in a whole message, header and body ("Message Protocol").
pub const MESSAGE_LEN_MAX: usize = 1 << 27;

/// Bytes in one array, without its length word and the padding before its first element
/// ("Marshaling (Wire Format)"). The array of header fields is under the same limit.
pub const ARRAY_LEN_MAX: usize = 1 << 26;

/// The number of bytes by which a header, and the array of its fields, can grow when a bus adds
/// SENDER: the padding before it, its type and length, a name and the 0 byte.
pub const STAMP_LEN_MAX: usize = 7 + 8 + NAME_LEN_MAX + 1;

/// The maximum length of a message that a bus forwards. With the sender added, the recipient must
/// still be able to accept it; otherwise one peer could make the bus disconnect another.
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
