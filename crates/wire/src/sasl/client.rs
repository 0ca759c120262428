//! The client's side of authentication.

use alloc::string::{String, ToString as _};
use alloc::vec::{self, Vec};
use core::fmt;

use super::cookie::{CHALLENGE_LEN, CookieChallenge, CookieContext, Proof};
use super::line::{ClientLine, LineBuffer, LineError, SaslLine, ServerLine};
use super::{FdPassing, Mechanism};
use crate::guid::Guid;
use crate::hex;

/// What a client wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientConfig {
    /// How to authenticate.
    pub plan: AuthenticationPlan,
    /// Whether to ask for file descriptors.
    pub fds: FdNegotiation,
}

/// Whether a client asks for its messages to carry file descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FdNegotiation {
    /// It asks, and goes on without if the server refuses.
    Requested,
    /// It does not ask: its socket could not pass them, or its program does not need them.
    NotRequested,
}

/// How to authenticate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthenticationPlan {
    /// Makes an attempt, waits for the answer, and goes on to the next if it is rejected.
    Sequential {
        /// The first attempt, made before it is known what the server offers.
        first: AuthenticationAttempt,
        /// The others; those that the server does not offer are passed over.
        then: Vec<AuthenticationAttempt>,
    },
    /// Sends everything up to `BEGIN` at once, so that messages may follow without waiting. There
    /// is no second attempt: if the first is rejected, the server ends the connection.
    Pipelined(DirectAttempt),
}

/// One way to authenticate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthenticationAttempt {
    /// One that needs no challenge.
    Direct(DirectAttempt),
    /// `DBUS_COOKIE_SHA1`
    Cookie {
        /// The login name, or the user's number in digits.
        user: String,
    },
}

impl From<DirectAttempt> for AuthenticationAttempt {
    fn from(direct: DirectAttempt) -> Self {
        Self::Direct(direct)
    }
}

/// An attempt in which nothing depends on what the server says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DirectAttempt {
    /// `EXTERNAL`, as this user.
    External {
        /// The user.
        uid: u32,
    },
    /// `EXTERNAL`, as whichever user the server's system sees: for a client that cannot know how
    /// the server numbers users, as in a user namespace.
    ExternalWithoutUid,
    /// `ANONYMOUS`
    Anonymous {
        /// Something for the server's log. An empty one is replaced by [`TRACE_DEFAULT`], since an
        /// empty first answer has no spelling and the server would have to ask for it.
        trace: String,
    },
}

/// What a client without a word of its own says in `ANONYMOUS`.
pub const TRACE_DEFAULT: &str = "diligence";

/// What the client's machine asks its program for, in `DBUS_COOKIE_SHA1` only.
pub trait Cookies {
    /// The secret of this cookie, from the user's file for this context. The program ignores a
    /// directory that others can read or write.
    fn secret(&mut self, context: &CookieContext, id: u32) -> Option<String>;

    /// Bytes that nobody can foretell.
    fn random(&mut self) -> [u8; CHALLENGE_LEN];
}

/// For a client that makes no attempt with cookies.
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

/// What to do after [`SaslClient::receive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientProgress {
    /// Send what was written, then wait for more bytes.
    NeedMore,
    /// Send what was written, `BEGIN` at its end, and then messages.
    Done {
        /// Bytes of the input that were part of the authentication; the rest is messages.
        consumed: usize,
        /// The GUID of the server's address; `None` if what the server sent is none.
        guid: Option<Guid>,
        /// Whether messages may carry file descriptors.
        fds: FdPassing,
    },
}

/// Why a client gives up.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AuthenticationFailure {
    /// The last attempt was rejected.
    Rejected {
        /// Offset in the stream of the line that says so.
        at: u64,
        /// The mechanisms that the server offers, as it lists them; may be empty.
        offered: String,
    },
    /// A line that leaves no way to go on.
    Unexpected {
        /// Offset of the line in the stream.
        at: u64,
        /// The line.
        found: String,
    },
    /// A line that is not ASCII.
    NotAscii {
        /// Offset of the line in the stream.
        at: u64,
        /// Which byte of the line.
        error: LineError,
    },
    /// A line is longer than [`LINE_LEN_MAX`](super::line::LINE_LEN_MAX).
    LineTooLong {
        /// Offset of the line in the stream.
        at: u64,
    },
    /// The server sent more than [`ANSWERS_MAX`] lines and came to no end.
    TooManyAnswers {
        /// Offset in the stream of the line that is too many.
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
                write!(f, "the server's line {found:?} at byte {at} is out of place")
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

/// Lines that a server may send. An exchange takes three.
pub const ANSWERS_MAX: u16 = 256;

/// The machine: bytes of a server in, bytes to answer with out.
///
/// ```text
///                 REJECTED: next attempt
///               .------------------------.
///               v                        |
///  start --> Asked --DATA--> Asked       |  OK    ExpectAgreement --AGREE_UNIX_FD--> Finished
///               |  |                     |   .--->        |
///         ERROR |  '---------------------+---'            '--ERROR (goes on without)--^
///               v                        |
///          ExpectRejected ---------------'
/// ```
///
/// `Asked` is `ExpectChallenge` or `ExpectOk`, as the mechanism has it. With [`AuthenticationPlan::Pipelined`] the
/// states are the same, prefixed `Pipelined`, and have no way back, since everything was sent. See the
/// chapter "Client states".
///
/// Call [`receive`](Self::receive) with every chunk until it says [`ClientProgress::Done`] or fails, and
/// send what it wrote each time.
#[derive(Debug)]
pub struct SaslClient {
    fds: FdNegotiation,
    untried: vec::IntoIter<AuthenticationAttempt>,
    lines: LineBuffer,
    answers: u16,
    state: ClientState,
}

impl SaslClient {
    /// Writes the first bytes to send.
    pub fn start(config: ClientConfig, out: &mut Vec<u8>) -> Self {
        let ClientConfig { plan, fds } = config;
        out.push(0);
        let (state, untried) = match plan {
            AuthenticationPlan::Sequential { first, then } => (first.begin(out), then),
            AuthenticationPlan::Pipelined(direct) => (direct.send_all(fds, out), Vec::new()),
        };
        Self { fds, untried: untried.into_iter(), lines: LineBuffer::default(), answers: 0, state }
    }

    /// Takes bytes, however they were cut, and appends the answers to `out`.
    ///
    /// After the last line of the authentication no byte is taken. Once this has said `Done` or
    /// failed, it goes on to say the same and takes nothing.
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
                let mut turn =
                    ClientTurn { fds: self.fds, untried: &mut self.untried, out, at: line.at };
                state.receive(parsed, &mut turn, cookies)
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

/// What the machine waits for.
#[derive(Debug)]
enum ClientState {
    /// The server's challenge in this mechanism.
    ExpectChallenge(Mechanism),
    /// The client has said all that the mechanism has it say.
    ExpectOk,
    /// The client gave an attempt up.
    ExpectRejected,
    /// The client asked to pass file descriptors.
    ExpectAgreement(Option<Guid>),
    /// Everything was sent, the answer to an empty challenge among it.
    PipelinedExpectChallenge,
    /// Everything was sent.
    PipelinedExpectOk,
    /// Everything was sent, and the server has accepted the client.
    PipelinedExpectAgreement(Option<Guid>),
    Finished(Result<ClientLogin, AuthenticationFailure>),
}

/// What a client has got.
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
        turn: &mut ClientTurn<'_>,
        cookies: &mut impl Cookies,
    ) -> Self {
        match (self, line) {
            (Self::ExpectChallenge(_) | Self::ExpectOk, ServerLine::Ok(guid)) => {
                turn.accepted(guid)
            }
            (
                Self::ExpectChallenge(_) | Self::ExpectOk | Self::ExpectRejected,
                ServerLine::Rejected(offered),
            ) => turn.next_attempt(offered),
            (Self::ExpectChallenge(mechanism), ServerLine::Data(challenge)) => {
                turn.answer(mechanism, challenge, cookies)
            }
            (Self::ExpectChallenge(_) | Self::ExpectOk, ServerLine::Error(_))
            | (Self::ExpectOk, ServerLine::Data(_)) => turn.cancel(),
            (state @ (Self::ExpectChallenge(_) | Self::ExpectOk), _) => turn.refuse(state),
            (Self::ExpectAgreement(guid), line) => turn.agreed(guid, line),
            (state, line) => turn.receive_pipelined(state, line),
        }
    }
}

/// One line's worth of work: what the states need to answer it.
struct ClientTurn<'t> {
    fds: FdNegotiation,
    untried: &'t mut vec::IntoIter<AuthenticationAttempt>,
    out: &'t mut Vec<u8>,
    /// Offset of the line in the stream.
    at: u64,
}

impl ClientTurn<'_> {
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

    /// Goes on to the first attempt that was not made and is offered.
    fn next_attempt(&mut self, offered: &str) -> ClientState {
        let names = offered.split_ascii_whitespace();
        // A server may keep its list to itself.
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
            // Nothing to say: the server's system knows.
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

    /// Says that the line is not for this state, which stays.
    fn refuse(&mut self, state: ClientState) -> ClientState {
        ClientLine::Error("This command is not expected now").write(self.out);
        state
    }

    /// What the states do that can only go forward, or fail.
    fn receive_pipelined(&self, state: ClientState, line: ServerLine<'_>) -> ClientState {
        match (state, line) {
            (ClientState::PipelinedExpectChallenge, ServerLine::Data(_)) => {
                ClientState::PipelinedExpectOk
            }
            // An OK to what was to be challenged would leave the answer, sent already, without a
            // place, and all lines after it would be misread: so only `PipelinedExpectOk` takes one.
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

/// The answer to a server's challenge, in hexadecimal; `None` if it cannot be given.
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
