//! Names that somebody may have meant.

/// The names that are most like `wanted`, the most like first; none if none is much like it.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let likeness = |name: &'n str| Some((distance(&wanted, &name.to_lowercase())?, name));
    let mut found: Vec<_> = names.into_iter().filter_map(likeness).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(NAMES_MAX).map(|(_, name)| name).collect()
}

/// A sentence that asks whether one of these was meant, to be put behind another; empty without any.
pub fn suggestion(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => format!("; did you mean {name}?"),
        [names @ .., last] => format!("; did you mean {} or {last}?", names.join(", ")),
    }
}

/// How far two names are from each other; `None` if too far. What contains the other is near.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let is_part = wanted.len() >= PART_MIN && name.contains(wanted);
    let edits = edits(wanted, name);
    match edits <= wanted.chars().count() / EDITS_SHARE + 1 {
        true => Some(edits),
        false => is_part.then_some(edits),
    }
}

/// How many characters must be put in, taken out or changed (Levenshtein).
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(LENGTH_MAX).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, character) in one.chars().take(LENGTH_MAX).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, candidate) in other.iter().enumerate() {
            let changed = diagonal + usize::from(character != *candidate);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// Names that are suggested at most.
const NAMES_MAX: usize = 3;

/// Of so many characters one may be wrong.
const EDITS_SHARE: usize = 4;

/// A part of a name has at least so many bytes.
const PART_MIN: usize = 3;

/// Characters of a name that are compared: as many as a name of a bus may have.
const LENGTH_MAX: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_suggested() {
        let names = ["org.example.Mail", "org.example.Mixer", "com.example.Battery1"];
        let check = |wanted: &str, expected: &[&str]| {
            assert_eq!(nearest(wanted, names), expected, "{wanted}");
        };
        check("org.example.Mial", &["org.example.Mail", "org.example.Mixer"]);
        check("battery", &["com.example.Battery1"]);
        check("com.example.battery2", &["com.example.Battery1"]);
        check("net.hadess.Switcher", &[]);
        check("", &[]);
    }

    #[test]
    fn suggestions_are_sentences() {
        assert_eq!(suggestion(&[]), "");
        assert_eq!(suggestion(&["a"]), "; did you mean a?");
        assert_eq!(suggestion(&["a", "b", "c"]), "; did you mean a, b or c?");
    }
}
