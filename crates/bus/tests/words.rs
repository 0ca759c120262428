//! What people and programs are told of what went wrong: each reason in one word, by which it is counted, and
//! as a part of a sentence. The words are in docs/statistics.md and docs/log.md, so they stay.

use diligence_bus::{
    Credentials, End, Fate, Fault, LimitName, Obstacle, Reached, Trouble, Unserved,
};

#[test]
fn ends_of_connections() {
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
            End::StandingUnknown,
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
fn kinds_of_trouble() {
    let words = Trouble::ALL.map(Trouble::as_str);
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

#[test]
fn faults() {
    for (fault, word) in [
        (Fault::NoDescriptors, "no-descriptors"),
        (Fault::UnwatchedFolder, "unwatched-folder"),
        (Fault::UnwatchedConnection, "unwatched-connection"),
        (Fault::UnknownStanding, "standing-unknown"),
        (Fault::Metrics, "metrics"),
        (Fault::StrayService, "stray-service"),
        (Fault::ServiceOutput, "service-output"),
        (Fault::FlightRecorder, "flight-recorder"),
    ] {
        assert_eq!(fault.word(), word);
    }
}

#[test]
fn those_who_are_not_served() {
    let check = |uid, fate, obstacle: Obstacle, word: &str, text: &str| {
        let credentials = Credentials { uid, ..Credentials::default() };
        assert_eq!(obstacle.cause(), word);
        let unserved = Unserved { credentials, process: Default::default(), fate, obstacle };
        assert_eq!(unserved.to_string(), text);
    };
    let places = || Reached { limit: LimitName::IncompleteConnections, max: 1, used: 1 };
    let burst = Reached { limit: LimitName::ConnectionBurst, max: 2, used: 2 };
    let often = || Obstacle::TooOften { per_second: 9, burst };
    let unknown = Obstacle::Nameless { why: "no memory".to_owned() };
    assert_eq!(unknown.reached(), None);
    let rate = "max_connections_per_second_per_user";
    check(
        Some(7),
        Fate::Waits,
        often(),
        rate,
        &format!("User 7 connects too often: new connections are served later ({rate}=9)"),
    );
    check(
        None,
        Fate::TurnedAway,
        often(),
        rate,
        &format!(
            "Those of whom no user is known connect too often: new connections are refused ({rate}=9)"
        ),
    );
    let many = "too many connections that have not said Hello: the next ones";
    let word = "max_incomplete_connections";
    check(
        Some(7),
        Fate::Waits,
        Obstacle::Crowding(places()),
        word,
        &format!("User 7 has {many} wait"),
    );
    check(
        Some(7),
        Fate::TurnedAway,
        Obstacle::Crowding(places()),
        word,
        &format!("User 7 has {many} are closed"),
    );
    check(
        None,
        Fate::TurnedAway,
        unknown,
        "unknown-peer",
        "Those of whom no user is known connect, and the kernel does not tell who that is: no memory",
    );
}
