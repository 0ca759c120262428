//! `org.diligence.Lanes1`: sockets between two connections.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use wire::body::UnixFd;
use wire::message::Builder;
use wire::names::{BusName, MemberName};

use super::call::{Call, Driver};
use super::connections::{Subject, find};
use crate::accounting::Counted;
use crate::calls::{ExpectError, PendingCall};
use crate::lanes::{LaneWish, PeerPair};
use crate::routing::Router;
use crate::types::{
    CallId, ConnectionFact, Effect, Effects, Fds, ForeignError, LaneEnds, LaneId, LaneRefusal,
    LaneRequest, PeerId, RefusalReason,
};
use crate::well_known::{DRIVER_PATH, LANES_INTERFACE};

/// Asks for a lane to another connection. It is opened when the other connection has asked, too.
pub(super) fn request(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (partner, pair) = find_pair(driver.router, call)?;
    let router = &mut *driver.router;
    router.check_lane(pair)?;
    if !router.lanes.knows(pair) {
        check_room(router, call.from)?;
        if router.lanes.wish_count_of(call.from) >= WISHES_MAX {
            return Err(LaneRefusal::TooManyWishes.into());
        }
    }
    let wish = router.lanes.wish(call.from, partner);
    let changes = router.lanes.name_changes(partner);
    let name = router.registry[partner].name().as_str().to_owned();
    match wish {
        LaneWish::NotResumed => Err(LaneRefusal::NotResumed.into()),
        LaneWish::Noted => driver.reply(call, &(false, &*name, changes), fx),
        LaneWish::Granted => driver.reply(call, &(true, &*name, changes), fx),
        LaneWish::Mutual => {
            let lane = open(router, pair)?;
            let [one, other] = pair.ends();
            let expects_reply = call.message.expects_reply();
            let request = LaneRequest { call: call.id(), expects_reply };
            fx.push(Effect::OpenLane { lane, ends: LaneEnds { one, other }, request });
            Ok(())
        }
    }
}

fn open(router: &mut Router, pair: PeerPair) -> Result<LaneId, LaneRefusal> {
    pair.ends().into_iter().try_for_each(|end| check_room(router, end))?;
    router.lanes.open(pair).ok_or(LaneRefusal::NoIdsLeft)
}

/// Checks that a connection may have one more lane.
fn check_room(router: &Router, peer: PeerId) -> Result<(), LaneRefusal> {
    router.check_lane_count(peer, router.lanes.count_of(peer) + 1)
}

/// Answers Request after the daemon has opened the sockets of a lane, and gives them to both ends; or
/// refuses it if the daemon could not open them.
pub(crate) fn lane_opened(
    lane: LaneId,
    request: LaneRequest,
    outcome: Result<(), ForeignError>,
    router: &mut Router,
    fx: &mut Effects,
) {
    let Some(pair) = router.lanes.pair_of(lane) else { return };
    let LaneRequest { call, expects_reply } = request;
    if let Err(error) = outcome {
        router.lanes.remove_unopened(pair);
        return router.refuse_call(call, &LaneRefusal::NotOpened(error).into(), fx);
    }
    let [one, other] = pair.ends();
    if expects_reply {
        let partner = if call.peer == one { other } else { one };
        let name = Box::<str>::from(router.registry[partner].name().as_str());
        let args = (true, &*name, router.lanes.name_changes(partner));
        let reply = Builder::method_return(call.serial);
        // Before the signal Opened, which the caller understands by this reply.
        router.send_own(call.peer, reply, &args, Fds::None, fx).expect("names are short");
    }
    for peer in [one, other] {
        // They can have changed before the daemon had a place for the number.
        fx.push(Effect::NoteNameChanges { peer, count: router.lanes.name_changes(peer) });
    }
    for (end, partner) in [(one, other), (other, one)] {
        let opened = Builder::signal(DRIVER_PATH, LANES_INTERFACE, OPENED);
        let name = Box::<str>::from(router.registry[partner].name().as_str());
        let args = (&*name, UnixFd(0), UnixFd(1), UnixFd(2), UnixFd(3));
        router.send_own(end, opened, &args, Fds::OfLane(lane), fx).expect("names are short");
    }
}

/// Ends the lane to another connection, or the wish for one.
pub(super) fn release(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (_, pair) = find_pair(driver.router, call)?;
    driver.router.end_lane(pair, fx);
    driver.reply(call, &(), fx)
}

/// Makes calls that traveled on a lane, and wait for a reply after it has ended, pending calls of the
/// bus. If the callee is gone, they get an error.
pub(super) fn resume(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    let (name, serials) = call.args::<(&str, Vec<u32>)>()?;
    // Each of them can cost an error.
    if serials.len() > RESUMED_MAX {
        return Err(RefusalReason::TooManyPendingReplies { max: RESUMED_MAX as u64 });
    }
    let serials: BTreeSet<NonZeroU32> = serials.into_iter().filter_map(NonZeroU32::new).collect();
    let router = &mut *driver.router;
    let partner = BusName::new(name).ok().and_then(|name| router.registry.resolve(name));
    let Some(partner) = partner else {
        for serial in serials {
            let reason = RefusalReason::CalleeDisconnected;
            router.send_error(call.from, serial, &reason, fx);
        }
        return driver.reply(call, &(), fx);
    };
    // An end whose lane does not work any more resumes, too.
    if let Some(pair) = PeerPair::new(call.from, partner) {
        router.end_lane(pair, fx);
    }
    let answered = router.lanes.resume(call.from, partner).ok_or(LaneRefusal::NoLane)?;
    for serial in serials.into_iter().filter(|serial| !answered.contains(serial)) {
        let pending = PendingCall { caller: call.from, serial, callee: partner };
        if let Err(reason) = expect(router, pending) {
            router.refuse_call(CallId { peer: call.from, serial }, &reason, fx);
        }
    }
    driver.reply(call, &(), fx)
}

fn expect(router: &mut Router, call: PendingCall) -> Result<(), RefusalReason> {
    // The callee has these calls already. So a lower limit must not refuse them.
    let max = router.registry[call.caller].max_replies.max(RESUMED_MAX as u64);
    let deadline = router.config.limits.reply_timeout.map(|timeout| router.now.after(timeout));
    router.calls.expect(call, deadline, max, Counted::NOT).map_err(|error| match error {
        ExpectError::SerialInUse => RefusalReason::SerialInUse,
        ExpectError::TooMany => RefusalReason::TooManyPendingReplies { max },
    })
}

/// Finds the connection that a call names, and its pair with the caller.
fn find_pair(router: &mut Router, call: &Call<'_>) -> Result<(PeerId, PeerPair), RefusalReason> {
    let pair = match find(router, call, ConnectionFact::Lane)? {
        Subject::Peer(partner) => PeerPair::new(call.from, partner).map(|pair| (partner, pair)),
        Subject::Bus => None,
    };
    pair.ok_or_else(|| LaneRefusal::NoPartner.into())
}

/// The maximum number of calls that one message resumes. A connection has no more calls on lanes:
/// this is `CALLS_MAX` of the crate `lane`.
const RESUMED_MAX: usize = 4096;

/// The maximum number of lanes that a connection has asked for, and its partners have not. They may
/// never do so, because most libraries have no lanes.
const WISHES_MAX: u64 = 256;

const OPENED: MemberName<'static> = MemberName::literal("Opened");
