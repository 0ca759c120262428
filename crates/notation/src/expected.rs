//! Descriptions of the D-Bus types for error texts.

use wire::signature::Type;

/// Describes the values of a type.
pub(crate) const fn expected(kind: Type<'_>) -> &'static str {
    match kind {
        Type::Byte => "a whole number from 0 to 255",
        Type::Boolean => "true or false",
        Type::Int16 => "a whole number from -32768 to 32767",
        Type::Uint16 => "a whole number from 0 to 65535",
        Type::Int32 => "a whole number from -2147483648 to 2147483647",
        Type::Uint32 => "a whole number from 0 to 4294967295",
        Type::Int64 => "a whole number from -9223372036854775808 to 9223372036854775807",
        Type::Uint64 => "a whole number from 0 to 18446744073709551615",
        Type::Double => "a number",
        Type::String => "a string",
        Type::ObjectPath => "an object path",
        Type::Signature => "a signature",
        Type::UnixFd => "a file descriptor",
        Type::Variant => "a variant",
        Type::Array(element) => match element.as_bytes() {
            [b'{', ..] => "a dictionary",
            [b'y'] => "an array of bytes",
            _ => "an array",
        },
        Type::Struct(_) => "a struct",
        Type::DictEntry(_) => "a pair of key and value",
    }
}
