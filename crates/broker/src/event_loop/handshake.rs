//! The handshake of a connection, up to its first message.

use std::mem;
use std::os::fd::AsFd as _;

use bus::{DescriptorPassing, Input, PeerId};
use sys::transfer::{DescriptorDelivery, ReceiveOutcome};
use wire::framer::Framer;
use wire::sasl::server::{AuthenticatedIdentity, Rejection, ServerProgress, Violation};

use super::admission;
use super::loop_state::LoopState;
use super::switchboard::{Switchboard, framer_limits, kernel_user_of};
use crate::authority::{ConnectionAuthority, SystemAuthority};
use crate::back_pressure::HoldLimits;
use crate::busconfig::Config;
use crate::connection::{Connection, End, Handshake, MessageStream, Phase, ReadBacklog};
use crate::log::{Log, Severity};
use crate::login::WrongNonce;

/// Processes a chunk of the handshake, and the messages that follow it.
pub(super) fn proceed(
    switchboard: &mut Switchboard,
    authority: &mut SystemAuthority,
    config: &Config,
    peer: PeerId,
    chunk: &mut [u8],
) -> Result<(), End> {
    let Switchboard { state, buffers, work, .. } = switchboard;
    let Some(connection) = state.table.get_mut(peer) else { return Ok(()) };
    let Connection { phase: Phase::Handshake(Handshake { login, .. }), socket, .. } = connection
    else {
        return Ok(());
    };
    let mut authority_of_peer = ConnectionAuthority {
        system: authority,
        socket: socket.as_fd(),
        rejects_namespace_ids: config.document.own.rejects_namespace_user_ids,
        translated: None,
    };
    let chunk = login.take_nonce(chunk).map_err(|WrongNonce| End::WrongNonce)?;
    let mut answer = Vec::new();
    let now_unix = sys::clock::realtime().as_secs();
    let progress = login.server.receive(chunk, now_unix, &mut authority_of_peer, &mut answer);
    let user = state.bus.credentials(peer).and_then(|known| known.uid);
    if let Some((inside, outside)) = authority_of_peer.translated
        && user == Some(outside)
        && !mem::replace(&mut authority.has_translated, true)
    {
        log_translation(&state.log, inside, outside);
    }
    let rejected = login.server.rejection().map(end_after);
    if connection.enqueue_lines(&answer, &mut buffers.queues).is_newly_dirty {
        work.awaited.push(peer);
    }
    let end = |violation| match violation {
        Violation::BeginBeforeOk { .. } => rejected.unwrap_or(End::Handshake(violation)),
        _ => End::Handshake(violation),
    };
    match progress.map_err(end)? {
        ServerProgress::NeedMore if switchboard.buffers.fds.is_empty() => Ok(()),
        ServerProgress::NeedMore => {
            switchboard.buffers.fds.clear();
            Err(End::UnexpectedFds)
        }
        ServerProgress::Done { consumed, identity, fds } => {
            let fds = match fds {
                wire::sasl::FdPassing::Agreed => DescriptorPassing::Agreed,
                wire::sasl::FdPassing::Off => DescriptorPassing::Refused,
            };
            let uid = match identity {
                AuthenticatedIdentity::Uid(uid) => Some(uid),
                _ => None,
            };
            admission::admit(switchboard, config, authority.uid, peer, uid)?;
            switchboard.handle(Input::Authenticated { peer, uid, fds });
            start_messages(switchboard, peer, &chunk[consumed..]);
            Ok(())
        }
    }
}

/// Reports that clients use the user ids of their user namespaces.
fn log_translation(log: &Log, inside: u32, outside: u32) {
    log.write(
        Severity::Info,
        format_args!(
            "A process in another user namespace authenticated as uid {inside}, which is uid \
             {outside} here; further such connections are not logged"
        ),
    );
}

/// Continues with messages. The first may have arrived with the end of the handshake.
fn start_messages(switchboard: &mut Switchboard, peer: PeerId, rest: &[u8]) {
    let framer_limits = framer_limits(&switchboard.state.bus);
    let Switchboard { state, buffers, desk, fd_quotas, work, .. } = switchboard;
    let LoopState { table, bus, now, .. } = state;
    let Some(connection) = table.get_mut(peer) else { return };
    connection.limits = HoldLimits::within(bus.limits_of(peer));
    let mut framer = Framer::new(framer_limits);
    framer.keep(rest);
    let mut stream = MessageStream::new(framer);
    if let Some(active) = desk.traces.active() {
        stream.read = active.read(*now);
    }
    let user = kernel_user_of(bus, peer, &buffers.fds);
    let nothing = ReceiveOutcome { bytes: 0, descriptors: DescriptorDelivery::Complete };
    stream.received(nothing, &mut buffers.fds, user, fd_quotas);
    if !rest.is_empty() {
        stream.backlog = ReadBacklog::Queued;
        work.backlog.push_back(peer);
    }
    connection.phase = Phase::Messages(stream);
}

/// The end of a connection that was rejected while its `BEGIN` was already sent: clients send it
/// along with their first attempt to save a round trip. If they only asked for a mechanism that
/// this bus does not offer, they connect again with another one, so this is not logged.
const fn end_after(rejection: Rejection) -> End {
    match rejection {
        Rejection::NotOffered => End::Closed,
        Rejection::NotAccepted => End::Rejected,
    }
}
