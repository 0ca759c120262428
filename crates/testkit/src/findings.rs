//! All results of analyzing a recording, as texts, to compare two recordings.

use capture::Capture;
use capture::activation::failed_starts;
use capture::lint::report::{Extent, to_text};
use capture::lint::{LintRule, Report, ReportSource};
use capture::model::MessageBuffer;
use capture::statistics::{Caveat, Summary, TableSubject};
use capture::table::DataTable;
use capture::text::Style;
use capture::timeline::{
    blocked, blocked_table, bus_shares, chrome_trace, failed_starts_table, parties, shares,
    slowest, slowest_table, start_ups,
};
use wire::Message;
use wire::body::Value;

/// Returns all results, each with its name.
pub fn findings(capture: &Capture) -> Vec<(String, String)> {
    let mut found = statistics(capture);
    found.extend(timeline(capture));
    let report = Report::new(ReportSource::Recording("it".into()), capture, LintRule::all());
    found.push(("lint".to_owned(), to_text(&report, Extent::All, Style::plain(120))));
    found.extend(known(capture));
    found
}

fn statistics(capture: &Capture) -> Vec<(String, String)> {
    let mut summary = Summary::default();
    capture.messages().for_each(|message| summary.add(&message));
    summary.complete(capture, |_| true);
    let caveats = Caveat::of(capture, &summary);
    let tables = TableSubject::all().map(|subject| {
        let table = subject.table(capture, |_| true, None);
        (subject.as_str().to_owned(), table.map_or_else(|error| error.to_string(), csv))
    });
    let overview =
        [("summary".to_owned(), format!("{summary:?}")), ("caveats".to_owned(), lines(caveats))];
    overview.into_iter().chain(tables).collect()
}

fn timeline(capture: &Capture) -> Vec<(String, String)> {
    let mut trace = Vec::new();
    chrome_trace(capture, |_| true, &mut trace).expect("memory takes all");
    let start_ups = start_ups(capture).into_iter();
    let start_ups: Vec<_> = start_ups.map(|one| csv(one.table(capture, usize::MAX))).collect();
    let found = [
        ("trace", String::from_utf8(trace).expect("JSON is text")),
        ("failed starts", csv(failed_starts_table(&failed_starts(capture, |_| true)))),
        ("start-ups", start_ups.join("\n")),
        ("blocked", csv(blocked_table(&blocked(capture, |_| true)))),
        ("slowest", csv(slowest_table(&slowest(capture, |_| true, usize::MAX)))),
        ("shares", shares(capture, |_| true).map_or_else(String::new, csv)),
        (
            "bus shares",
            bus_shares(capture, |_| true).map_or_else(String::new, |found| csv(found.table)),
        ),
        ("parties", parties(capture, |_| true).map_or_else(String::new, csv)),
    ];
    found.map(|(name, text)| (name.to_owned(), text)).into()
}

/// Returns the facts that are not messages.
fn known(capture: &Capture) -> Vec<(String, String)> {
    let strings = capture.strings();
    let peers = capture.directory().peers().map(|(_, peer)| {
        let names: Vec<_> = peer.names.iter().map(|&name| strings.get(name)).collect();
        let (unique, bus) = (strings.get(peer.unique), peer.bus);
        let times = (peer.arrived, peer.left, &peer.why, peer.role);
        format!("{bus:?} {unique} {names:?} {times:?} {:?}", peer.process)
    });
    let mut owners: Vec<_> = capture.directory().names().collect();
    owners.sort_by_key(|(bus, name, _)| (*bus, strings.get(*name)));
    let owners =
        owners.into_iter().map(|(bus, name, all)| format!("{bus:?} {} {all:?}", strings.get(name)));
    let facts = capture.facts().iter().map(|fact| format!("{fact:?}"));
    let gaps = capture.gaps().iter().map(|gap| format!("{gap:?}"));
    let damage = capture.damage().iter().map(|damage| format!("{damage:?}"));
    let invalid = capture.invalid().iter().map(|invalid| format!("{invalid:?}"));
    let arguments = capture.messages().map(|message| {
        let names = message.argument_names();
        names.map_or_else(String::new, |names| format!("{:?}", names.collect::<Vec<_>>()))
    });
    let found = [
        ("buses", format!("{:?}", capture.buses())),
        ("origins", format!("{:?}", capture.origins())),
        ("peers", lines(peers)),
        ("owners", lines(owners)),
        ("facts", lines(facts)),
        ("gaps", lines(gaps)),
        ("damage", lines(damage)),
        ("damage count", capture.damage_count().to_string()),
        ("invalid", lines(invalid)),
        ("arguments", lines(arguments)),
    ];
    found.map(|(name, text)| (name.to_owned(), text)).into()
}

/// Returns all texts of at least four bytes in the bodies of complete messages, except signals of
/// the bus, and each element of a path.
pub fn body_texts(capture: &Capture) -> Vec<String> {
    let mut texts = Vec::new();
    let mut buffer = MessageBuffer::default();
    for message in capture.messages() {
        if message.sender_id() == capture.driver() && message.reply_serial() == 0 {
            continue;
        }
        let read = capture.read_message(message.id(), &mut buffer).expect("it can be read");
        for value in read.iter().flat_map(values) {
            collect(&value, &mut texts);
        }
    }
    texts.retain(|text| text.len() >= 4);
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn values(message: &Message<'_>) -> Vec<Value> {
    Value::read_args(message).expect("it is whole")
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::ObjectPath(path) => texts.extend(path.as_str().split('/').map(str::to_owned)),
        Value::Bytes(bytes) => texts.extend(String::from_utf8(bytes.clone()).ok()),
        Value::Variant(held) => collect(held, texts),
        Value::Array { items, .. } | Value::Struct(items) => {
            items.iter().for_each(|item| collect(item, texts));
        }
        Value::DictEntry(entry) => {
            collect(&entry.0, texts);
            collect(&entry.1, texts);
        }
        _ => {}
    }
}

fn csv(table: DataTable) -> String {
    table.to_csv()
}

fn lines(all: impl IntoIterator<Item = impl ToString>) -> String {
    all.into_iter().map(|one| one.to_string() + "\n").collect()
}
