//! Who asks for what, and how often the same.

use super::Unknowable;
use super::recipients::check_content;
use super::subscriptions::{Subscriber, Subscriptions};
use crate::model::Capture;
use crate::table::{Cell, Column, Table, Unit};

/// The match rules of each connection when the recording ended, those first that have most. A rule
/// that is there twice lets nothing more through.
///
/// # Errors
///
/// If calls do not show which rules they set or take back.
pub fn rules(capture: &Capture) -> Result<Table, Unknowable> {
    check_content(capture)?;
    let mut all = Subscriptions::of_start(capture);
    let mut buffer = Vec::new();
    for message in capture.messages() {
        all.follow(&message, &mut buffer);
    }
    all.check()?;
    let mut table = Table::new([
        Column::text("connection"),
        Column::number("rules", Unit::Count),
        Column::number("distinct", Unit::Count),
        Column::number("duplicates", Unit::Count),
        Column::number("added", Unit::Count),
        Column::number("removed", Unit::Count),
        Column::number("times", Unit::Count),
        Column::text("most frequent"),
    ]);
    let mut rows: Vec<_> = all.peers().collect();
    rows.sort_by_key(|(_, _, peer)| std::cmp::Reverse(count(peer)));
    for (bus, unique, peer) in rows {
        let text = capture.strings().find(unique);
        let label = match text.and_then(|text| capture.directory().by_unique(bus, text)) {
            Some(id) => capture.label(id),
            None => unique.into(),
        };
        let distinct = peer.rules.len() as u64;
        let frequent = peer.rules.iter().max_by_key(|(_, times)| *times);
        table.push([
            Cell::text(label),
            Cell::Count(count(peer)),
            Cell::Count(distinct),
            Cell::Count(count(peer) - distinct),
            Cell::Count(peer.added),
            Cell::Count(peer.removed),
            frequent.map_or(Cell::Absent, |(_, times)| Cell::Count(*times)),
            Cell::text_or_absent(frequent.map(|(rule, _)| rule.to_string())),
        ]);
    }
    Ok(table)
}

fn count(peer: &Subscriber) -> u64 {
    peer.rules.iter().map(|(_, times)| times).sum()
}
