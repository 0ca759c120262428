//! Inserts the rows of all tables.

use std::io;

use capture::Capture;
use capture::model::{CallOutcome, CapturedMessage, MessageBuffer, PeerRole, RecordedPeerId};
use capture::record::{Fact, RecordedProcess, TracedDelivery};
use capture::timeline::BusPhase;
use rusqlite::{Connection, Result, Statement, params};
use serde::Serialize;
use wire::message::MessageType;

use super::texts::SqliteTexts;
use crate::ExportError;
use crate::flat::{FlatRow, nanos, number, present, present_number};
use crate::parts::{for_each_part, selected_parts};

/// The prepared statements, and the data they insert.
pub(super) struct Inserts<'d, 'c> {
    database: &'d Connection,
    capture: &'c Capture,
    texts: SqliteTexts<'c>,
    message: Statement<'d>,
    call: Statement<'d>,
    delivery: Statement<'d>,
}

impl<'d, 'c> Inserts<'d, 'c> {
    pub(super) fn new(database: &'d Connection, capture: &'c Capture) -> Result<Self> {
        Ok(Self {
            database,
            capture,
            texts: SqliteTexts::default(),
            message: into(database, "message", 28)?,
            call: into(database, "call", 12)?,
            delivery: into(database, "delivery", 5)?,
        })
    }

    /// Fills all tables of the database.
    pub(super) fn all(
        mut self,
        selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    ) -> Result<(), ExportError> {
        self.origins()?;
        self.buses()?;
        self.peers()?;
        self.names()?;
        self.facts()?;
        self.gaps()?;
        self.messages(selects)?;
        self.invalid()?;
        let mut insert = into(self.database, "text", 2)?;
        for (id, text) in self.texts.iter() {
            insert.execute(params![id, text])?;
        }
        Ok(())
    }

    fn origins(&self) -> Result<()> {
        let mut insert = into(self.database, "origin", 4)?;
        for origin in self.capture.origins() {
            let comments = present(&origin.comments.join("\n")).map(str::to_owned);
            insert.execute(params![origin.program, origin.hardware, origin.system, comments])?;
        }
        Ok(())
    }

    /// Inserts the buses. A recording may lack the description of a bus.
    fn buses(&self) -> Result<()> {
        let mut insert = into(self.database, "bus", 4)?;
        let known = self.capture.buses();
        let of_messages = self.capture.messages().map(|message| message.bus());
        let of_facts = self.capture.facts().iter().map(|(_, bus, _)| *bus);
        let of_peers = self.capture.directory().peers().map(|(_, peer)| peer.bus);
        let last = of_messages.chain(of_facts).chain(of_peers).max();
        let count = last.map_or(0, |bus| usize::from(bus.0) + 1).max(known.len());
        let unknown = capture::record::RecordedBus::default();
        for id in 0..count {
            let bus = known.get(id).unwrap_or(&unknown);
            let method = word(&bus.method);
            insert.execute(params![id as i64, present(&bus.name), bus.address, method])?;
        }
        Ok(())
    }

    fn peers(&self) -> Result<()> {
        let mut insert = into(self.database, "peer", 16)?;
        let nothing = RecordedProcess::default();
        for (id, peer) in self.capture.directory().peers() {
            let process = peer.process.as_ref().unwrap_or(&nothing);
            insert.execute(params![
                key(id),
                peer.bus.0,
                self.capture.strings().get(peer.unique),
                self.capture.label(id),
                peer.role == PeerRole::Recorder,
                process.pid,
                process.uid,
                process.comm,
                process.exe,
                command(process),
                process.unit,
                process.cgroup,
                process.started.map(|time| time.0),
                peer.arrived.map(|time| time.0),
                peer.left.map(|time| time.0),
                peer.why,
            ])?;
        }
        Ok(())
    }

    fn names(&self) -> Result<()> {
        let mut insert = into(self.database, "name", 5)?;
        for (bus, name, owners) in self.capture.directory().names() {
            for one in owners {
                let (since, until) = (one.since.map(|time| time.0), one.until.map(|time| time.0));
                let name = self.capture.strings().get(name);
                insert.execute(params![bus.0, name, key(one.owner), since, until])?;
            }
        }
        Ok(())
    }

    fn facts(&self) -> Result<()> {
        let mut insert = into(self.database, "fact", 4)?;
        for (at, bus, fact) in self.capture.facts() {
            let (kind, content) = fact_as_json(fact);
            insert.execute(params![at.0, bus.0, kind, content])?;
        }
        Ok(())
    }

    fn gaps(&self) -> Result<()> {
        let mut insert = into(self.database, "gap", 4)?;
        for gap in self.capture.gaps() {
            let at = gap.at.map(|time| time.0);
            let lost = gap.lost.map(|lost| i64::try_from(lost).unwrap_or(i64::MAX));
            insert.execute(params![at, gap.bus.0, word(&gap.cause), lost])?;
        }
        Ok(())
    }

    fn invalid(&self) -> Result<()> {
        let mut insert = self
            .database
            .prepare("INSERT INTO invalid SELECT number, ?2 FROM message WHERE number = ?1")?;
        for (id, rule) in self.capture.invalid() {
            insert.execute(params![number(&self.capture.message(*id)), rule.to_string()])?;
        }
        Ok(())
    }

    /// Inserts the messages. Other threads read and format their bodies.
    fn messages(
        &mut self,
        selects: impl FnMut(&CapturedMessage<'c>) -> bool,
    ) -> Result<(), ExportError> {
        let rows = |messages: Vec<CapturedMessage<'c>>, buffer: &mut MessageBuffer| {
            let row = |message| {
                let row = FlatRow::new(message);
                Ok((row, row.body(buffer)?))
            };
            messages.into_iter().map(row).collect::<io::Result<Vec<_>>>()
        };
        for_each_part(selected_parts(self.capture, selects), rows, |rows| {
            rows.iter().try_for_each(|(row, body)| self.row(row, body.as_deref()))
        })
    }

    fn row(&mut self, row: &FlatRow<'c>, body: Option<&str>) -> Result<(), ExportError> {
        self.message(row, body)?;
        if row.message().kind() == MessageType::MethodCall {
            self.call(row)?;
        }
        for copy in row.message().deliveries().unwrap_or_default() {
            self.delivery(row.message(), copy)?;
        }
        Ok(())
    }

    fn message(&mut self, row: &FlatRow<'c>, body: Option<&str>) -> Result<()> {
        let (message, asked) = (row.message(), row.asked());
        let [destination, path, interface] =
            [message.destination(), asked.path(), asked.interface()].map(|text| self.text(text));
        let [member, error, signature] = [
            row.member().unwrap_or_default(),
            row.error().unwrap_or_default(),
            message.signature(),
        ]
        .map(|text| self.text(text));
        self.message.execute(params![
            number(message),
            message.at().0,
            message.bus().0,
            message.kind().as_str(),
            message.from().map(key),
            message.to().map(key),
            destination,
            path,
            interface,
            member,
            error,
            signature,
            message.flags().bits(),
            present_number(message.serial()),
            present_number(message.reply_serial()),
            message.len(),
            message.kept(),
            message.unix_fds(),
            row.state(),
            message.call().map(|call| number(&call)),
            message.is_of_recorder(),
            body,
            row.routed_after(),
            row.phase(BusPhase::Receive),
            row.phase(BusPhase::Wait),
            row.phase(BusPhase::Dispatch),
            row.phase(BusPhase::Match),
            row.phase(BusPhase::Send),
        ])?;
        Ok(())
    }

    fn call(&mut self, row: &FlatRow<'c>) -> Result<()> {
        let (call, reply) = (row.message(), row.message().partner());
        let error = reply.filter(|reply| reply.kind() == MessageType::Error);
        let service = self.capture.addressee_label(call);
        let error = error.map(|error| error.member()).unwrap_or_default();
        let [service, path, interface, member, error] =
            [service, call.path(), call.interface(), call.member(), error]
                .map(|text| self.text(text));
        let size = u64::from(call.len()) + reply.map_or(0, |reply| u64::from(reply.len()));
        self.call.execute(params![
            number(call),
            service,
            path,
            interface,
            member,
            call.outcome().map(CallOutcome::as_str),
            error,
            reply.map(|reply| number(&reply)),
            nanos(call.duration()),
            size as i64,
            call.is_of_recorder(),
            nanos(call.waited()),
        ])?;
        Ok(())
    }

    fn delivery(&mut self, message: &CapturedMessage<'c>, copy: &TracedDelivery) -> Result<()> {
        let [begun, written] = [copy.begun_after, copy.written_after].map(nanos);
        let recipient = format!(":1.{}", copy.recipient);
        self.delivery.execute(params![number(message), recipient, written, copy.rules, begun])?;
        Ok(())
    }

    fn text(&mut self, text: &'c str) -> Option<i64> {
        present(text).map(|text| self.texts.id(text))
    }
}

/// Prepares an insert into a table with this number of columns.
fn into<'d>(database: &'d Connection, table: &str, columns: usize) -> Result<Statement<'d>> {
    let places = vec!["?"; columns].join(", ");
    database.prepare(&format!("INSERT INTO {table} VALUES ({places})"))
}

fn key(peer: RecordedPeerId) -> i64 {
    peer.index() as i64 + 1
}

fn command(process: &RecordedProcess) -> Option<String> {
    let words = &process.command;
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

/// The name of an enum variant as it is serialized.
fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The kind of a fact, and its other content as JSON.
fn fact_as_json(fact: &Fact) -> (Option<String>, Option<String>) {
    let Ok(serde_json::Value::Object(mut object)) = serde_json::to_value(fact) else {
        return (None, None);
    };
    let kind = object.remove("fact").and_then(|kind| kind.as_str().map(str::to_owned));
    (kind, Some(serde_json::Value::Object(object).to_string()))
}
