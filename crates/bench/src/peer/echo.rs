//! Answering calls.

use serde::{Deserialize, Serialize};
use wire::message::MessageType;

use super::{Cue, Role};
use crate::raw::{Connection, End, Endpoint, RawError, ReadBuffer, Template, serial_bytes};

/// Answers calls, those that came at once all at once, for as long as there are any. It answers
/// everybody by the name of its first caller, so it is for one caller only.
#[derive(Debug, Serialize, Deserialize)]
pub struct Echo {
    /// What carries the messages.
    pub endpoint: Endpoint,
    /// How much is read at once.
    pub read_buffer: ReadBuffer,
    /// Whether the bodies of calls are checked, as a library does.
    pub body_validation: BodyValidation,
    /// What it answers.
    pub answer: Answer,
}

/// What calls are answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Nothing.
    #[default]
    Empty,
    /// What the first call carried. All calls of a workload carry the same.
    Same,
}

/// Whether bodies are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyValidation {
    /// They are.
    On,
    /// They are not.
    #[default]
    Off,
}

impl Role for Echo {
    type Report = ();

    fn play(self, cue: &mut Cue) -> Result<(), RawError> {
        let mut connection = cue.join(&self.endpoint, End::Spoke, &[])?;
        connection.set_read_buffer(self.read_buffer);
        let mut replies = Replies { answer: self.answer, template: None, out: Vec::new() };
        loop {
            match self.serve(&mut connection, &mut replies) {
                Ok(()) => {}
                Err(RawError::Closed) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Echo {
    fn serve(&self, connection: &mut Connection, replies: &mut Replies) -> Result<(), RawError> {
        replies.out.clear();
        self.take(connection.receive()?, replies)?;
        while let Some(message) = connection.received()? {
            self.take(message, replies)?;
        }
        connection.send(&replies.out)
    }

    fn take(&self, message: &[u8], replies: &mut Replies) -> Result<(), RawError> {
        if message[1] != MessageType::MethodCall.code() {
            return Ok(());
        }
        if self.body_validation == BodyValidation::On {
            wire::message::Message::parse(message)?.validate_body()?;
        }
        replies.add(message)
    }
}

struct Replies {
    answer: Answer,
    template: Option<Template>,
    out: Vec<u8>,
}

impl Replies {
    fn add(&mut self, call: &[u8]) -> Result<(), RawError> {
        let template = match &mut self.template {
            Some(template) => template,
            none => none.insert(match self.answer {
                Answer::Empty => Template::empty_reply(call)?,
                Answer::Same => Template::same_reply(call)?,
            }),
        };
        template.next_serial();
        template.answer(serial_bytes(call));
        self.out.extend_from_slice(template.bytes());
        Ok(())
    }
}
