//! Compares what a command prints with what a page shows.
//!
//! A line `...` of the page stands for any number of lines. If the output of the block varies, a line with figures
//! needs only the same first word, in which figures are equal to each other; every other line, such as a sentence or
//! the headings of columns, needs the same words.

use crate::blocks::Check;

/// The line that stands for omitted lines.
pub(crate) const OMITTED: &str = "...";

/// Compares the lines, and returns the first difference in words.
pub(crate) fn compare(check: &Check, shown: &[String], printed: &str) -> Result<(), String> {
    let shown = without_end(shown.iter().map(String::as_str).collect());
    let printed = without_end(printed.lines().map(str::trim_end).collect());
    let parts: Vec<&[&str]> = shown.split(|line| *line == OMITTED).collect();
    let is_same: fn(&str, &str) -> bool = match check {
        Check::Varies => is_alike,
        Check::Exact | Check::NotRun(_) | Check::Malformed(_) => |shown, printed| shown == printed,
    };
    let starts = |part: &[&str], at: usize| {
        part.len() <= printed.len() - at
            && part.iter().zip(&printed[at..]).all(|(shown, printed)| is_same(shown, printed))
    };
    let mut next = 0;
    for (index, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (index == 0, index == parts.len() - 1);
        let candidates = match (is_first, is_last) {
            (true, true) if part.len() != printed.len() => {
                return Err(difference(part, &printed, is_same));
            }
            (true, _) => 0..=0,
            (false, true) if printed.len() - next < part.len() => next..=next,
            (false, true) => printed.len() - part.len()..=printed.len() - part.len(),
            (false, false) => next..=printed.len(),
        };
        match candidates.into_iter().find(|&at| starts(part, at)) {
            Some(at) => next = at + part.len(),
            None if is_first => return Err(difference(part, &printed, is_same)),
            None => return Err(format!("these lines are not printed there:\n{}", part.join("\n"))),
        }
    }
    Ok(())
}

/// The first line of `shown` that is not printed at its place.
fn difference(shown: &[&str], printed: &[&str], is_same: fn(&str, &str) -> bool) -> String {
    let at = (0..).find(|&at| match (shown.get(at), printed.get(at)) {
        (Some(shown), Some(printed)) => !is_same(shown, printed),
        _ => true,
    });
    let at = at.expect("the range does not end");
    let line =
        |lines: &[&str]| lines.get(at).map_or("nothing".to_owned(), |line| format!("{line:?}"));
    format!(
        "line {} of the output: the page shows {}, printed is {}",
        at + 1,
        line(shown),
        line(printed)
    )
}

fn without_end(mut lines: Vec<&str>) -> Vec<&str> {
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Returns true if the lines are the same apart from their figures.
fn is_alike(shown: &str, printed: &str) -> bool {
    let words = |line| str::split_whitespace(line).map(str::to_owned).collect::<Vec<_>>();
    let (shown, printed) = (words(shown), words(printed));
    let has_figures = |words: &[String]| words.iter().any(|word| is_figure(word));
    if has_figures(&shown) && has_figures(&printed) {
        let first = |words: &[String]| words.first().map(|word| masked(word));
        return first(&shown) == first(&printed);
    }
    shown == printed
}

/// Returns true for a word with digits, except for headings such as `p95`.
fn is_figure(word: &str) -> bool {
    let is_heading =
        word.strip_prefix('p').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    !is_heading && word.contains(|char: char| char.is_ascii_digit())
}

/// Replaces each number in a word with `#`.
fn masked(word: &str) -> String {
    let mut masked = String::new();
    for char in word.chars() {
        match char {
            '0'..='9' if masked.ends_with('#') => {}
            '0'..='9' if masked.ends_with("#.") || masked.ends_with("#,") => {
                masked.pop();
            }
            '0'..='9' => masked.push('#'),
            other => masked.push(other),
        }
    }
    masked
}

/// Checks the comparison on outputs that must be accepted and outputs that must be rejected.
pub(crate) fn check() -> Result<(), String> {
    let (exact, varies) = (Check::Exact, Check::Varies);
    let rows = [
        (&exact, "a\nb", "a\nb\n", true),
        (&exact, "a\nb", "a\nc\n", false),
        (&exact, "a", "a\nb\n", false),
        (&exact, "a\nb", "a\n", false),
        (&exact, "", "", true),
        (&exact, "", "a\n", false),
        (&exact, "...\nc", "a\nb\nc\n", true),
        (&exact, "...\nb", "a\nb\nc\n", false),
        (&exact, "a\n...", "a\nb\nc\n", true),
        (&exact, "b\n...", "a\nb\n", false),
        (&exact, "a\n...\nc\n...\ne", "a\nb\nc\nd\ne\n", true),
        (&exact, "a\n...\nd\n...\nc\n...", "a\nb\nc\nd\ne\n", false),
        (&exact, "a\n...\na", "a\n", false),
        (&varies, "member   p95", "member  p95", true),
        (&varies, "member   p95", "member  p99", false),
        (&varies, "Get  12 ms", "Get  3.5 ms  x", true),
        (&varies, "Get  12 ms", "Set  12 ms", false),
        (&varies, "peers[5229] took 3.4 s", "peers[7] waited 1 s", true),
        (&varies, "1,234 messages", "17 messages", true),
        (&varies, "no figures", "12 figures", false),
        (&varies, "all 3", "all", false),
    ];
    for (check, shown, printed, is_accepted) in rows {
        let shown: Vec<_> = shown.lines().map(str::to_owned).collect();
        if compare(check, &shown, printed).is_ok() != is_accepted {
            return Err(format!(
                "{check:?}: {shown:?} and {printed:?}: accepted is not {is_accepted}"
            ));
        }
    }
    Ok(())
}
