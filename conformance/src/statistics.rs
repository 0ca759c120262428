//! Reads the statistics of Diligence: its interface `org.diligence.Statistics1`, and its metrics
//! (docs/statistics.md).

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::message::{BUS_NAME, BUS_PATH, PlainMessage, kind};
use crate::peer::TestPeer;
use crate::program::USUAL_LIMIT;
use crate::wire::PlainValue;

/// The name of the interface.
pub const STATISTICS: &str = "org.diligence.Statistics1";

/// A dictionary with the values taken out of their variants.
pub type StatisticsDict = BTreeMap<String, PlainValue>;

/// Calls a method of the interface without filters and returns the reply.
fn ask(peer: &mut TestPeer, member: &str) -> PlainMessage {
    let call = PlainMessage::call(BUS_NAME, BUS_PATH, STATISTICS, member);
    let takes_number = matches!(member, "GetConnections" | "GetMembers");
    let call = if takes_number { call.arg(PlainValue::U32(0)) } else { call };
    let reply = peer.call(call);
    assert_eq!(reply.kind, kind::RETURN, "{member}: {}", reply.summary());
    reply
}

/// The totals from GetTotals.
///
/// # Panics
///
/// If the reply is not a dictionary.
pub fn totals(peer: &mut TestPeer) -> StatisticsDict {
    dict(&ask(peer, "GetTotals").body[0])
}

/// The reply of a method that returns an array of dictionaries.
///
/// # Panics
///
/// If it returns anything else.
pub fn dicts(peer: &mut TestPeer, member: &str) -> Vec<StatisticsDict> {
    let reply = ask(peer, member);
    reply.body[0].elements().expect("an array").iter().map(dict).collect()
}

fn dict(value: &PlainValue) -> StatisticsDict {
    let entries = value.entries().expect("a dictionary");
    entries.into_iter().map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

/// The number at a key.
///
/// # Panics
///
/// If the key is missing or not a number.
#[must_use]
pub fn number(dict: &StatisticsDict, key: &str) -> u64 {
    match dict.get(key) {
        Some(PlainValue::U64(number)) => *number,
        other => panic!("{key} is {other:?}"),
    }
}

/// The count of a cause; `causes` is for example `DisconnectCauses`.
///
/// # Panics
///
/// If there is no such key.
#[must_use]
pub fn cause_count(totals: &StatisticsDict, causes: &str, cause: &str) -> Option<u64> {
    let entries = totals[causes].elements().expect("an array");
    entries.iter().find_map(|entry| match entry {
        PlainValue::Entry(key, count) if **key == PlainValue::text(cause) => match **count {
            PlainValue::U64(count) => Some(count),
            ref other => panic!("{other:?} is not a count"),
        },
        _ => None,
    })
}

/// Connects to the socket for metrics, like Prometheus does.
///
/// # Panics
///
/// If the bus does not listen there.
#[must_use]
pub fn scraper(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).expect("the bus listens");
    stream.set_read_timeout(Some(USUAL_LIMIT)).expect("the time is not zero");
    stream
}

/// Requests the metrics, like Prometheus does. Returns the HTTP header and the document.
///
/// # Panics
///
/// If there is no response.
#[must_use]
pub fn scrape(path: &Path) -> (String, String) {
    let mut stream = scraper(path);
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: bus\r\n\r\n").expect("it is short");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (header, body) = answer.split_once("\r\n\r\n").expect("a header");
    (header.to_owned(), body.to_owned())
}
