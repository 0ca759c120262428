//! The peer that replies to calls.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use wire::message::{Message, MessageType};

use super::{BusSetup, Control, WorkloadRole};
use crate::body_validation::BenchBodyValidation;
use crate::raw::{
    Endpoint, HubOrSpoke, RawConnection, RawError, ReadBuffer, Template, serial_bytes,
};

/// Replies to calls. It sends the replies to calls that arrived together at once. All replies go to
/// the sender of the first call, so only one process may call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EchoPeer {
    pub(crate) endpoint: Endpoint,
    /// The name that it requests, besides its unique name.
    pub(crate) well_known_name: Option<String>,
    /// The number of calls after which it waits to report; `None` means to reply as long as calls
    /// arrive.
    pub(crate) calls: Option<u64>,
    /// The number of bytes that are read at once.
    pub(crate) read_buffer: ReadBuffer,
    /// Whether the bodies of calls are validated, as a library does.
    pub(crate) body_validation: BenchBodyValidation,
    pub(crate) answer: ReplyPayload,
}

/// The figures of an [`EchoPeer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EchoReport {
    pub(crate) calls: u64,
    /// Size of the last call in bytes, header and body.
    pub(crate) call_bytes: u64,
    pub(crate) validated: u64,
}

/// The payload of replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReplyPayload {
    /// An empty body without payload
    Empty,
    /// The payload of the call
    #[default]
    Echo,
}

impl ReplyPayload {
    /// The word in cases and on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Echo => "echo",
        }
    }
}

impl WorkloadRole for EchoPeer {
    const NAME: &str = "echo";

    type Report = EchoReport;

    fn play(self, control: &mut Control) -> Result<EchoReport, RawError> {
        let setup = BusSetup { name: self.well_known_name.as_deref(), ..BusSetup::default() };
        let mut connection = control.join(&self.endpoint, HubOrSpoke::Spoke, setup)?;
        connection.set_read_buffer(self.read_buffer);
        let mut replies = PendingEchoReplies::new(self.answer);
        while self.calls.is_none_or(|calls| replies.report.calls < calls) {
            match self.serve(&mut connection, &mut replies) {
                Ok(()) => {}
                Err(RawError::Closed) => return Ok(replies.report),
                Err(error) => return Err(error),
            }
        }
        // Keeps this connection open while other peers are measured, because closing a connection
        // causes work for the bus.
        control.wait()?;
        Ok(replies.report)
    }
}

impl EchoPeer {
    fn serve(
        &self,
        connection: &mut RawConnection,
        replies: &mut PendingEchoReplies,
    ) -> Result<(), RawError> {
        self.take(connection.receive()?, replies)?;
        while let Some(message) = connection.received()? {
            self.take(message, replies)?;
        }
        replies.send(connection)
    }

    fn take(&self, message: &[u8], replies: &mut PendingEchoReplies) -> Result<(), RawError> {
        if message[1] != MessageType::MethodCall.code() {
            return Ok(());
        }
        if self.body_validation == BenchBodyValidation::On {
            Message::parse(message)?.validate_body()?;
            replies.report.validated += 1;
        }
        replies.add(message)
    }
}

/// Replies that were not sent yet: the encoded ones in `out`, then the one in the template, if any.
struct PendingEchoReplies {
    answer: ReplyPayload,
    template: Option<Template>,
    is_waiting: bool,
    out: Vec<u8>,
    report: EchoReport,
}

impl PendingEchoReplies {
    fn new(answer: ReplyPayload) -> Self {
        let report = EchoReport::default();
        Self { answer, template: None, is_waiting: false, out: Vec::new(), report }
    }

    fn add(&mut self, call: &[u8]) -> Result<(), RawError> {
        let template = match &mut self.template {
            Some(template) => template,
            none => none.insert(match self.answer {
                ReplyPayload::Empty => Template::empty_reply(call)?,
                ReplyPayload::Echo => Template::same_reply(call)?,
            }),
        };
        if self.is_waiting {
            self.out.extend_from_slice(template.bytes());
        }
        self.is_waiting = true;
        template.next_serial();
        template.answer(serial_bytes(call));
        self.report.calls += 1;
        self.report.call_bytes = call.len() as u64;
        Ok(())
    }

    /// Sends all replies at once. A single reply is sent without copying it.
    fn send(&mut self, connection: &mut RawConnection) -> Result<(), RawError> {
        let Some(template) = self.template.as_ref().filter(|_| self.is_waiting) else {
            return Ok(());
        };
        self.is_waiting = false;
        if self.out.is_empty() {
            return connection.send(template.bytes());
        }
        self.out.extend_from_slice(template.bytes());
        let sent = connection.send(&self.out);
        self.out.clear();
        sent
    }
}
