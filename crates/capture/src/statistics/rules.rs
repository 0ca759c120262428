//! The match rules of each connection, with duplicates.

use std::cmp::Reverse;

use wire::match_rule::MatchRule;

use super::UnknownReason;
use crate::collected::collected;
use crate::model::{Capture, RecordedPeerId};
use crate::recipients::read_rules;
use crate::subscriptions::MatchRuleLifetime;
use crate::table::{Cell, Column, ColumnUnit, DataTable};

/// Creates a table of the match rules that each connection had when it disconnected or the
/// recording ended, sorted by the number of rules. A duplicate rule matches no additional messages.
///
/// # Errors
///
/// If the recording does not show which rules were added and removed.
pub fn rules(capture: &Capture) -> Result<DataTable, UnknownReason> {
    let mut table = DataTable::new([
        Column::text("connection"),
        Column::number("rules", ColumnUnit::Count),
        Column::number("distinct", ColumnUnit::Count),
        Column::number("duplicates", ColumnUnit::Count),
        Column::number("added", ColumnUnit::Count),
        Column::number("removed", ColumnUnit::Count),
        Column::number("times", ColumnUnit::Count),
        Column::text("most frequent"),
    ]);
    let found = read_rules(capture, |_, _| true)?;
    let mut rows = collected(found.all.iter().map(|one| (one.peer, one)));
    rows.sort_by_key(|(_, rules)| Reverse(standing(rules).count()));
    for (peer, rules) in rows {
        table.push(row(capture, peer, &rules));
    }
    Ok(table)
}

fn row(capture: &Capture, peer: RecordedPeerId, rules: &[&MatchRuleLifetime]) -> [Cell; 8] {
    let same: Vec<(&MatchRule, Vec<_>)> = collected(standing(rules).map(|one| (&one.rule, one)));
    let (added, distinct) = (rules.len() as u64, same.len() as u64);
    let count = standing(rules).count() as u64;
    let removed = rules.iter().filter(|one| one.taken_back.is_some()).count() as u64;
    let frequent = same.iter().rev().max_by_key(|(_, times)| times.len());
    [
        Cell::text(capture.label(peer)),
        Cell::Count(count),
        Cell::Count(distinct),
        Cell::Count(count - distinct),
        Cell::Count(added),
        Cell::Count(removed),
        frequent.map_or(Cell::Absent, |(_, times)| Cell::Count(times.len() as u64)),
        Cell::text_or_absent(frequent.map(|(rule, _)| rule.to_string())),
    ]
}

/// The rules that no call has removed. They existed until the connection disconnected or the
/// recording ended.
fn standing<'s>(rules: &[&'s MatchRuleLifetime]) -> impl Iterator<Item = &'s MatchRuleLifetime> {
    rules.iter().copied().filter(|one| one.taken_back.is_none())
}
