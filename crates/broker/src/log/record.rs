//! Log records: a line for people, and the same facts as fields for programs.

use std::fmt::Display;

use super::Severity;

/// One event in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    /// The severity, which decides the syslog level and facility.
    pub severity: Severity,
    /// The kind of event, for filters that do not depend on the text.
    pub id: Option<MessageId>,
    /// The line, without the prefix of the log.
    pub text: String,
    /// The facts of the line as separate fields.
    pub fields: Vec<Field>,
}

/// A named fact. Journal field names consist of capital letters, digits and underscores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name of the journal field, such as `DBUS_EVENT`.
    pub name: &'static str,
    /// The value, which a peer may have chosen.
    pub value: String,
}

/// The unique id of a kind of event: 32 hexadecimal digits, as in the `MESSAGE_ID` field of the
/// journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageId(pub &'static str);

impl LogRecord {
    /// Creates a record without fields and without a message id.
    #[must_use]
    pub fn line(severity: Severity, text: impl Display) -> Self {
        Self { severity, id: None, text: text.to_string(), fields: Vec::new() }
    }

    /// Returns the same record with a message id.
    #[must_use]
    pub fn of(self, id: MessageId) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Adds a field to the record.
    pub fn field(&mut self, name: &'static str, value: impl Display) {
        self.fields.push(Field { name, value: value.to_string() });
    }
}
