//! The client's side of authentication.

use alloc::string::{String, ToString as _};
use alloc::vec::{self, Vec};
use core::fmt;

use super::cookie::{CHALLENGE_LEN, Challenge, Context, Proof};
use super::line::{ClientLine, Line, LineError, Lines, ServerLine};
use super::{FdPassing, Mechanism};
use crate::guid::Guid;
use crate::hex;

/// What a client wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClientConfig {
    /// How to authenticate.
    pub plan: Plan,
    /// Whether to ask for file descriptors.
    pub fds: FdWish,
}

/// Whether a client asks for its messages to carry file descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FdWish {
    /// It asks, and goes on without if the server refuses.
    Wanted,
    /// It does not ask: its socket could not pass them, or its program does not need them.
    NotWanted,
}

/// How to authenticate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Makes an attempt, waits for the answer, and goes on to the next if it is rejected.
    InTurn {
        /// The first attempt, made before it is known what the server offers.
        first: Attempt,
        /// The others; those that the server does not offer are passed over.
        then: Vec<Attempt>,
    },
    /// Sends everything up to `BEGIN` at once, so that messages may follow without waiting. There
    /// is no second attempt: if the first is rejected, the server ends the connection.
    AtOnce(Direct),
}

/// One way to authenticate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// One that needs no challenge.
    Direct(Direct),
    /// `DBUS_COOKIE_SHA1`
    Cookie {
        /// The login name, or the user's number in digits.
        user: String,
    },
}

impl From<Direct> for Attempt {
    fn from(direct: Direct) -> Self {
        Self::Direct(direct)
    }
}

/// An attempt in which nothing depends on what the server says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Direct {
    /// `EXTERNAL`, as this user.
    External {
        /// The user.
        uid: u32,
    },
    /// `EXTERNAL`, as whichever user the server's system sees: for a client that cannot know how
    /// the server numbers users, as in a user namespace.
    ExternalAsSeen,
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
    fn secret(&mut self, context: &Context, id: u32) -> Option<String>;

    /// Bytes that nobody can foretell.
    fn random(&mut self) -> [u8; CHALLENGE_LEN];
}

/// For a client that makes no attempt with cookies.
#[derive(Clone, Copy, Debug)]
pub struct NoCookies;

impl Cookies for NoCookies {
    fn secret(&mut self, _: &Context, _: u32) -> Option<String> {
        None
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        [0; CHALLENGE_LEN]
    }
}

/// What to do after [`Client::receive`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
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
pub enum Failure {
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

impl fmt::Display for Failure {
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
                write!(f, "the server's line at byte {at} is one more than {ANSWERS_MAX}")
            }
        }
    }
}

impl core::error::Error for Failure {}

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
/// `Asked` is `ExpectChallenge` or `ExpectOk`, as the mechanism has it. With [`Plan::AtOnce`] the
/// states are the same, prefixed `Ahead`, and have no way back, since everything was sent. See the
/// chapter "Client states".
///
/// Call [`receive`](Self::receive) with every chunk until it says [`Progress::Done`] or fails, and
/// send what it wrote each time.
#[derive(Debug)]
pub struct Client {
    fds: FdWish,
    untried: vec::IntoIter<Attempt>,
    lines: Lines,
    answers: u16,
    state: State,
}

impl Client {
    /// Writes the first bytes to send.
    pub fn start(config: ClientConfig, out: &mut Vec<u8>) -> Self {
        let ClientConfig { plan, fds } = config;
        out.push(0);
        let (state, untried) = match plan {
            Plan::InTurn { first, then } => (first.begin(out), then),
            Plan::AtOnce(direct) => (direct.send_all(fds, out), Vec::new()),
        };
        Self { fds, untried: untried.into_iter(), lines: Lines::default(), answers: 0, state }
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
    ) -> Result<Progress, Failure> {
        let mut rest = input;
        loop {
            if let State::Finished(outcome) = &self.state {
                let consumed = input.len() - rest.len();
                return outcome.clone().map(|Login { guid, fds }| Progress::Done {
                    consumed,
                    guid,
                    fds,
                });
            }
            match self.lines.next(&mut rest) {
                Ok(None) => return Ok(Progress::NeedMore),
                Ok(Some(line)) => self.receive_line(&line, cookies, out),
                Err(error) => self.state = Failure::LineTooLong { at: error.at }.into(),
            }
        }
    }

    fn receive_line(&mut self, line: &Line, cookies: &mut impl Cookies, out: &mut Vec<u8>) {
        let state = core::mem::replace(&mut self.state, State::ExpectRejected);
        self.answers += 1;
        self.state = match ServerLine::parse(&line.bytes) {
            _ if self.answers > ANSWERS_MAX => Failure::TooManyAnswers { at: line.at }.into(),
            Err(error) => Failure::NotAscii { at: line.at, error }.into(),
            Ok(parsed) => {
                let mut turn = Turn { fds: self.fds, untried: &mut self.untried, out, at: line.at };
                state.receive(parsed, &mut turn, cookies)
            }
        };
    }
}

impl Attempt {
    const fn mechanism(&self) -> Mechanism {
        match self {
            Self::Direct(Direct::External { .. } | Direct::ExternalAsSeen) => Mechanism::External,
            Self::Direct(Direct::Anonymous { .. }) => Mechanism::Anonymous,
            Self::Cookie { .. } => Mechanism::DbusCookieSha1,
        }
    }

    fn begin(&self, out: &mut Vec<u8>) -> State {
        match self {
            Self::Direct(direct) => direct.begin(out),
            Self::Cookie { user } => {
                write_auth(Mechanism::DbusCookieSha1, Some(user.as_bytes()), out);
                State::ExpectChallenge(Mechanism::DbusCookieSha1)
            }
        }
    }
}

impl Direct {
    fn begin(&self, out: &mut Vec<u8>) -> State {
        match self {
            Self::External { uid } => {
                write_auth(Mechanism::External, Some(uid.to_string().as_bytes()), out);
                State::ExpectOk
            }
            Self::ExternalAsSeen => {
                write_auth(Mechanism::External, None, out);
                State::ExpectChallenge(Mechanism::External)
            }
            Self::Anonymous { trace } => {
                let trace = if trace.is_empty() { TRACE_DEFAULT } else { trace };
                write_auth(Mechanism::Anonymous, Some(trace.as_bytes()), out);
                State::ExpectOk
            }
        }
    }

    fn send_all(&self, fds: FdWish, out: &mut Vec<u8>) -> State {
        let state = match self.begin(out) {
            State::ExpectChallenge(_) => {
                ClientLine::Data("").write(out);
                State::AheadExpectChallenge
            }
            _ => State::AheadExpectOk,
        };
        if fds == FdWish::Wanted {
            ClientLine::NegotiateUnixFd.write(out);
        }
        ClientLine::Begin.write(out);
        state
    }
}

/// What the machine waits for.
#[derive(Debug)]
enum State {
    /// The server's challenge in this mechanism.
    ExpectChallenge(Mechanism),
    /// The client has said all that the mechanism has it say.
    ExpectOk,
    /// The client gave an attempt up.
    ExpectRejected,
    /// The client asked to pass file descriptors.
    ExpectAgreement(Option<Guid>),
    /// Everything was sent, the answer to an empty challenge among it.
    AheadExpectChallenge,
    /// Everything was sent.
    AheadExpectOk,
    /// Everything was sent, and the server has accepted the client.
    AheadExpectAgreement(Option<Guid>),
    Finished(Result<Login, Failure>),
}

/// What a client has got.
#[derive(Clone, Copy, Debug)]
struct Login {
    guid: Option<Guid>,
    fds: FdPassing,
}

impl From<Failure> for State {
    fn from(failure: Failure) -> Self {
        Self::Finished(Err(failure))
    }
}

impl From<Login> for State {
    fn from(login: Login) -> Self {
        Self::Finished(Ok(login))
    }
}

impl State {
    fn receive(
        self,
        line: ServerLine<'_>,
        turn: &mut Turn<'_>,
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
            (state, line) => turn.receive_ahead(state, line),
        }
    }
}

/// One line's worth of work: what the states need to answer it.
struct Turn<'t> {
    fds: FdWish,
    untried: &'t mut vec::IntoIter<Attempt>,
    out: &'t mut Vec<u8>,
    /// Offset of the line in the stream.
    at: u64,
}

impl Turn<'_> {
    fn accepted(&mut self, guid: &str) -> State {
        let guid = Guid::parse(guid).ok();
        match self.fds {
            FdWish::Wanted => {
                ClientLine::NegotiateUnixFd.write(self.out);
                State::ExpectAgreement(guid)
            }
            FdWish::NotWanted => {
                ClientLine::Begin.write(self.out);
                Login { guid, fds: FdPassing::Off }.into()
            }
        }
    }

    fn agreed(&mut self, guid: Option<Guid>, line: ServerLine<'_>) -> State {
        match self.agreement(guid, line) {
            Ok(login) => {
                ClientLine::Begin.write(self.out);
                login.into()
            }
            Err(failure) => failure.into(),
        }
    }

    fn agreement(&self, guid: Option<Guid>, line: ServerLine<'_>) -> Result<Login, Failure> {
        match line {
            ServerLine::AgreeUnixFd => Ok(Login { guid, fds: FdPassing::Agreed }),
            ServerLine::Error(_) => Ok(Login { guid, fds: FdPassing::Off }),
            other => Err(self.unexpected(other)),
        }
    }

    /// Goes on to the first attempt that was not made and is offered.
    fn next_attempt(&mut self, offered: &str) -> State {
        let names = offered.split_ascii_whitespace();
        // A server may keep its list to itself.
        let is_offered = |attempt: &Attempt| {
            offered.is_empty() || names.clone().any(|name| name == attempt.mechanism().name())
        };
        match self.untried.find(is_offered) {
            Some(attempt) => attempt.begin(self.out),
            None => Failure::Rejected { at: self.at, offered: offered.into() }.into(),
        }
    }

    fn answer(
        &mut self,
        mechanism: Mechanism,
        challenge: &str,
        cookies: &mut impl Cookies,
    ) -> State {
        let response = match mechanism {
            Mechanism::DbusCookieSha1 => prove(challenge, cookies),
            // Nothing to say: the server's system knows.
            Mechanism::External | Mechanism::Anonymous => Some(String::new()),
        };
        match response {
            Some(response) => {
                ClientLine::Data(&response).write(self.out);
                State::ExpectOk
            }
            None => self.cancel(),
        }
    }

    fn cancel(&mut self) -> State {
        ClientLine::Cancel.write(self.out);
        State::ExpectRejected
    }

    /// Says that the line is not for this state, which stays.
    fn refuse(&mut self, state: State) -> State {
        ClientLine::Error("This command is not expected now").write(self.out);
        state
    }

    /// What the states do that can only go forward, or fail.
    fn receive_ahead(&self, state: State, line: ServerLine<'_>) -> State {
        match (state, line) {
            (State::AheadExpectChallenge, ServerLine::Data(_)) => State::AheadExpectOk,
            // An OK to what was to be challenged would leave the answer, sent already, without a
            // place, and all lines after it would be misread: so only `AheadExpectOk` takes one.
            (State::AheadExpectOk, ServerLine::Ok(guid)) => {
                let guid = Guid::parse(guid).ok();
                match self.fds {
                    FdWish::Wanted => State::AheadExpectAgreement(guid),
                    FdWish::NotWanted => Login { guid, fds: FdPassing::Off }.into(),
                }
            }
            (State::AheadExpectChallenge | State::AheadExpectOk, ServerLine::Rejected(offered)) => {
                Failure::Rejected { at: self.at, offered: offered.into() }.into()
            }
            (State::AheadExpectAgreement(guid), line) => {
                self.agreement(guid, line).map_or_else(State::from, State::from)
            }
            (_, line) => self.unexpected(line).into(),
        }
    }

    fn unexpected(&self, line: ServerLine<'_>) -> Failure {
        Failure::Unexpected { at: self.at, found: line.to_string() }
    }
}

/// The answer to a server's challenge, in hexadecimal; `None` if it cannot be given.
fn prove(challenge: &str, cookies: &mut impl Cookies) -> Option<String> {
    let challenge = Challenge::parse(&hex::decode(challenge).ok()?).ok()?;
    let secret = cookies.secret(&challenge.context, challenge.cookie_id)?;
    let proof = Proof::of(&challenge, cookies.random(), &secret);
    Some(hex::encode(proof.to_string().as_bytes()))
}

fn write_auth(mechanism: Mechanism, initial: Option<&[u8]>, out: &mut Vec<u8>) {
    let initial = initial.map(hex::encode);
    ClientLine::Auth { mechanism: mechanism.name(), initial: initial.as_deref() }.write(out);
}
