//! The client side of authentication ("Client states").

use alloc::string::{String, ToString as _};
use alloc::vec::{self, Vec};
use core::fmt;

use super::cookie::{CHALLENGE_LEN, CookieChallenge, CookieContext, Proof};
use super::line::{ClientLine, LineBuffer, LineError, SaslLine, ServerLine};
use super::{FdPassing, Mechanism};
use crate::guid::Guid;
use crate::hex;

/// The settings of a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientConfig {
    /// The mechanisms to try, and their order.
    pub plan: AuthenticationPlan,
    /// Whether to negotiate descriptor passing.
    pub fds: FdNegotiation,
}

/// Whether a client negotiates the passing of file descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FdNegotiation {
    /// The client requests it, and continues without it if the server refuses.
    Requested,
    /// The client does not request it, because the socket cannot pass descriptors or the program
    /// does not need them.
    NotRequested,
}

/// The order of authentication attempts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthenticationPlan {
    /// Makes an attempt, waits for the answer, and makes the next attempt if it is rejected.
    Sequential {
        /// The first attempt, made before the server's mechanisms are known.
        first: AuthenticationAttempt,
        /// The later attempts; mechanisms that the server does not offer are skipped.
        then: Vec<AuthenticationAttempt>,
    },
    /// Sends everything up to `BEGIN` at once, so that messages can follow without waiting. There
    /// is only one attempt: if it is rejected, the server closes the connection.
    Pipelined(DirectAttempt),
}

/// An attempt with one mechanism.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthenticationAttempt {
    /// An attempt without a challenge.
    Direct(DirectAttempt),
    /// The mechanism `DBUS_COOKIE_SHA1`, as this user.
    Cookie {
        /// The login name, or the user ID in digits.
        user: String,
    },
}

impl From<DirectAttempt> for AuthenticationAttempt {
    fn from(direct: DirectAttempt) -> Self {
        Self::Direct(direct)
    }
}

/// An attempt whose lines do not depend on the answers of the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DirectAttempt {
    /// The mechanism `EXTERNAL`, as this user.
    External {
        /// The user ID of the client.
        uid: u32,
    },
    /// The mechanism `EXTERNAL`, as the user that the server's kernel reports: for a client that
    /// does not know its user ID in the server's user namespace.
    ExternalWithoutUid,
    /// The mechanism `ANONYMOUS`, without an identity.
    Anonymous {
        /// A text for the server's log. An empty text is replaced by [`TRACE_DEFAULT`], because an
        /// empty initial response cannot be written, and the server would have to ask for it.
        trace: String,
    },
}

/// The default text for the server's log in `ANONYMOUS`.
pub const TRACE_DEFAULT: &str = "diligence";

/// The callbacks of the client for `DBUS_COOKIE_SHA1`; other mechanisms do not use them.
pub trait Cookies {
    /// The secret of this cookie, from the user's file for this context; `None` if there is none.
    /// The implementation must ignore a directory that other users can read or write.
    fn secret(&mut self, context: &CookieContext, id: u32) -> Option<String>;

    /// Bytes that other processes cannot predict.
    fn random(&mut self) -> [u8; CHALLENGE_LEN];
}

/// The callbacks for a client that does not try `DBUS_COOKIE_SHA1`.
#[derive(Clone, Copy, Debug)]
pub struct NoCookies;

impl Cookies for NoCookies {
    fn secret(&mut self, _: &CookieContext, _: u32) -> Option<String> {
        None
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        [0; CHALLENGE_LEN]
    }
}

/// The next step after [`SaslClient::receive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientProgress {
    /// Send the output, then wait for more bytes.
    NeedMore,
    /// Send the output, which ends with `BEGIN`, and then messages.
    Done {
        /// Number of input bytes that belong to the authentication; the rest is messages.
        consumed: usize,
        /// The GUID of the server's address; `None` if the server sent an invalid one.
        guid: Option<Guid>,
        /// Whether messages can carry file descriptors.
        fds: FdPassing,
    },
}

/// The reason why authentication failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AuthenticationFailure {
    /// The server rejected the last attempt.
    Rejected {
        /// Offset of the `REJECTED` line in the stream.
        at: u64,
        /// The mechanisms that the server offers, as it lists them; may be empty.
        offered: String,
    },
    /// The server sent a line that is not valid in this state.
    Unexpected {
        /// Offset of the line in the stream.
        at: u64,
        /// The line without its `\r\n`.
        found: String,
    },
    /// The server sent a line that is not ASCII.
    NotAscii {
        /// Offset of the line in the stream.
        at: u64,
        /// The position of the byte in the line.
        error: LineError,
    },
    /// A line is longer than [`LINE_LEN_MAX`](super::line::LINE_LEN_MAX).
    LineTooLong {
        /// Offset of the line in the stream.
        at: u64,
    },
    /// The server sent more than [`ANSWERS_MAX`] lines without completing the authentication.
    TooManyAnswers {
        /// Offset in the stream of the first line over the limit.
        at: u64,
    },
}

impl fmt::Display for AuthenticationFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { offered, .. } if offered.is_empty() => {
                f.write_str("the server rejected the authentication")
            }
            Self::Rejected { offered, .. } => {
                write!(f, "the server rejected the authentication; it offers {offered}")
            }
            Self::Unexpected { at, found } => {
                write!(f, "the server's line {found:?} at byte {at} is not expected here")
            }
            Self::NotAscii { at, error } => {
                write!(f, "the server's line at byte {at} is not text: {error}")
            }
            Self::LineTooLong { at } => write!(f, "the server's line at byte {at} is too long"),
            Self::TooManyAnswers { at } => {
                write!(f, "the server's line at byte {at} exceeds the limit of {ANSWERS_MAX} lines")
            }
        }
    }
}

impl core::error::Error for AuthenticationFailure {}

/// Maximum number of lines from a server. An exchange takes three.
pub const ANSWERS_MAX: u16 = 256;

/// The state machine of a client: takes the server's bytes, and produces bytes to send.
///
/// ```text
///                 REJECTED: next attempt
///               .------------------------.
///               v                        |
///  start --> Asked --DATA--> Asked       |  OK    ExpectAgreement --AGREE_UNIX_FD--> Finished
///               |  |                     |   .--->        |
///         ERROR |  '---------------------+---'            '--ERROR (no descriptors)---^
///               v                        |
///          ExpectRejected ---------------'
/// ```
///
/// `Asked` is `ExpectChallenge` or `ExpectOk`, depending on the mechanism. With
/// [`AuthenticationPlan::Pipelined`] the states have the prefix `Pipelined`, and there is no second
/// attempt, because everything was sent. See the chapter "Client states".
///
/// Call [`receive`](Self::receive) with every chunk until it returns [`ClientProgress::Done`] or an
/// error, and send the output each time.
#[derive(Debug)]
pub struct SaslClient {
    fds: FdNegotiation,
    untried: vec::IntoIter<AuthenticationAttempt>,
    lines: LineBuffer,
    answers: u16,
    state: ClientState,
}

impl SaslClient {
    /// Starts the authentication: writes the first bytes to send.
    pub fn start(config: ClientConfig, out: &mut Vec<u8>) -> Self {
        let ClientConfig { plan, fds } = config;
        out.push(0);
        let (state, untried) = match plan {
            AuthenticationPlan::Sequential { first, then } => (first.begin(out), then),
            AuthenticationPlan::Pipelined(direct) => (direct.send_all(fds, out), Vec::new()),
        };
        Self { fds, untried: untried.into_iter(), lines: LineBuffer::default(), answers: 0, state }
    }

    /// Processes received bytes, in chunks of any size, and appends the answers to `out`.
    ///
    /// Bytes after the last line of the authentication are not consumed. After `Done` or an error,
    /// further calls return the same result and consume no bytes.
    ///
    /// # Errors
    ///
    /// If the server rejected all attempts, or violated the protocol.
    pub fn receive(
        &mut self,
        input: &[u8],
        cookies: &mut impl Cookies,
        out: &mut Vec<u8>,
    ) -> Result<ClientProgress, AuthenticationFailure> {
        let mut rest = input;
        loop {
            if let ClientState::Finished(outcome) = &self.state {
                let consumed = input.len() - rest.len();
                return outcome.clone().map(|ClientLogin { guid, fds }| ClientProgress::Done {
                    consumed,
                    guid,
                    fds,
                });
            }
            match self.lines.next(&mut rest) {
                Ok(None) => return Ok(ClientProgress::NeedMore),
                Ok(Some(line)) => self.receive_line(&line, cookies, out),
                Err(error) => {
                    self.state = AuthenticationFailure::LineTooLong { at: error.at }.into()
                }
            }
        }
    }

    fn receive_line(&mut self, line: &SaslLine, cookies: &mut impl Cookies, out: &mut Vec<u8>) {
        let state = core::mem::replace(&mut self.state, ClientState::ExpectRejected);
        self.answers += 1;
        self.state = match ServerLine::parse(&line.bytes) {
            _ if self.answers > ANSWERS_MAX => {
                AuthenticationFailure::TooManyAnswers { at: line.at }.into()
            }
            Err(error) => AuthenticationFailure::NotAscii { at: line.at, error }.into(),
            Ok(parsed) => {
                let mut step =
                    ClientStep { fds: self.fds, untried: &mut self.untried, out, at: line.at };
                state.receive(parsed, &mut step, cookies)
            }
        };
    }
}

impl AuthenticationAttempt {
    const fn mechanism(&self) -> Mechanism {
        match self {
            Self::Direct(DirectAttempt::External { .. } | DirectAttempt::ExternalWithoutUid) => {
                Mechanism::External
            }
            Self::Direct(DirectAttempt::Anonymous { .. }) => Mechanism::Anonymous,
            Self::Cookie { .. } => Mechanism::DbusCookieSha1,
        }
    }

    fn begin(&self, out: &mut Vec<u8>) -> ClientState {
        match self {
            Self::Direct(direct) => direct.begin(out),
            Self::Cookie { user } => {
                write_auth(Mechanism::DbusCookieSha1, Some(user.as_bytes()), out);
                ClientState::ExpectChallenge(Mechanism::DbusCookieSha1)
            }
        }
    }
}

impl DirectAttempt {
    fn begin(&self, out: &mut Vec<u8>) -> ClientState {
        match self {
            Self::External { uid } => {
                write_auth(Mechanism::External, Some(uid.to_string().as_bytes()), out);
                ClientState::ExpectOk
            }
            Self::ExternalWithoutUid => {
                write_auth(Mechanism::External, None, out);
                ClientState::ExpectChallenge(Mechanism::External)
            }
            Self::Anonymous { trace } => {
                let trace = if trace.is_empty() { TRACE_DEFAULT } else { trace };
                write_auth(Mechanism::Anonymous, Some(trace.as_bytes()), out);
                ClientState::ExpectOk
            }
        }
    }

    fn send_all(&self, fds: FdNegotiation, out: &mut Vec<u8>) -> ClientState {
        let state = match self.begin(out) {
            ClientState::ExpectChallenge(_) => {
                ClientLine::Data("").write(out);
                ClientState::PipelinedExpectChallenge
            }
            _ => ClientState::PipelinedExpectOk,
        };
        if fds == FdNegotiation::Requested {
            ClientLine::NegotiateUnixFd.write(out);
        }
        ClientLine::Begin.write(out);
        state
    }
}

/// The state: which line the client waits for.
#[derive(Debug)]
enum ClientState {
    /// The server's challenge in this mechanism.
    ExpectChallenge(Mechanism),
    /// The client sent the last response of the mechanism.
    ExpectOk,
    /// The client canceled an attempt.
    ExpectRejected,
    /// The client requested descriptor passing.
    ExpectAgreement(Option<Guid>),
    /// Everything was sent, including the response to an empty challenge.
    PipelinedExpectChallenge,
    /// Everything was sent, and the mechanism has no challenge.
    PipelinedExpectOk,
    /// Everything was sent, and the server accepted the client.
    PipelinedExpectAgreement(Option<Guid>),
    Finished(Result<ClientLogin, AuthenticationFailure>),
}

/// The result of a successful authentication.
#[derive(Clone, Copy, Debug)]
struct ClientLogin {
    guid: Option<Guid>,
    fds: FdPassing,
}

impl From<AuthenticationFailure> for ClientState {
    fn from(failure: AuthenticationFailure) -> Self {
        Self::Finished(Err(failure))
    }
}

impl From<ClientLogin> for ClientState {
    fn from(login: ClientLogin) -> Self {
        Self::Finished(Ok(login))
    }
}

impl ClientState {
    fn receive(
        self,
        line: ServerLine<'_>,
        step: &mut ClientStep<'_>,
        cookies: &mut impl Cookies,
    ) -> Self {
        match (self, line) {
            (Self::ExpectChallenge(_) | Self::ExpectOk, ServerLine::Ok(guid)) => {
                step.accepted(guid)
            }
            (
                Self::ExpectChallenge(_) | Self::ExpectOk | Self::ExpectRejected,
                ServerLine::Rejected(offered),
            ) => step.next_attempt(offered),
            (Self::ExpectChallenge(mechanism), ServerLine::Data(challenge)) => {
                step.answer(mechanism, challenge, cookies)
            }
            (Self::ExpectChallenge(_) | Self::ExpectOk, ServerLine::Error(_))
            | (Self::ExpectOk, ServerLine::Data(_)) => step.cancel(),
            (state @ (Self::ExpectChallenge(_) | Self::ExpectOk), _) => step.refuse(state),
            (Self::ExpectAgreement(guid), line) => step.agreed(guid, line),
            (state, line) => step.receive_pipelined(state, line),
        }
    }
}

/// The context for processing one line.
struct ClientStep<'t> {
    fds: FdNegotiation,
    untried: &'t mut vec::IntoIter<AuthenticationAttempt>,
    out: &'t mut Vec<u8>,
    /// Offset of the line in the stream.
    at: u64,
}

impl ClientStep<'_> {
    fn accepted(&mut self, guid: &str) -> ClientState {
        let guid = Guid::parse(guid).ok();
        match self.fds {
            FdNegotiation::Requested => {
                ClientLine::NegotiateUnixFd.write(self.out);
                ClientState::ExpectAgreement(guid)
            }
            FdNegotiation::NotRequested => {
                ClientLine::Begin.write(self.out);
                ClientLogin { guid, fds: FdPassing::Off }.into()
            }
        }
    }

    fn agreed(&mut self, guid: Option<Guid>, line: ServerLine<'_>) -> ClientState {
        match self.agreement(guid, line) {
            Ok(login) => {
                ClientLine::Begin.write(self.out);
                login.into()
            }
            Err(failure) => failure.into(),
        }
    }

    fn agreement(
        &self,
        guid: Option<Guid>,
        line: ServerLine<'_>,
    ) -> Result<ClientLogin, AuthenticationFailure> {
        match line {
            ServerLine::AgreeUnixFd => Ok(ClientLogin { guid, fds: FdPassing::Agreed }),
            ServerLine::Error(_) => Ok(ClientLogin { guid, fds: FdPassing::Off }),
            other => Err(self.unexpected(other)),
        }
    }

    /// Makes the next attempt with a mechanism that is offered.
    fn next_attempt(&mut self, offered: &str) -> ClientState {
        let names = offered.split_ascii_whitespace();
        // A server may send an empty list, so try all mechanisms then.
        let is_offered = |attempt: &AuthenticationAttempt| {
            offered.is_empty() || names.clone().any(|name| name == attempt.mechanism().name())
        };
        match self.untried.find(is_offered) {
            Some(attempt) => attempt.begin(self.out),
            None => AuthenticationFailure::Rejected { at: self.at, offered: offered.into() }.into(),
        }
    }

    fn answer(
        &mut self,
        mechanism: Mechanism,
        challenge: &str,
        cookies: &mut impl Cookies,
    ) -> ClientState {
        let response = match mechanism {
            Mechanism::DbusCookieSha1 => prove(challenge, cookies),
            // The response is empty: the server's kernel reports the user.
            Mechanism::External | Mechanism::Anonymous => Some(String::new()),
        };
        match response {
            Some(response) => {
                ClientLine::Data(&response).write(self.out);
                ClientState::ExpectOk
            }
            None => self.cancel(),
        }
    }

    fn cancel(&mut self) -> ClientState {
        ClientLine::Cancel.write(self.out);
        ClientState::ExpectRejected
    }

    /// Answers `ERROR`, because the line is not valid in this state, and keeps the state.
    fn refuse(&mut self, state: ClientState) -> ClientState {
        ClientLine::Error("This command is not expected here").write(self.out);
        state
    }

    /// Processes a line in the pipelined states.
    fn receive_pipelined(&self, state: ClientState, line: ServerLine<'_>) -> ClientState {
        match (state, line) {
            (ClientState::PipelinedExpectChallenge, ServerLine::Data(_)) => {
                ClientState::PipelinedExpectOk
            }
            // An early OK would leave the response, which was already sent, unanswered, and all
            // later lines would be misinterpreted. So only `PipelinedExpectOk` accepts OK.
            (ClientState::PipelinedExpectOk, ServerLine::Ok(guid)) => {
                let guid = Guid::parse(guid).ok();
                match self.fds {
                    FdNegotiation::Requested => ClientState::PipelinedExpectAgreement(guid),
                    FdNegotiation::NotRequested => ClientLogin { guid, fds: FdPassing::Off }.into(),
                }
            }
            (
                ClientState::PipelinedExpectChallenge | ClientState::PipelinedExpectOk,
                ServerLine::Rejected(offered),
            ) => AuthenticationFailure::Rejected { at: self.at, offered: offered.into() }.into(),
            (ClientState::PipelinedExpectAgreement(guid), line) => {
                self.agreement(guid, line).map_or_else(ClientState::from, ClientState::from)
            }
            (_, line) => self.unexpected(line).into(),
        }
    }

    fn unexpected(&self, line: ServerLine<'_>) -> AuthenticationFailure {
        AuthenticationFailure::Unexpected { at: self.at, found: line.to_string() }
    }
}

/// The response to a server's challenge, in hexadecimal; `None` if there is no such cookie.
fn prove(challenge: &str, cookies: &mut impl Cookies) -> Option<String> {
    let challenge = CookieChallenge::parse(&hex::decode(challenge).ok()?).ok()?;
    let secret = cookies.secret(&challenge.context, challenge.cookie_id)?;
    let proof = Proof::of(&challenge, cookies.random(), &secret);
    Some(hex::encode(proof.to_string().as_bytes()))
}

fn write_auth(mechanism: Mechanism, initial: Option<&[u8]>, out: &mut Vec<u8>) {
    let initial = initial.map(hex::encode);
    ClientLine::Auth { mechanism: mechanism.name(), initial: initial.as_deref() }.write(out);
}
