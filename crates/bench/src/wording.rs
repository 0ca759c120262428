//! Wording shared by all report formats.

use chrono::{DateTime, Utc};

use crate::placement::Placement;
use crate::result::{Better, Metric, MetricUnit};

/// Formats a metric with its unit: `round trip, µs`; a count has its label alone.
pub(crate) fn metric(metric: Metric) -> String {
    let info = metric.info();
    match info.unit.sign() {
        "" => info.label.to_owned(),
        sign => format!("{}, {sign}", info.label),
    }
}

/// Formats the unit of a metric, or the label of a count, with the direction: `µs ↓`.
pub(crate) fn unit(metric: Metric) -> String {
    let info = metric.info();
    let unit = if info.unit == MetricUnit::Count { info.label } else { info.unit.sign() };
    format!("{unit} {}", arrow(metric))
}

/// The arrow that shows whether lower or higher figures are better.
pub(crate) const fn arrow(metric: Metric) -> &'static str {
    match metric.info().better {
        Better::Lower => "↓",
        Better::Higher => "↑",
    }
}

/// States whether lower or higher figures are better.
pub(crate) const fn direction(metric: Metric) -> &'static str {
    match metric.info().better {
        Better::Lower => "lower is better",
        Better::Higher => "higher is better",
    }
}

/// Formats a command so that it can be pasted into a shell.
pub(crate) fn command_line(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Formats seconds since 1970-01-01 00:00 UTC as date and time: `2025-03-01 14:05 UTC`.
pub(crate) fn date_and_time(seconds: u64) -> String {
    time(seconds).format("%F %H:%M UTC").to_string()
}

/// Formats seconds since 1970-01-01 00:00 UTC as a date: `2025-03-01`.
pub(crate) fn date(seconds: u64) -> String {
    time(seconds).format("%F").to_string()
}

pub(crate) const fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::One => "Everything on one processor",
        Placement::Split => "The bus on one processor, all other processes on another",
        Placement::Free => "Everything where the scheduler puts it",
    }
}

/// Formats the number of rounds: `1 round`, `5 rounds`.
pub(crate) fn rounds(count: u32) -> String {
    match count {
        1 => "1 round".to_owned(),
        count => format!("{count} rounds"),
    }
}

/// Formats a number of occurrences: `once`, `twice`, `3 times`.
pub(crate) fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// Capitalizes the first letter of a text.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Converts a time; a time beyond the range of `DateTime`, which only a file can contain, becomes
/// the maximum.
fn time(seconds: u64) -> DateTime<Utc> {
    let seconds = i64::try_from(seconds).ok();
    seconds
        .and_then(|seconds| DateTime::from_timestamp(seconds, 0))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:=,@%+".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Formats sentences as a list with lines of at most `width` columns.
pub(crate) fn list(sentences: &[String], width: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let mut line = "-".to_owned();
        for word in sentence.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > width {
                text.push_str(&line);
                text.push('\n');
                line = " ".to_owned();
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Converts the name of a setting into words: `read buffer`.
pub(crate) fn setting(name: &str) -> String {
    name.replace(['_', '-'], " ")
}

/// Removes duplicates, keeping the first occurrence of each item.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

/// The title of the column with the ratio of our bus to the best other bus.
pub(crate) const RATIO_TITLE: &str = "to best";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_740_837_900, "2025-03-01 14:05 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
            (u64::MAX, "+262142-12-31 23:59 UTC"),
        ];
        for (seconds, text) in cases {
            assert_eq!(date_and_time(seconds), text);
        }
    }

    #[test]
    fn long_sentences_are_broken() {
        let sentences = ["One two three four.", "Five."].map(str::to_owned);
        assert_eq!(list(&sentences, 11), "- One two\n  three\n  four.\n- Five.\n");
        assert_eq!(list(&[], 11), "");
    }

    #[test]
    fn commands_can_be_pasted() {
        for (words, line) in [
            (&["diligence", "bench", "all"][..], "diligence bench all"),
            (&["a b", ""], "'a b' ''"),
            (&["it's", "$HOME"], r"'it'\''s' '$HOME'"),
        ] {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(command_line(&words), line);
        }
    }
}
