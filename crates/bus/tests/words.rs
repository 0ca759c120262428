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
            "it sent file descriptors that the handshake did not agree on",
        ),
        (
            End::FdsTruncated,
            "fds-truncated",
            "its file descriptors could not be received; is the limit of open files reached?",
        ),
        (
            End::FdsPending,
            "fds-pending",
            "it sent file descriptors and for too long no message that they belong to",
        ),
        (
            End::FdsUnread,
            "fds-unread",
            "it read nothing for too long while file descriptors were queued for it",
        ),
        (
            End::Rejected,
            "authentication",
            "it has given up, since nothing that it authenticated with was accepted",
        ),
        (End::Unwatched, "unwatched", "the system does not let it be watched"),
        (End::NotAdmitted, "not-admitted", "its user may not connect to this bus"),
        (
            End::AttributesUnknown,
            "standing-unknown",
            "its groups, or whether its user sits at the machine, cannot be told, and the policy \
             asks for that",
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
        "turned-away",
        "delayed",
        "refused",
        "withheld",
        "lost",
        "start-failed",
        "fault",
    ];
    assert_eq!(words, expected);
}
