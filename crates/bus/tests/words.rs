//! The words and texts for disconnect reasons and incident kinds. They are documented in
//! docs/statistics.md and docs/log.md, so they must not change.

use bus::{End, IncidentKind};

#[test]
fn disconnect_reasons_have_stable_words() {
    let rows: [(End, &str, &str); 9] = [
        (End::Closed, "closed", "it has closed the connection"),
        (
            End::UnexpectedFds,
            "unexpected-fds",
            "it sent file descriptors without having negotiated them",
        ),
        (
            End::FdsTruncated,
            "fds-truncated",
            "its file descriptors could not be received; check the limit of open files of the bus",
        ),
        (
            End::FdsPending,
            "fds-pending",
            "it sent file descriptors, but their message did not arrive in time",
        ),
        (
            End::FdsUnread,
            "fds-unread",
            "file descriptors were queued for it, and it read nothing within pending_fd_timeout",
        ),
        (End::Rejected, "authentication", "none of its authentication attempts was accepted"),
        (End::Unwatched, "unwatched", "its socket could not be watched"),
        (End::NotAdmitted, "not-admitted", "its user may not connect to this bus"),
        (
            End::AttributesUnknown,
            "standing-unknown",
            "the policy needs its groups, or needs to know whether its user is at the console, \
             and they could not be read",
        ),
    ];
    for (end, word, text) in rows {
        assert_eq!((end.cause(), end.to_string().as_str()), (word, text));
    }
}

#[test]
fn incident_kinds_have_stable_words() {
    let words = IncidentKind::ALL.map(IncidentKind::as_str);
    let expected = [
        "disconnected",
        "rejected",
        "delayed",
        "refused",
        "withheld",
        "lost",
        "start-failed",
        "fault",
    ];
    assert_eq!(words, expected);
}
