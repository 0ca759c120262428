//! Names that are similar to an unknown one, for "did you mean".

/// Returns the names most similar to `wanted`, the most similar first; empty if none is similar
/// enough.
pub fn nearest<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let likeness = |name: &'n str| Some((distance(&wanted, &name.to_lowercase())?, name));
    let mut found: Vec<_> = names.into_iter().filter_map(likeness).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(NAMES_MAX).map(|(_, name)| name).collect()
}

/// Returns a question to end an error message, such as `; did you mean a or b?`; empty without
/// names.
pub fn suggestion(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => format!("; did you mean {name}?"),
        [names @ .., last] => format!("; did you mean {} or {last}?", names.join(", ")),
    }
}

/// The edit distance of two names; `None` if it is large and `name` does not contain `wanted`.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let is_part = wanted.len() >= PART_MIN && name.contains(wanted);
    let edits = strsim::levenshtein(wanted, name);
    match edits <= wanted.chars().count() / EDITS_SHARE + 1 {
        true => Some(edits),
        false => is_part.then_some(edits),
    }
}

/// The maximum number of suggested names.
const NAMES_MAX: usize = 3;

/// One in this many characters may be wrong.
const EDITS_SHARE: usize = 4;

/// The minimum length, in bytes, of a text that is searched within names.
const PART_MIN: usize = 3;
