//! `diligence own`: owns a name, and replies to its callers, or does not.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use client::{Connection, IncomingCall, NameFlags, RequestReply, Subscription, Values};
use inspector::InspectorFailure;
use sys::poll::{Events, Interest, Poller};
use sys::signals::{ProcessSignal, SignalSource};
use wire::body::Value;
use wire::names::ErrorName;

use crate::bus_choice::BusChoice;
use crate::output::print;
use crate::poke::error::PokeError;
use crate::private_bus::end_requested;

/// Arguments of `diligence own`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Own {
    #[command(flatten)]
    bus: BusChoice,
    /// The well-known name to own
    name: String,
    #[command(flatten)]
    claim: NameClaimOptions,
    #[command(flatten)]
    answers: AnswerOptions,
}

/// Options for a name that another peer owns or requests.
#[derive(Debug, Args)]
struct NameClaimOptions {
    /// Wait in the queue until the name is free
    #[arg(long)]
    queue: bool,
    /// Replace the owner of the name, if it allows that
    #[arg(long)]
    replace: bool,
    /// Allow others to replace this owner
    #[arg(long)]
    allow_replacement: bool,
}

/// Options for replies; without any of these, each call gets the error UnknownMethod.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct AnswerOptions {
    /// Reply to every call with its own arguments
    #[arg(long)]
    echo: bool,
    /// Never reply to a call
    #[arg(long)]
    black_hole: bool,
}

/// The kind of reply to each call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReplyMode {
    Refuse,
    Echo,
    Never,
}

impl Own {
    /// Owns the name until the user ends the program.
    pub(crate) fn run(&self) -> Result<ExitCode, PokeError> {
        let signals = SignalSource::block(&[
            ProcessSignal::Interrupt,
            ProcessSignal::Terminate,
            ProcessSignal::HangUp,
        ]);
        let signals = signals.map_err(wait_error)?;
        let connection = self.bus.connect()?;
        // The rules are added before the name is requested, so that no signal is missed.
        let acquired = self.listen(&connection, "NameAcquired")?;
        let lost = self.listen(&connection, "NameLost")?;
        let holding = match self.request(&connection)? {
            RequestReply::PrimaryOwner | RequestReply::AlreadyOwner => {
                print(READY);
                Holding::Owned
            }
            RequestReply::InQueue => Holding::Queued,
            RequestReply::Exists => {
                return Err(PokeError::Name(format!("another connection owns {}", self.name)));
            }
        };
        let held = HeldName { connection, signals, acquired, lost, name: &self.name };
        held.hold(holding, self.reply_mode())
    }

    fn request(&self, connection: &Connection) -> Result<RequestReply, PokeError> {
        let flags = [
            (self.claim.allow_replacement, NameFlags::ALLOW_REPLACEMENT),
            (self.claim.replace, NameFlags::REPLACE_EXISTING),
            (!self.claim.queue, NameFlags::DO_NOT_QUEUE),
        ];
        let wanted = flags.into_iter().filter(|(is_wanted, _)| *is_wanted);
        let flags = wanted.fold(NameFlags::NONE, |all, (_, flag)| all.with(flag));
        let refused = |error: client::CallError| PokeError::Name(error.to_string());
        connection.request_name(self.name.as_str(), flags).map_err(refused)
    }

    fn listen(&self, connection: &Connection, member: &str) -> Result<Subscription, PokeError> {
        let rule = format!(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',\
             member='{member}',arg0='{}'",
            self.name
        );
        let refused = |error| PokeError::from(InspectorFailure::Unwatchable(error));
        connection.subscribe(rule.as_str()).map_err(refused)
    }

    const fn reply_mode(&self) -> ReplyMode {
        match (self.answers.echo, self.answers.black_hole) {
            (true, _) => ReplyMode::Echo,
            (_, true) => ReplyMode::Never,
            _ => ReplyMode::Refuse,
        }
    }
}

/// The state of the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Holding {
    Owned,
    Queued,
}

/// A name that is owned or for which the connection is queued.
struct HeldName<'n> {
    connection: Connection,
    signals: SignalSource,
    acquired: Subscription,
    lost: Subscription,
    name: &'n str,
}

impl HeldName<'_> {
    fn hold(&self, mut holding: Holding, reply_mode: ReplyMode) -> Result<ExitCode, PokeError> {
        let poller = Poller::new().map_err(wait_error)?;
        poller.add(&self.signals, 0, Interest::Read).map_err(wait_error)?;
        poller.add(self.connection.as_fd(), 1, Interest::Read).map_err(wait_error)?;
        let mut events = Events::with_capacity(2);
        loop {
            self.answer_all(reply_mode)?;
            holding = self.holding_after_signals(holding)?;
            self.connection.flush().map_err(InspectorFailure::from)?;
            poller.wait(&mut events, Some(POLL_INTERVAL)).map_err(wait_error)?;
            if end_requested(&self.signals).map_err(wait_error)?.is_some() {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    fn answer_all(&self, reply_mode: ReplyMode) -> Result<(), PokeError> {
        let next =
            || self.connection.next_request(Some(Duration::ZERO)).map_err(InspectorFailure::from);
        while let Some(request) = next()? {
            answer(&request, reply_mode);
        }
        Ok(())
    }

    /// Returns the new state after signals about the name. The first NameAcquired after RequestName
    /// is not reported.
    fn holding_after_signals(&self, holding: Holding) -> Result<Holding, PokeError> {
        let broken =
            |error| PokeError::Name(format!("cannot follow the owner of {}: {error}", self.name));
        if self.lost.poll().map_err(broken)?.is_some() {
            return Err(PokeError::Name(format!("another connection took {} over", self.name)));
        }
        if self.acquired.poll().map_err(broken)?.is_some() && holding == Holding::Queued {
            print(READY);
            return Ok(Holding::Owned);
        }
        Ok(holding)
    }
}

/// Replies to a call. If the caller has disconnected meanwhile, this has no effect.
fn answer(request: &IncomingCall, reply_mode: ReplyMode) {
    let _ = match reply_mode {
        ReplyMode::Never => Ok(()),
        ReplyMode::Echo => echo(request),
        ReplyMode::Refuse => {
            let member = request.message().member().unwrap_or_default();
            let text = format!("no method {member}: `diligence own` only holds this name");
            request.reply_error(UNKNOWN_METHOD, &text)
        }
    };
}

fn echo(request: &IncomingCall) -> Result<(), client::SendError> {
    let message = request.message();
    let mut reader = message.reader();
    let types = message.signature().types();
    let values: Result<Vec<_>, _> = types.map(|kind| Value::read(kind, &mut reader)).collect();
    let copies = message.descriptors().iter().map(OwnedFd::try_clone);
    match (values, copies.collect::<io::Result<Vec<_>>>()) {
        (Ok(values), Ok(copies)) => request.reply_with_descriptors(&Values(&values), copies),
        (Err(error), _) => request.reply_error(FAILED, &error.to_string()),
        (_, Err(error)) => request.reply_error(FAILED, &error.to_string()),
    }
}

fn wait_error(error: io::Error) -> PokeError {
    PokeError::Name(format!("cannot wait: {error}"))
}

/// The line that is printed when the name is owned.
const READY: &str = "READY\n";

/// Messages that were already read from the socket do not wake the poll, so the loop also checks at
/// this interval.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

const UNKNOWN_METHOD: ErrorName<'static> =
    ErrorName::literal("org.freedesktop.DBus.Error.UnknownMethod");
const FAILED: ErrorName<'static> = ErrorName::literal("org.freedesktop.DBus.Error.Failed");

const LONG_HELP: &str = "\
Examples:
  diligence own org.example.Player &
  diligence own org.example.Player --echo
  diligence own org.example.Player --queue

It prints READY when it owns the name, and keeps the name until it is interrupted. Calls get an error, \
unless --echo or --black-hole is given.

The exit status is 0 if it was interrupted, 1 if the name was not available or was lost, and 2 \
if the command line is wrong.";
