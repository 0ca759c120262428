//! The handshake: authentication and `Hello`, up to a connection with a unique name.

use wire::body::ReadError;
use wire::guid::Guid;
use wire::names::{BusName, BusNameBuf};
use wire::sasl::client::{
    AuthenticationFailure, AuthenticationPlan, ClientConfig, ClientProgress, Cookies,
    FdNegotiation, SaslClient,
};

use super::{CallHandle, Core, CoreConfig, MessageDisposition, NoReply, OtherEnd, RemoteError};
use crate::driver;

/// The settings of a handshake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandshakeConfig {
    /// The mechanisms to try.
    pub plan: AuthenticationPlan,
    /// The request for descriptor passing.
    pub fds: FdNegotiation,
    /// The settings of the connection after the handshake.
    pub core: CoreConfig,
}

/// The handshake of a client: authentication and the first call, `Hello` ("Authentication
/// Protocol").
///
/// ```text
///   poll_transmit ──> bytes to send          Authenticating ──> Greeting ──> Established
///   handle_received <── received bytes           (lines)         (Hello)
/// ```
///
/// With [`AuthenticationPlan::Pipelined`] the first write contains everything, including `Hello`,
/// and the handshake takes one round trip.
pub struct ClientHandshake<D> {
    out: Vec<u8>,
    client: SaslClient,
    core: Core<D>,
    /// The call of `Hello`; `None` without a bus.
    hello: Option<CallHandle>,
    state: HandshakeState,
}

enum HandshakeState {
    Authenticating,
    Greeting { guid: Option<Guid> },
}

/// The stage of a handshake after receiving bytes.
pub enum HandshakeStage<D> {
    /// The handshake continues: send the output, if any, and wait for more bytes.
    Unfinished(ClientHandshake<D>),
    /// The handshake is complete.
    Established(Established<D>),
}

/// A connection that completed the handshake.
pub struct Established<D> {
    /// The state of the connection.
    pub core: Core<D>,
    /// The unique name that the bus assigned; `None` without a bus.
    pub unique_name: Option<BusNameBuf>,
    /// The GUID of the server's address.
    pub guid: Option<Guid>,
}

impl<D> ClientHandshake<D> {
    /// Starts a handshake and produces the first bytes to send.
    pub fn start(config: HandshakeConfig) -> Self {
        let HandshakeConfig { plan, fds, core } = config;
        let pipelined = matches!(plan, AuthenticationPlan::Pipelined(_));
        let mut core = Core::new(core);
        let hello = match core.config.other_end {
            OtherEnd::Bus => Some(
                core.call(&driver::method(driver::HELLO), &(), Vec::new(), None)
                    .expect("a call without arguments can be written"),
            ),
            OtherEnd::Peer => None,
        };
        let mut out = Vec::new();
        let client = SaslClient::start(ClientConfig { plan, fds }, &mut out);
        let mut handshake =
            Self { out, client, core, hello, state: HandshakeState::Authenticating };
        if pipelined {
            handshake.send_hello();
        }
        handshake
    }

    /// The bytes to send; empty if there are none.
    pub fn poll_transmit(&self) -> &[u8] {
        &self.out
    }

    /// Records that the first `count` bytes of the output were sent.
    pub fn transmitted(&mut self, count: usize) {
        self.out.drain(..count);
    }

    /// Processes received bytes and descriptors, and returns the connection once it has its unique
    /// name, or without a bus, once it is authenticated.
    ///
    /// # Errors
    ///
    /// If authentication fails, or the bus does not reply to `Hello` with a name.
    pub fn handle_received(
        mut self,
        bytes: &[u8],
        descriptors: impl IntoIterator<Item = D>,
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
        self.core.handle_bytes(rest, descriptors);
        self.receive_name()
    }

    /// Moves the queued call of `Hello` to the end of the output.
    fn send_hello(&mut self) {
        while let Some(transmit) = self.core.poll_transmit() {
            let count = transmit.bytes.len();
            self.out.extend_from_slice(transmit.bytes);
            self.core.transmitted(count);
        }
    }

    /// Processes messages up to the reply to `Hello`; later messages stay in the buffer.
    fn receive_name(mut self) -> Result<HandshakeStage<D>, HandshakeError> {
        let guid = match self.state {
            HandshakeState::Greeting { guid } => guid,
            HandshakeState::Authenticating => return Ok(HandshakeStage::Unfinished(self)),
        };
        let Some(hello) = self.hello else {
            let Self { out, mut core, .. } = self;
            core.outgoing.bytes.extend(out);
            let established = Established { core, unique_name: None, guid };
            return Ok(HandshakeStage::Established(established));
        };
        loop {
            match self.core.poll_message() {
                Some(MessageDisposition::Reply(call)) if call == hello => break,
                Some(_) => {}
                None if self.core.ended().is_some() => break,
                None => return Ok(HandshakeStage::Unfinished(self)),
            }
        }
        let outcome =
            self.core.poll_reply(hello).expect("the reply arrived, or the connection ended");
        let reply = outcome.map_err(HandshakeError::NoReply)?;
        if let Some(error) = reply.remote_error() {
            return Err(HandshakeError::Refused(error));
        }
        let (unique_name,) = reply.read::<(BusName<'_>,)>().map_err(HandshakeError::Name)?;
        let unique_name = Some(unique_name.into());
        Ok(HandshakeStage::Established(Established { core: self.core, unique_name, guid }))
    }
}

/// The reason why a handshake failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The server rejected all mechanisms of the plan, or violated the protocol.
    #[error(transparent)]
    Authentication(#[from] AuthenticationFailure),
    /// The bus answered `Hello` with an error, for example because it has too many connections.
    #[error("the bus refused the connection: {0}")]
    Refused(RemoteError),
    /// The call of `Hello` got no reply.
    #[error("the bus did not reply to Hello: {0}")]
    NoReply(NoReply),
    /// The reply to `Hello` does not contain a bus name.
    #[error("the reply to Hello contains no valid name: {0}")]
    Name(ReadError),
}
