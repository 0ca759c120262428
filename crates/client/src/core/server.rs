//! The handshake as a server, for a connection to another program without a bus.

use wire::sasl::server::{Authority, SaslServer, ServerConfig, ServerProgress, Violation};

use super::{Core, CoreConfig, Established, OtherEnd};

/// The handshake of a server: the other program authenticates, and messages follow at once.
///
/// It has the methods of a [`ClientHandshake`](super::ClientHandshake).
pub struct ServerHandshake<D> {
    out: Vec<u8>,
    server: SaslServer,
    core: Core<D>,
}

/// The stage of a server's handshake after receiving bytes.
pub enum ServerStage<D> {
    /// The handshake continues: send the output, if any, and wait for more bytes.
    Unfinished(ServerHandshake<D>),
    /// The handshake is complete.
    Established(Established<D>),
}

impl<D> ServerHandshake<D> {
    /// Starts a handshake, which waits for the first bytes of the client.
    pub fn start(server: ServerConfig, core: CoreConfig) -> Self {
        let core = Core::new(CoreConfig { other_end: OtherEnd::Peer, ..core });
        Self { out: Vec::new(), server: SaslServer::new(server), core }
    }

    /// The bytes to send; empty if there are none.
    pub fn poll_transmit(&self) -> &[u8] {
        &self.out
    }

    /// Records that the first `count` bytes of the output were sent.
    pub fn transmitted(&mut self, count: usize) {
        self.out.drain(..count);
    }

    /// Processes received bytes and descriptors, and returns the connection once the client is
    /// authenticated.
    ///
    /// # Errors
    ///
    /// If the client violated the protocol or exceeded a limit.
    pub fn handle_received(
        mut self,
        bytes: &[u8],
        descriptors: impl IntoIterator<Item = D>,
        now_unix: u64,
        authority: &mut impl Authority,
    ) -> Result<ServerStage<D>, Violation> {
        let progress = self.server.receive(bytes, now_unix, authority, &mut self.out)?;
        let ServerProgress::Done { consumed, fds, .. } = progress else {
            return Ok(ServerStage::Unfinished(self));
        };
        let Self { out, mut core, .. } = self;
        core.config.fds = fds;
        core.outgoing.bytes.extend(out);
        core.handle_bytes(&bytes[consumed..], descriptors);
        Ok(ServerStage::Established(Established { core, unique_name: None, guid: None }))
    }
}
