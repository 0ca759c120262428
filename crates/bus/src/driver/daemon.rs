//! Methods about the daemon itself: `org.diligence.Daemon1`.

use wire::message::Builder;

use super::call::{Call, Driver};
use crate::replacements::{TooManyReplacements, WAITING_MAX};
use crate::routing::Router;
use crate::types::{CallId, Effect, Effects, Fds, RefusalReason, Replacement};

/// Replaces the daemon. The reply follows when the new program serves.
pub(super) fn reexecute(
    driver: &mut Driver<'_>,
    call: &Call<'_>,
    fx: &mut Effects,
) -> Result<(), RefusalReason> {
    if call.message.expects_reply() {
        driver.replacements.add(call.id()).map_err(|TooManyReplacements| {
            RefusalReason::TooManyReplacements { max: WAITING_MAX }
        })?;
    }
    fx.push(Effect::Replace { caller: call.from });
    Ok(())
}

/// Answers a call after the daemon was replaced.
pub(crate) fn replaced(
    call: CallId,
    Replacement { old_version, new_version, paused }: &Replacement,
    router: &mut Router,
    fx: &mut Effects,
) {
    let paused = u64::try_from(paused.as_micros()).unwrap_or(u64::MAX);
    let report = (&**old_version, &**new_version, paused);
    let builder = Builder::method_return(call.serial);
    let sent = router.send_own(call.peer, builder, &report, Fds::None, fx);
    sent.expect("versions are short");
}
