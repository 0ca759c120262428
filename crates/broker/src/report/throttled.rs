//! Log lines about peers that are delayed or rejected.

use super::peer_description::{DescriptionSource, PeerDescription, ProcessClause};
use super::usage;
use crate::log::{LogRecord, Severity};
use crate::throttled_peer::ThrottledPeer;

pub(super) fn record(peer: &ThrottledPeer) -> LogRecord {
    let description =
        PeerDescription { snapshot: peer.snapshot(), source: DescriptionSource::Kernel };
    let usage = usage(peer.reason.limit_hit());
    let line = format!("{peer}{usage}; this connection is from {}.", ProcessClause(&description));
    let mut record = LogRecord::line(Severity::Warning, line);
    description.add_to(&mut record);
    record
}
