//! From the first byte to a connection with a name.

use wire::body::ReadError;
use wire::guid::Guid;
use wire::names::BusName;
use wire::sasl::client::{
    AuthenticationFailure, AuthenticationPlan, ClientConfig, ClientProgress, Cookies, FdWish,
    SaslClient,
};

use super::{CallHandle, Core, CoreConfig, Filed, NoReply, RemoteError};
use crate::driver;

/// How a connection begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandshakeConfig {
    /// How to authenticate.
    pub plan: AuthenticationPlan,
    /// Whether to ask for descriptors.
    pub fds: FdWish,
    /// What the connection will keep.
    pub core: CoreConfig,
}

/// Authentication and the first call, `Hello`.
///
/// ```text
///   poll_transmit ──> bytes to send          Authenticating ──> Greeting ──> Established
///   handle_received <── bytes that came          (lines)         (Hello)
/// ```
///
/// With [`AuthenticationPlan::AtOnce`] everything leaves in the first write, `Hello` included, and the whole
/// handshake takes one round trip.
pub struct ClientHandshake<D> {
    out: Vec<u8>,
    client: SaslClient,
    core: Core<D>,
    hello: CallHandle,
    state: HandshakeState,
}

enum HandshakeState {
    Authenticating,
    Greeting { guid: Option<Guid> },
}

/// Where a handshake stands.
pub enum HandshakeStage<D> {
    /// Send what there is to send, and wait for more bytes.
    Unfinished(ClientHandshake<D>),
    /// Done.
    Established(Established<D>),
}

/// A connection that has its name.
pub struct Established<D> {
    /// The connection.
    pub core: Core<D>,
    /// The unique name that the bus gave.
    pub unique_name: Box<str>,
    /// The GUID of the address that the server listens at.
    pub guid: Option<Guid>,
}

impl<D> ClientHandshake<D> {
    /// Writes the first bytes to send.
    pub fn start(config: HandshakeConfig) -> Self {
        let HandshakeConfig { plan, fds, core } = config;
        let at_once = matches!(plan, AuthenticationPlan::AtOnce(_));
        let mut core = Core::new(core);
        let hello = core
            .call(&driver::method(driver::HELLO), &(), Vec::new(), None)
            .expect("a call without arguments can be written");
        let mut out = Vec::new();
        let client = SaslClient::start(ClientConfig { plan, fds }, &mut out);
        let mut handshake =
            Self { out, client, core, hello, state: HandshakeState::Authenticating };
        if at_once {
            handshake.send_hello();
        }
        handshake
    }

    /// Bytes to send; empty when there are none.
    pub fn poll_transmit(&self) -> &[u8] {
        &self.out
    }

    /// Takes note that so many of the bytes were sent.
    pub fn transmitted(&mut self, count: usize) {
        self.out.drain(..count);
    }

    /// Takes bytes that came, and gives back the connection once it has its name.
    pub fn handle_received(
        mut self,
        bytes: &[u8],
        cookies: &mut impl Cookies,
    ) -> Result<HandshakeStage<D>, HandshakeError> {
        let mut rest = bytes;
        if let HandshakeState::Authenticating = self.state {
            let progress = self.client.receive(bytes, cookies, &mut self.out)?;
            let ClientProgress::Done { consumed, guid, fds } = progress else {
                return Ok(HandshakeStage::Unfinished(self));
            };
            rest = &bytes[consumed..];
            self.core.config.fds = fds;
            self.send_hello();
            self.state = HandshakeState::Greeting { guid };
        }
        self.core.handle_bytes(rest);
        self.receive_name()
    }

    /// Moves the first call behind the lines, if it is not there yet.
    fn send_hello(&mut self) {
        while let Some(transmit) = self.core.poll_transmit() {
            let count = transmit.bytes.len();
            self.out.extend_from_slice(transmit.bytes);
            self.core.transmitted(count);
        }
    }

    /// Sorts messages up to the reply to `Hello`; those behind it are for later.
    fn receive_name(mut self) -> Result<HandshakeStage<D>, HandshakeError> {
        let guid = match self.state {
            HandshakeState::Greeting { guid } => guid,
            HandshakeState::Authenticating => return Ok(HandshakeStage::Unfinished(self)),
        };
        loop {
            match self.core.poll_message() {
                Some(Filed::Reply(call)) if call == self.hello => break,
                Some(_) => {}
                None if self.core.ended().is_some() => break,
                None => return Ok(HandshakeStage::Unfinished(self)),
            }
        }
        let outcome = self.core.poll_reply(self.hello).expect("it has come, or cannot come");
        let reply = outcome.map_err(HandshakeError::NoReply)?;
        if let Some(error) = reply.remote_error() {
            return Err(HandshakeError::Refused(error));
        }
        let (unique_name,) = reply.read::<(BusName<'_>,)>().map_err(HandshakeError::Name)?;
        let unique_name = unique_name.as_str().into();
        Ok(HandshakeStage::Established(Established { core: self.core, unique_name, guid }))
    }
}

/// Why a connection did not get its name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The two sides found no way to authenticate.
    #[error(transparent)]
    Authentication(#[from] AuthenticationFailure),
    /// The bus answered `Hello` with an error: it has too many connections, for example.
    #[error("the bus refused the connection: {0}")]
    Refused(RemoteError),
    /// There was no answer to `Hello`.
    #[error("the bus did not answer: {0}")]
    NoReply(NoReply),
    /// The answer to `Hello` is no name.
    #[error("the bus gave no name: {0}")]
    Name(ReadError),
}
