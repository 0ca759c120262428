//! The server's side of authentication.

use alloc::string::ToString as _;
use alloc::vec::Vec;
use core::fmt;

use super::cookie::{CHALLENGE_LEN, Cookie, CookieChallenge, CookieContext, Proof};
use super::line::{ClientLine, LineBuffer, SaslLine, ServerLine};
use super::{FdPassing, Mechanism, Mechanisms};
use crate::guid::Guid;
use crate::hex;

/// What a server knows before a client's first byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerConfig {
    /// The GUID of the address that the client connected to.
    pub guid: Guid,
    /// What a client may try.
    pub mechanisms: Mechanisms,
    /// What the system says about the client.
    pub peer: PeerIdentity,
    /// Whether file descriptors could be passed if the client asks.
    pub fds: FdSupport,
    /// Which file of cookies `DBUS_COOKIE_SHA1` uses.
    pub cookie_context: CookieContext,
}

/// What the system says about the other end of a socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PeerIdentity {
    /// The user; `None` if the transport cannot tell, as TCP.
    pub uid: Option<u32>,
}

/// Whether a transport can pass file descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FdSupport {
    /// It can.
    Available,
    /// It cannot, or the server does not want to.
    Unavailable,
}

/// What the server's machine asks its program for.
///
/// All of it is for `DBUS_COOKIE_SHA1`; the machine calls nothing here for the other mechanisms.
pub trait Authority {
    /// The user with this login name.
    fn uid_of(&mut self, login_name: &str) -> Option<u32>;

    /// A cookie that this user can read, and a new login may use.
    ///
    /// The program locks, loads, [refreshes](super::cookie::Keyring::refresh) and saves the file.
    /// `None` refuses the user.
    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie>;

    /// Bytes that nobody can foretell.
    fn random(&mut self) -> [u8; CHALLENGE_LEN];
}

/// Which cookie a login needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CookieRequest<'a> {
    /// The name of the file.
    pub context: &'a CookieContext,
    /// Whose file.
    pub uid: u32,
    /// The time, in seconds since 1970.
    pub now_unix: u64,
}

/// For a server that does not offer `DBUS_COOKIE_SHA1`: knows nobody and has no cookie.
#[derive(Clone, Copy, Debug)]
pub struct NoAuthority;

impl Authority for NoAuthority {
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

/// Who a client has shown to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum AuthenticatedIdentity {
    /// This user.
    Uid(u32),
    /// Anybody. Whether such a client may stay is the server's decision.
    Anonymous,
}

/// What to do after [`SaslServer::receive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerProgress {
    /// Send what was written, then wait for more bytes.
    NeedMore,
    /// The client said `BEGIN`: what follows are messages.
    Done {
        /// Bytes of the input that were part of the authentication; the rest is messages.
        consumed: usize,
        /// Who the client is.
        identity: AuthenticatedIdentity,
        /// Whether its messages may carry file descriptors.
        fds: FdPassing,
    },
}

/// Why a server ends the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// The first byte of the stream is not NUL.
    MissingNul {
        /// The first byte.
        found: u8,
    },
    /// A line is longer than [`LINE_LEN_MAX`](super::line::LINE_LEN_MAX).
    LineTooLong {
        /// Offset of the line in the stream.
        at: u64,
    },
    /// `BEGIN` came before `OK`.
    BeginBeforeOk {
        /// Offset of the line in the stream.
        at: u64,
    },
    /// The client was rejected for the [last](REJECTIONS_MAX) time.
    TooManyRejections {
        /// Offset in the stream of the line that was rejected.
        at: u64,
    },
    /// The client sent more than [`COMMANDS_MAX`] lines.
    TooManyCommands {
        /// Offset in the stream of the line that is too many.
        at: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingNul { found } => {
                write!(f, "the first byte must be NUL and is {found:#04x}")
            }
            Self::LineTooLong { at } => write!(f, "the line at byte {at} is too long"),
            Self::BeginBeforeOk { at } => write!(f, "BEGIN at byte {at} came before OK"),
            Self::TooManyRejections { at } => {
                write!(
                    f,
                    "the attempt at byte {at} was the last of {REJECTIONS_MAX} to be rejected"
                )
            }
            Self::TooManyCommands { at } => {
                write!(f, "the line at byte {at} exceeds the limit of {COMMANDS_MAX} lines")
            }
        }
    }
}

impl core::error::Error for Violation {}

/// Why a client was rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// It tried only mechanisms that the server does not offer. It has learnt from the answer which ones
    /// there are, and may come again with one of these.
    NotOffered,
    /// Something that it said was not accepted.
    NotAccepted,
}

/// A client's rejected attempts, after the last of which it is disconnected.
pub const REJECTIONS_MAX: u8 = 6;

/// Lines of one client. This bounds what a client that reads no answers can make a server hold;
/// an exchange takes four.
pub const COMMANDS_MAX: u16 = 256;

/// The machine: bytes of a client in, bytes to answer with out.
///
/// ```text
///             NUL                AUTH, accepted at once
/// ExpectNul -------> ExpectAuth -----------------------> ExpectBegin --BEGIN--> Finished
///                    ^  |    ^                            ^    |
///            rejected|  |    '------ CANCEL, ERROR -------|----'
///                    |  | AUTH, more to ask               |
///                    |  v                                 |
///                    ExpectData --------- DATA, accepted -'
/// ```
///
/// What a state does not expect is answered with `ERROR` and changes nothing; `BEGIN` too early
/// ends the connection. Both are as in the chapter "Server states".
///
/// Call [`receive`](Self::receive) with every chunk until it says [`ServerProgress::Done`] or fails, and
/// send what it wrote each time, also when it failed: it may be the last rejection. A server should
/// read no more while what was written waits to be sent.
#[derive(Debug)]
pub struct SaslServer {
    config: ServerConfig,
    lines: LineBuffer,
    tally: RejectionCount,
    state: ServerState,
}

impl SaslServer {
    /// Waits for a client's first byte.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            lines: LineBuffer::default(),
            tally: RejectionCount::default(),
            state: ServerState::ExpectNul,
        }
    }

    /// Takes bytes, however they were cut, and appends the answers to `out`.
    ///
    /// After the end of `BEGIN` no byte is taken. Once this has said `Done` or failed, it goes on
    /// to say the same and takes nothing.
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

    /// Whether the client has tried to authenticate, and nothing that it tried was accepted. If it
    /// leaves now, that is why.
    pub fn has_rejected(&self) -> bool {
        self.tally.attempts > 0 && matches!(self.state, ServerState::ExpectAuth)
    }

    /// Why the client was rejected, if it was.
    pub fn rejection(&self) -> Option<Rejection> {
        let RejectionCount { attempts, not_offered, rejections, .. } = self.tally;
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
        let Self { config, tally, .. } = self;
        let mut turn = ServerTurn { config, tally, now_unix, authority, out, at: line.at };
        let state = core::mem::replace(&mut self.state, ServerState::ExpectNul);
        let next = turn.count().and_then(|()| match ClientLine::parse(&line.bytes) {
            Ok(line) => state.receive(line, &mut turn),
            Err(_) => turn.refuse(state, MechanismRefusal::NotAscii),
        });
        self.state = next.unwrap_or_else(ServerState::from);
    }
}

/// What the machine waits for.
#[derive(Debug)]
enum ServerState {
    ExpectNul,
    ExpectAuth,
    ExpectData(MechanismExchange),
    ExpectBegin(ServerLogin),
    Finished(Result<ServerLogin, Violation>),
}

/// An exchange that waits for the client's answer.
#[derive(Debug)]
enum MechanismExchange {
    /// The client was asked who it is.
    External,
    /// The client was asked about this cookie of this user.
    Cookie { uid: u32, challenge: CookieChallenge, cookie: Cookie },
}

/// What a client has got so far.
#[derive(Clone, Copy, Debug)]
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
        turn: &mut ServerTurn<'_, A>,
    ) -> Result<Self, Violation> {
        match (self, line) {
            (state, ClientLine::Unknown(_)) => turn.refuse(state, MechanismRefusal::UnknownCommand),
            (_, ClientLine::Error(_)) => turn.reject(),
            (Self::ExpectAuth, line) => Self::receive_auth(line, turn),
            (Self::ExpectData(exchange), line) => exchange.receive(line, turn),
            (Self::ExpectBegin(login), line) => login.receive(line, turn),
            (state @ (Self::ExpectNul | Self::Finished(_)), _) => Ok(state),
        }
    }

    fn receive_auth<A: Authority>(
        line: ClientLine<'_>,
        turn: &mut ServerTurn<'_, A>,
    ) -> Result<Self, Violation> {
        match line {
            ClientLine::Auth { mechanism, initial } => turn.begin_exchange(mechanism, initial),
            ClientLine::ListMechanisms => turn.reject(),
            ClientLine::Begin => Err(Violation::BeginBeforeOk { at: turn.at }),
            ClientLine::NegotiateUnixFd => {
                turn.refuse(Self::ExpectAuth, MechanismRefusal::NotYetOk)
            }
            _ => turn.refuse(Self::ExpectAuth, MechanismRefusal::NoExchange),
        }
    }
}

impl MechanismExchange {
    fn receive<A: Authority>(
        self,
        line: ClientLine<'_>,
        turn: &mut ServerTurn<'_, A>,
    ) -> Result<ServerState, Violation> {
        match line {
            ClientLine::Data(response) => match hex::decode(response) {
                Ok(response) => self.receive_response(&response, turn),
                Err(_) => {
                    turn.refuse(ServerState::ExpectData(self), MechanismRefusal::NotHexadecimal)
                }
            },
            ClientLine::Cancel => turn.reject(),
            ClientLine::Begin => Err(Violation::BeginBeforeOk { at: turn.at }),
            ClientLine::NegotiateUnixFd => {
                turn.refuse(ServerState::ExpectData(self), MechanismRefusal::NotYetOk)
            }
            _ => turn.refuse(ServerState::ExpectData(self), MechanismRefusal::ExchangeGoesOn),
        }
    }

    fn receive_response<A: Authority>(
        self,
        response: &[u8],
        turn: &mut ServerTurn<'_, A>,
    ) -> Result<ServerState, Violation> {
        match self {
            Self::External => turn.finish_external(response),
            Self::Cookie { uid, challenge, cookie } => match Proof::parse(response) {
                Ok(proof) if proof.holds(&challenge, &cookie.secret) => {
                    turn.accept(AuthenticatedIdentity::Uid(uid))
                }
                _ => turn.reject(),
            },
        }
    }
}

impl ServerLogin {
    fn receive<A: Authority>(
        self,
        line: ClientLine<'_>,
        turn: &mut ServerTurn<'_, A>,
    ) -> Result<ServerState, Violation> {
        match (line, turn.config.fds) {
            (ClientLine::Begin, _) => Ok(ServerState::Finished(Ok(self))),
            (ClientLine::NegotiateUnixFd, FdSupport::Available) => {
                turn.reply(ServerLine::AgreeUnixFd);
                Ok(ServerState::ExpectBegin(Self { fds: FdPassing::Agreed, ..self }))
            }
            (ClientLine::NegotiateUnixFd, FdSupport::Unavailable) => {
                turn.refuse(ServerState::ExpectBegin(self), MechanismRefusal::NoFdPassing)
            }
            (ClientLine::Cancel, _) => turn.reject(),
            _ => turn.refuse(ServerState::ExpectBegin(self), MechanismRefusal::AlreadyOk),
        }
    }
}

/// What a client has used up.
#[derive(Debug, Default)]
struct RejectionCount {
    attempts: u16,
    /// Attempts with a mechanism that the server does not offer.
    not_offered: u16,
    rejections: u8,
    commands: u16,
}

/// One line's worth of work: what the states need to answer it.
struct ServerTurn<'t, A> {
    config: &'t ServerConfig,
    tally: &'t mut RejectionCount,
    now_unix: u64,
    authority: &'t mut A,
    out: &'t mut Vec<u8>,
    /// Offset of the line in the stream.
    at: u64,
}

impl<A: Authority> ServerTurn<'_, A> {
    fn count(&mut self) -> Result<(), Violation> {
        self.tally.commands += 1;
        if self.tally.commands > COMMANDS_MAX {
            return Err(Violation::TooManyCommands { at: self.at });
        }
        Ok(())
    }

    fn begin_exchange(
        &mut self,
        mechanism: &str,
        initial: Option<&str>,
    ) -> Result<ServerState, Violation> {
        // Not more than commands, of which there is a limit.
        self.tally.attempts += 1;
        let mechanism = Mechanism::from_name(mechanism);
        let Some(mechanism) = mechanism.filter(|&known| self.config.mechanisms.contains(known))
        else {
            self.tally.not_offered += 1;
            return self.reject();
        };
        let Ok(initial) = initial.map(hex::decode).transpose() else {
            return self.refuse(ServerState::ExpectAuth, MechanismRefusal::NotHexadecimal);
        };
        match (mechanism, initial) {
            (Mechanism::External, None) => self.begin_external(),
            (Mechanism::External, Some(identity)) => self.finish_external(&identity),
            // The client speaks first in this mechanism, and did not.
            (Mechanism::DbusCookieSha1, None) => self.reject(),
            (Mechanism::DbusCookieSha1, Some(user)) => self.begin_cookie(&user),
            (Mechanism::Anonymous, trace) => self.finish_anonymous(&trace.unwrap_or_default()),
        }
    }

    /// Asks the client for the identity that it left out, unless none could be right.
    fn begin_external(&mut self) -> Result<ServerState, Violation> {
        if self.config.peer.uid.is_none() {
            return self.reject();
        }
        self.reply(ServerLine::Data(""));
        Ok(ServerState::ExpectData(MechanismExchange::External))
    }

    /// An empty identity asks for the user whom the system names; any other must be that user's
    /// number. Login names are not looked up for somebody of whom nothing is known yet.
    fn finish_external(&mut self, identity: &[u8]) -> Result<ServerState, Violation> {
        match self.config.peer.uid {
            Some(uid) if identity.is_empty() || uid_from_digits(identity) == Some(uid) => {
                self.accept(AuthenticatedIdentity::Uid(uid))
            }
            _ => self.reject(),
        }
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

    /// The client may say something for the log, which must be text.
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
        self.tally.rejections += 1;
        if self.tally.rejections == REJECTIONS_MAX {
            return Err(Violation::TooManyRejections { at: self.at });
        }
        Ok(ServerState::ExpectAuth)
    }

    /// Says why a line is not for this state, which stays.
    fn refuse(
        &mut self,
        state: ServerState,
        why: MechanismRefusal,
    ) -> Result<ServerState, Violation> {
        self.reply(ServerLine::Error(why.explanation()));
        Ok(state)
    }

    fn reply(&mut self, line: ServerLine<'_>) {
        line.write(self.out);
    }
}

/// Why a line is answered with `ERROR`.
#[derive(Clone, Copy)]
enum MechanismRefusal {
    UnknownCommand,
    NotAscii,
    NotHexadecimal,
    NoExchange,
    ExchangeGoesOn,
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
            Self::ExchangeGoesOn => "Answer with DATA or give up with CANCEL",
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
