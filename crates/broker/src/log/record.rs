//! What is written to a log: a line for people, and what programs may want of it.

use std::fmt::Display;

use super::Severity;

/// One event in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    /// How much it matters, and to whom.
    pub severity: Severity,
    /// Of which kind it is, so that all of one kind can be found whatever they say.
    pub id: Option<MessageId>,
    /// The line.
    pub text: String,
    /// The facts that are in the line, one by one.
    pub fields: Vec<Field>,
}

/// A fact, under a name that the journal takes: capital letters, digits, low lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// What it is about.
    pub name: &'static str,
    /// The fact. A peer may have chosen it.
    pub value: String,
}

/// A kind of event, as a number that no other program uses: 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageId(pub &'static str);

impl LogRecord {
    /// A line without facts.
    #[must_use]
    pub fn line(severity: Severity, text: impl Display) -> Self {
        Self { severity, id: None, text: text.to_string(), fields: Vec::new() }
    }

    /// The same, of a kind.
    #[must_use]
    pub fn of(self, id: MessageId) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Adds a fact.
    pub fn field(&mut self, name: &'static str, value: impl Display) {
        self.fields.push(Field { name, value: value.to_string() });
    }
}
