//! What somebody may have meant by a name that nobody has.

/// At most [`SHOWN`] of the candidates that are not much different from `given`, the nearest first.
/// A name that is there was not mistaken.
pub(crate) fn nearest(given: &str, candidates: impl Iterator<Item = String>) -> Vec<String> {
    let given_lower = given.to_lowercase();
    let bound = (given.chars().count() / 3).max(2);
    let candidates: Vec<_> = candidates.take(CANDIDATES_MAX).collect();
    if candidates.iter().any(|candidate| candidate == given) {
        return Vec::new();
    }
    let mut near: Vec<_> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let apart = distance(&given_lower, &candidate.to_lowercase(), bound)?;
            Some((apart, candidate))
        })
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(SHOWN).map(|(_, candidate)| candidate).collect()
}

/// How many characters are to be put in, taken away or changed; `None` if more than `bound`.
fn distance(one: &str, other: &str, bound: usize) -> Option<usize> {
    let other: Vec<_> = other.chars().collect();
    if one.chars().count().abs_diff(other.len()) > bound {
        return None;
    }
    let mut row: Vec<_> = (0..=other.len()).collect();
    for (line, from) in one.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], line + 1);
        for (place, to) in other.iter().enumerate() {
            let changed = corner + usize::from(from != *to);
            corner = row[place + 1];
            row[place + 1] = changed.min(row[place] + 1).min(corner + 1);
        }
    }
    row.last().copied().filter(|apart| *apart <= bound)
}

/// How many are told.
const SHOWN: usize = 3;

/// More than that nobody's service has.
const CANDIDATES_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_strange_ones_not_at_all() {
        let names = || ["ListNames", "ListName", "GetId", "Listen"].into_iter().map(String::from);
        assert_eq!(nearest("ListNmes", names()), ["ListNames", "ListName"]);
        assert_eq!(nearest("listnames", names()), ["ListNames", "ListName"]);
        assert_eq!(nearest("Frobnicate", names()), [""; 0]);
        assert_eq!(nearest("ListName", names()), [""; 0]);
    }
}
