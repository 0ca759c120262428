//! The incidents in the report: peer, kind, time, and how far a limit was exceeded.

use std::time::Duration;

use super::dict::StatusDict;
use super::text::{StatusPage, process_of};
use capture::text::columns::folded;
use capture::text::units::grouped;
use capture::text::visible::printable;

/// Adds the latest incidents, at most `top` of them; 0 means all.
pub(super) fn render(page: &mut StatusPage, history: &[StatusDict], top: u32) {
    page.section("Incidents", "the newest first");
    if history.is_empty() {
        return page.line("  none");
    }
    let shown = if top == 0 { history.len() } else { history.len().min(top as usize) };
    for incident in &history[..shown] {
        let headline = headline(page, incident);
        page.line(format!("  {headline}"));
        let room = page.style.width.saturating_sub(INDENT.len());
        for line in folded(&peer_line(incident), room) {
            page.line(format!("{INDENT}{line}"));
        }
        let text = printable(incident.text("Text").unwrap_or_default()).into_owned();
        for line in folded(&text, room) {
            let line = page.style.pale(line);
            page.line(format!("{INDENT}{line}"));
        }
    }
    if shown < history.len() {
        let left = grouped((history.len() - shown) as u64);
        page.line(format!("  and {left} more; --top=0 shows all"));
    }
}

fn headline(page: &StatusPage, incident: &StatusDict) -> String {
    let ago = ago(Duration::from_micros(incident.count("Last")));
    let kind = page.style.alarm(incident.text("Kind").unwrap_or("?"));
    let times = match incident.count("Count") {
        0 | 1 => String::new(),
        count => format!(" \u{d7}{}", grouped(count)),
    };
    let cause = incident.text("Cause").unwrap_or("?");
    let usage = match (incident.number("LimitValue"), incident.number("LimitUsage")) {
        (Some(max), Some(used)) => format!(" ({} of {})", grouped(used), grouped(max)),
        _ => String::new(),
    };
    format!("{ago:>8}  {kind}{times}  {cause}{usage}")
}

fn peer_line(incident: &StatusDict) -> String {
    if incident.text("Kind") == Some("start-failed") {
        return printable(&incident.texts("Names").join(", ")).into_owned();
    }
    let name = incident.text("UniqueName").unwrap_or("(no name yet)");
    let process = process_of(incident.number("ProcessID"), incident.text("Program"));
    let place = incident.text("Unit").or_else(|| incident.text("ControlGroup"));
    let container = incident.text("ContainerName").map(|name| format!("container {name}"));
    let user = incident.number("UnixUserID").map(|uid| format!("user {uid}"));
    let words = [Some(name.to_owned()), Some(process), place.map(str::to_owned), container, user];
    let names = incident.texts("Names").into_iter().map(str::to_owned);
    let words: Vec<_> = words.into_iter().flatten().chain(names).collect();
    printable(&words.join(", ")).into_owned()
}

/// The time since an event: `12 s`, `3 min`, `2 h`, `5 d`.
fn ago(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

const INDENT: &str = "            ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_times_use_the_largest_fitting_unit() {
        for (seconds, expected) in
            [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_200, "2 h"), (172_800, "2 d")]
        {
            assert_eq!(ago(Duration::from_secs(seconds)), expected);
        }
    }
}
