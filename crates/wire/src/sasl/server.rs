//! The server side of authentication ("Server states").

use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::fmt;

use super::cookie::{CHALLENGE_LEN, Cookie, CookieChallenge, CookieContext, Proof};
use super::line::{ClientLine, LineBuffer, SaslLine, ServerLine};
use super::{FdPassing, Mechanism, Mechanisms};
use crate::guid::Guid;
use crate::hex;

/// The settings of a server for one client.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ServerConfig {
    /// The GUID of the address that the client connected to.
    pub guid: Guid,
    /// The mechanisms that the server offers.
    pub mechanisms: Mechanisms,
    /// The identity of the client, as reported by the kernel.
    pub peer: PeerIdentity,
    /// Whether file descriptors can be passed if the client requests it.
    pub fds: FdSupport,
    /// The context, that is the cookie file, for `DBUS_COOKIE_SHA1`.
    pub cookie_context: CookieContext,
}

/// The identity of the other end of a socket, as reported by the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PeerIdentity {
    /// The user ID; `None` if the transport does not report it, like TCP.
    pub uid: Option<u32>,
}

/// Whether the server supports passing file descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FdSupport {
    /// Descriptor passing is supported.
    Available,
    /// Descriptor passing is not supported by the transport, or disabled by the server.
    Unavailable,
}

/// The callbacks of the server, for what the bytes of the client do not say.
pub trait Authority {
    /// For `EXTERNAL`: the user ID that the kernel reports for a process which has the user ID
    /// `inside` in the user namespace of the client. `None` if there is none, or if the client is not
    /// in another user namespace.
    fn uid_outside(&mut self, inside: u32) -> Option<u32>;

    /// The user ID for this login name; `None` if the user is unknown.
    fn uid_of(&mut self, login_name: &str) -> Option<u32>;

    /// A cookie that this user can read and that a new login can use.
    ///
    /// The implementation locks, loads, [refreshes](super::cookie::Keyring::refresh) and saves the
    /// file. `None` rejects the user.
    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie>;

    /// Bytes that other processes cannot predict.
    fn random(&mut self) -> [u8; CHALLENGE_LEN];
}

/// The parameters of [`Authority::cookie`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CookieRequest<'a> {
    /// The context, which is the name of the file.
    pub context: &'a CookieContext,
    /// The user ID of the file's owner.
    pub uid: u32,
    /// The time, in seconds since 1970.
    pub now_unix: u64,
}

/// The callbacks for a server that does not offer `DBUS_COOKIE_SHA1`, and knows no user namespaces.
#[derive(Clone, Copy, Debug)]
pub struct NoAuthority;

impl Authority for NoAuthority {
    fn uid_outside(&mut self, _: u32) -> Option<u32> {
        None
    }

    fn uid_of(&mut self, _: &str) -> Option<u32> {
        None
    }

    fn cookie(&mut self, _: CookieRequest<'_>) -> Option<Cookie> {
        None
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        [0; CHALLENGE_LEN]
    }
}

/// The identity that a client has authenticated as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AuthenticatedIdentity {
    /// The user with this ID.
    Uid(u32),
    /// No identity. The server decides whether to accept such a client.
    Anonymous,
}

/// The next step after [`SaslServer::receive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerProgress {
    /// Send the output, then wait for more bytes.
    NeedMore,
    /// The client sent `BEGIN`: messages follow.
    Done {
        /// Number of input bytes that belong to the authentication; the rest is messages.
        consumed: usize,
        /// The identity of the client.
        identity: AuthenticatedIdentity,
        /// Whether messages can carry file descriptors.
        fds: FdPassing,
    },
}

/// The reason why a server closes the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Violation {
    /// The first byte of the stream is not NUL.
    MissingNul {
        /// The first byte of the stream.
        found: u8,
    },
    /// A line is longer than [`LINE_LEN_MAX`](super::line::LINE_LEN_MAX).
    LineTooLong {
        /// Offset of the line in the stream.
        at: u64,
    },
    /// The client sent `BEGIN` before the server sent `OK`.
    BeginBeforeOk {
        /// Offset of the line in the stream.
        at: u64,
    },
    /// The client was rejected [`REJECTIONS_MAX`] times.
    TooManyRejections {
        /// Offset in the stream of the line that was rejected.
        at: u64,
    },
    /// The client sent more than [`COMMANDS_MAX`] lines.
    TooManyCommands {
        /// Offset in the stream of the first line over the limit.
        at: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingNul { found } => {
                write!(f, "the first byte must be NUL, but is {found:#04x}")
            }
            Self::LineTooLong { at } => write!(f, "the line at byte {at} is too long"),
            Self::BeginBeforeOk { at } => write!(f, "BEGIN at byte {at} came before OK"),
            Self::TooManyRejections { at } => {
                write!(
                    f,
                    "the attempt at byte {at} was rejected; {REJECTIONS_MAX} rejections are the limit"
                )
            }
            Self::TooManyCommands { at } => {
                write!(f, "the line at byte {at} exceeds the limit of {COMMANDS_MAX} lines")
            }
        }
    }
}

impl core::error::Error for Violation {}

/// The reason why a client was rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The client tried only mechanisms that the server does not offer. The answer lists the
    /// offered ones, and the client can try one of these.
    NotOffered,
    /// The credentials of the client were not accepted.
    NotAccepted,
}

/// Maximum number of rejections of a client; after the last one it is disconnected.
pub const REJECTIONS_MAX: u8 = 6;

/// Maximum number of lines from one client. It bounds the output that the server queues for a
/// client that does not read; an exchange takes four lines.
pub const COMMANDS_MAX: u16 = 256;

/// The state machine of a server: takes a client's bytes, and produces bytes to send.
///
/// ```text
///             NUL                AUTH, accepted at once
/// ExpectNul -------> ExpectAuth -----------------------> ExpectBegin --BEGIN--> Finished
///                    ^  |    ^                            ^    |
///            rejected|  |    '------ CANCEL, ERROR -------|----'
///                    |  | AUTH, data missing              |
///                    |  v                                 |
///                    ExpectData --------- DATA, accepted -'
/// ```
///
/// An unexpected line is answered with `ERROR` and does not change the state; an early `BEGIN`
/// closes the connection. Both follow the chapter "Server states".
///
/// Call [`receive`](Self::receive) with every chunk until it returns [`ServerProgress::Done`] or an
/// error, and send the output each time, also after an error: it may be the last rejection. A
/// server should stop reading while output is waiting to be sent.
///
/// With the feature `serde`, a server can be saved between two calls and restored. The saved data
/// contains the cookie of an exchange.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SaslServer {
    config: ServerConfig,
    lines: LineBuffer,
    counts: ClientCounts,
    state: ServerState,
}

impl SaslServer {
    /// Creates a state machine that waits for a client's first byte.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            lines: LineBuffer::default(),
            counts: ClientCounts::default(),
            state: ServerState::ExpectNul,
        }
    }

    /// Processes received bytes, in chunks of any size, and appends the answers to `out`.
    ///
    /// Bytes after the end of `BEGIN` are not consumed. After `Done` or an error, further calls
    /// return the same result and consume no bytes.
    ///
    /// # Errors
    ///
    /// If the client violated the protocol or exceeded a limit. The server closes the connection
    /// then.
    pub fn receive(
        &mut self,
        input: &[u8],
        now_unix: u64,
        authority: &mut impl Authority,
        out: &mut Vec<u8>,
    ) -> Result<ServerProgress, Violation> {
        let mut rest = input;
        loop {
            match &self.state {
                ServerState::Finished(outcome) => {
                    let consumed = input.len() - rest.len();
                    return outcome.map(|ServerLogin { identity, fds }| ServerProgress::Done {
                        consumed,
                        identity,
                        fds,
                    });
                }
                ServerState::ExpectNul => {
                    let Some(first) = self.lines.skip_byte(&mut rest) else {
                        return Ok(ServerProgress::NeedMore);
                    };
                    self.state = ServerState::after_first_byte(first);
                }
                _ => match self.lines.next(&mut rest) {
                    Ok(None) => return Ok(ServerProgress::NeedMore),
                    Ok(Some(line)) => self.receive_line(&line, now_unix, authority, out),
                    Err(error) => self.state = Violation::LineTooLong { at: error.at }.into(),
                },
            }
        }
    }

    /// True if the client tried to authenticate and all its attempts were rejected. If it
    /// disconnects now, this is the reason.
    pub fn has_rejected(&self) -> bool {
        self.counts.attempts > 0 && matches!(self.state, ServerState::ExpectAuth)
    }

    /// The reason why the client was rejected; `None` if it was not.
    pub fn rejection(&self) -> Option<Rejection> {
        let ClientCounts { attempts, not_offered, rejections, .. } = self.counts;
        match rejections {
            0 => None,
            _ if attempts > 0 && attempts == not_offered => Some(Rejection::NotOffered),
            _ => Some(Rejection::NotAccepted),
        }
    }

    fn receive_line(
        &mut self,
        line: &SaslLine,
        now_unix: u64,
        authority: &mut impl Authority,
        out: &mut Vec<u8>,
    ) {
        let Self { config, counts, .. } = self;
        let mut step = ServerStep { config, counts, now_unix, authority, out, at: line.at };
        let state = core::mem::replace(&mut self.state, ServerState::ExpectNul);
        let next = step.count().and_then(|()| match ClientLine::parse(&line.bytes) {
            Ok(line) => state.receive(line, &mut step),
            Err(_) => step.refuse(state, MechanismRefusal::NotAscii),
        });
        self.state = next.unwrap_or_else(ServerState::from);
    }
}

/// The state: which line the server waits for.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum ServerState {
    ExpectNul,
    ExpectAuth,
    ExpectData(MechanismExchange),
    ExpectBegin(ServerLogin),
    Finished(Result<ServerLogin, Violation>),
}

/// An exchange that waits for the client's response.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum MechanismExchange {
    /// The client was asked for its identity.
    External,
    /// The client got a challenge about this cookie of this user.
    Cookie { uid: u32, challenge: CookieChallenge, cookie: Cookie },
}

/// The result of a successful authentication.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ServerLogin {
    identity: AuthenticatedIdentity,
    fds: FdPassing,
}

impl From<Violation> for ServerState {
    fn from(violation: Violation) -> Self {
        Self::Finished(Err(violation))
    }
}

impl ServerState {
    fn after_first_byte(byte: u8) -> Self {
        match byte {
            0 => Self::ExpectAuth,
            found => Violation::MissingNul { found }.into(),
        }
    }

    fn receive<A: Authority>(
        self,
        line: ClientLine<'_>,
        step: &mut ServerStep<'_, A>,
    ) -> Result<Self, Violation> {
        match (self, line) {
            (state, ClientLine::Unknown(_)) => step.refuse(state, MechanismRefusal::UnknownCommand),
            (_, ClientLine::Error(_)) => step.reject(),
            (Self::ExpectAuth, line) => Self::receive_auth(line, step),
            (Self::ExpectData(exchange), line) => exchange.receive(line, step),
            (Self::ExpectBegin(login), line) => login.receive(line, step),
            (state @ (Self::ExpectNul | Self::Finished(_)), _) => Ok(state),
        }
    }

    fn receive_auth<A: Authority>(
        line: ClientLine<'_>,
        step: &mut ServerStep<'_, A>,
    ) -> Result<Self, Violation> {
        match line {
            ClientLine::Auth { mechanism, initial } => step.begin_exchange(mechanism, initial),
            ClientLine::ListMechanisms => step.reject(),
            ClientLine::Begin => Err(Violation::BeginBeforeOk { at: step.at }),
            ClientLine::NegotiateUnixFd => {
                step.refuse(Self::ExpectAuth, MechanismRefusal::NotYetOk)
            }
            _ => step.refuse(Self::ExpectAuth, MechanismRefusal::NoExchange),
        }
    }
}

impl MechanismExchange {
    fn receive<A: Authority>(
        self,
        line: ClientLine<'_>,
        step: &mut ServerStep<'_, A>,
    ) -> Result<ServerState, Violation> {
        match line {
            ClientLine::Data(response) => match hex::decode(response) {
                Ok(response) => self.receive_response(&response, step),
                Err(_) => {
                    step.refuse(ServerState::ExpectData(self), MechanismRefusal::NotHexadecimal)
                }
            },
            ClientLine::Cancel => step.reject(),
            ClientLine::Begin => Err(Violation::BeginBeforeOk { at: step.at }),
            ClientLine::NegotiateUnixFd => {
                step.refuse(ServerState::ExpectData(self), MechanismRefusal::NotYetOk)
            }
            _ => step.refuse(ServerState::ExpectData(self), MechanismRefusal::ExchangePending),
        }
    }

    fn receive_response<A: Authority>(
        self,
        response: &[u8],
        step: &mut ServerStep<'_, A>,
    ) -> Result<ServerState, Violation> {
        match self {
            Self::External => step.finish_external(response),
            Self::Cookie { uid, challenge, cookie } => match Proof::parse(response) {
                Ok(proof) if proof.holds(&challenge, &cookie.secret) => {
                    step.accept(AuthenticatedIdentity::Uid(uid))
                }
                _ => step.reject(),
            },
        }
    }
}

impl ServerLogin {
    fn receive<A: Authority>(
        self,
        line: ClientLine<'_>,
        step: &mut ServerStep<'_, A>,
    ) -> Result<ServerState, Violation> {
        match (line, step.config.fds) {
            (ClientLine::Begin, _) => Ok(ServerState::Finished(Ok(self))),
            (ClientLine::NegotiateUnixFd, FdSupport::Available) => {
                step.reply(ServerLine::AgreeUnixFd);
                Ok(ServerState::ExpectBegin(Self { fds: FdPassing::Agreed, ..self }))
            }
            (ClientLine::NegotiateUnixFd, FdSupport::Unavailable) => {
                step.refuse(ServerState::ExpectBegin(self), MechanismRefusal::NoFdPassing)
            }
            (ClientLine::Cancel, _) => step.reject(),
            _ => step.refuse(ServerState::ExpectBegin(self), MechanismRefusal::AlreadyOk),
        }
    }
}

/// Counters for the limits of a client.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ClientCounts {
    attempts: u16,
    /// Attempts with a mechanism that the server does not offer.
    not_offered: u16,
    rejections: u8,
    commands: u16,
}

/// The context for processing one line.
struct ServerStep<'t, A> {
    config: &'t ServerConfig,
    counts: &'t mut ClientCounts,
    now_unix: u64,
    authority: &'t mut A,
    out: &'t mut Vec<u8>,
    /// Offset of the line in the stream.
    at: u64,
}

impl<A: Authority> ServerStep<'_, A> {
    fn count(&mut self) -> Result<(), Violation> {
        self.counts.commands += 1;
        if self.counts.commands > COMMANDS_MAX {
            return Err(Violation::TooManyCommands { at: self.at });
        }
        Ok(())
    }

    fn begin_exchange(
        &mut self,
        mechanism: &str,
        initial: Option<&str>,
    ) -> Result<ServerState, Violation> {
        // Cannot overflow: there is at most one attempt per command, and commands are limited.
        self.counts.attempts += 1;
        let mechanism = Mechanism::from_name(mechanism);
        let Some(mechanism) = mechanism.filter(|&known| self.config.mechanisms.contains(known))
        else {
            self.counts.not_offered += 1;
            return self.reject();
        };
        let Ok(initial) = initial.map(hex::decode).transpose() else {
            return self.refuse(ServerState::ExpectAuth, MechanismRefusal::NotHexadecimal);
        };
        match (mechanism, initial) {
            (Mechanism::External, None) => self.begin_external(),
            (Mechanism::External, Some(identity)) => self.finish_external(&identity),
            // In this mechanism the client must send an initial response.
            (Mechanism::DbusCookieSha1, None) => self.reject(),
            (Mechanism::DbusCookieSha1, Some(user)) => self.begin_cookie(&user),
            (Mechanism::Anonymous, trace) => self.finish_anonymous(&trace.unwrap_or_default()),
        }
    }

    /// Asks the client for the missing identity, unless the transport reports no user.
    fn begin_external(&mut self) -> Result<ServerState, Violation> {
        if self.config.peer.uid.is_none() {
            return self.reject();
        }
        self.reply(ServerLine::Data(""));
        Ok(ServerState::ExpectData(MechanismExchange::External))
    }

    /// An empty identity means the user that the kernel reports; any other must be the user ID of
    /// that user, here or in the user namespace of the client. Login names are not looked up for
    /// unauthenticated clients.
    fn finish_external(&mut self, identity: &[u8]) -> Result<ServerState, Violation> {
        let Some(uid) = self.config.peer.uid else { return self.reject() };
        let is_claimed = identity.is_empty()
            || uid_from_digits(identity).is_some_and(|claimed| {
                claimed == uid || self.authority.uid_outside(claimed) == Some(uid)
            });
        if is_claimed { self.accept(AuthenticatedIdentity::Uid(uid)) } else { self.reject() }
    }

    fn begin_cookie(&mut self, user: &[u8]) -> Result<ServerState, Violation> {
        let config = self.config;
        let uid = uid_from_digits(user).or_else(|| self.uid_from_name(user));
        let offer = uid.and_then(|uid| {
            let context = &config.cookie_context;
            let request = CookieRequest { context, uid, now_unix: self.now_unix };
            Some((uid, self.authority.cookie(request)?))
        });
        let Some((uid, cookie)) = offer else { return self.reject() };
        let random = self.authority.random();
        let challenge = CookieChallenge::new(config.cookie_context.clone(), cookie.id, random);
        self.reply(ServerLine::Data(&hex::encode(challenge.to_string().as_bytes())));
        Ok(ServerState::ExpectData(MechanismExchange::Cookie { uid, challenge, cookie }))
    }

    fn uid_from_name(&mut self, user: &[u8]) -> Option<u32> {
        let name = core::str::from_utf8(user).ok().filter(|name| !name.is_empty())?;
        self.authority.uid_of(name)
    }

    /// The client can send a text for the log, which must be UTF-8.
    fn finish_anonymous(&mut self, trace: &[u8]) -> Result<ServerState, Violation> {
        match core::str::from_utf8(trace) {
            Ok(_) => self.accept(AuthenticatedIdentity::Anonymous),
            Err(_) => self.reject(),
        }
    }

    fn accept(&mut self, identity: AuthenticatedIdentity) -> Result<ServerState, Violation> {
        self.reply(ServerLine::Ok(&self.config.guid.to_string()));
        Ok(ServerState::ExpectBegin(ServerLogin { identity, fds: FdPassing::Off }))
    }

    fn reject(&mut self) -> Result<ServerState, Violation> {
        self.reply(ServerLine::Rejected(&self.config.mechanisms.to_string()));
        self.counts.rejections += 1;
        if self.counts.rejections == REJECTIONS_MAX {
            return Err(Violation::TooManyRejections { at: self.at });
        }
        Ok(ServerState::ExpectAuth)
    }

    /// Answers `ERROR` with an explanation, and keeps the state.
    fn refuse(
        &mut self,
        state: ServerState,
        refusal: MechanismRefusal,
    ) -> Result<ServerState, Violation> {
        self.reply(ServerLine::Error(refusal.explanation()));
        Ok(state)
    }

    fn reply(&mut self, line: ServerLine<'_>) {
        line.write(self.out);
    }
}

/// The reason for an `ERROR` answer.
#[derive(Clone, Copy)]
enum MechanismRefusal {
    UnknownCommand,
    NotAscii,
    NotHexadecimal,
    NoExchange,
    ExchangePending,
    NotYetOk,
    AlreadyOk,
    NoFdPassing,
}

impl MechanismRefusal {
    const fn explanation(self) -> &'static str {
        match self {
            Self::UnknownCommand => "This command is unknown",
            Self::NotAscii => "Commands are ASCII without NUL",
            Self::NotHexadecimal => "The argument must be pairs of hexadecimal digits",
            Self::NoExchange => "AUTH must come first",
            Self::ExchangePending => "Answer with DATA or give up with CANCEL",
            Self::NotYetOk => "Authenticate first",
            Self::AlreadyOk => "You are authenticated and may BEGIN",
            Self::NoFdPassing => "File descriptors cannot be passed here",
        }
    }
}

fn uid_from_digits(text: &[u8]) -> Option<u32> {
    let digits = core::str::from_utf8(text).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}
