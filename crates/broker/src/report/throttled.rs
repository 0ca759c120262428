//! Lines about peers that are not served at once.

use super::peer_description::{DescriptionSource, PeerDescription, ProcessClause};
use super::usage;
use crate::log::{LogRecord, Severity};
use crate::throttled_peer::ThrottledPeer;

pub(super) fn record(peer: &ThrottledPeer) -> LogRecord {
    let who = PeerDescription { snapshot: peer.snapshot(), source: DescriptionSource::Kernel };
    let usage = usage(peer.reason.limit_hit());
    let line = format!("{peer}{usage}; this one is of {}.", ProcessClause(&who));
    let mut record = LogRecord::line(Severity::Warning, line);
    who.add_to(&mut record);
    record
}
