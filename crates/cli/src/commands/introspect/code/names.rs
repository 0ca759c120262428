//! Conversion of D-Bus names to identifiers.

use std::collections::HashSet;

/// Splits a name into words in lowercase: `GetAllXYZ` becomes get, all and xyz.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let letters: Vec<char> = part.chars().collect();
        for (at, &letter) in letters.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| letters[before]);
            let is_last_of_several = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
            let is_begin = before.is_none_or(|before| {
                letter.is_ascii_uppercase() && (!before.is_ascii_uppercase() || is_last_of_several)
            });
            match words.last_mut() {
                Some(word) if !is_begin => word.push(letter.to_ascii_lowercase()),
                _ => words.push(letter.to_ascii_lowercase().to_string()),
            }
        }
    }
    words
}

/// Returns the name in snake case, such as `get_all_xyz`; `fallback` if it has no letters or
/// digits.
pub(super) fn snake(name: &str, fallback: &str) -> String {
    with_leading_letter(words(name).join("_"), fallback, "n")
}

/// Returns the name in Pascal case, such as `GetAllXyz`.
pub(super) fn pascal(name: &str, fallback: &str) -> String {
    let large = |word: &String| word[..1].to_ascii_uppercase() + &word[1..];
    with_leading_letter(words(name).iter().map(large).collect(), fallback, "N")
}

fn with_leading_letter(name: String, fallback: &str, letter: &str) -> String {
    match name.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_digit() => letter.to_owned() + &name,
        Some(_) => name,
    }
}

/// Returns true if a list of words that are separated by spaces contains the word.
pub(super) fn has_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|one| one == word)
}

/// A namespace in which each identifier is given only once.
#[derive(Debug)]
pub(super) struct Namespace {
    /// Lists of words that the language reserves or that the generated code uses.
    reserved: &'static [&'static str],
    used: HashSet<String>,
}

impl Namespace {
    pub(super) fn new(reserved: &'static [&'static str]) -> Self {
        Self { reserved, used: HashSet::new() }
    }

    /// Returns `name`, or a similar one, such that all identifiers that `derived` derives from it are
    /// free.
    pub(super) fn reserve(&mut self, name: &str, derived: impl Fn(&str) -> Vec<String>) -> String {
        let is_reserved = self.reserved.iter().any(|words| has_word(words, name));
        let name = if is_reserved { format!("{name}_") } else { name.to_owned() };
        let others = (2..).map(|number| format!("{}_{number}", name.trim_end_matches('_')));
        let mut candidates = [name.clone()].into_iter().chain(others);
        let is_free =
            |candidate: &String| derived(candidate).iter().all(|name| !self.used.contains(name));
        let chosen = candidates.find(is_free).unwrap_or(name);
        self.used.extend(derived(&chosen));
        chosen
    }

    /// Like [`reserve`](Self::reserve) for a name from which no other identifiers are derived.
    pub(super) fn reserve_alone(&mut self, name: &str) -> String {
        self.reserve(name, |name| vec![name.to_owned()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, small, large) in [
            ("GetAllXYZ", "get_all_xyz", "GetAllXyz"),
            ("HTTPServer2Start", "http_server2_start", "HttpServer2Start"),
            ("already_small", "already_small", "AlreadySmall"),
            ("__Odd__Name", "odd_name", "OddName"),
            ("UPnP", "u_pn_p", "UPnP"),
            ("_1", "n1", "N1"),
            ("a b-c\u{e9}d", "a_b_c_d", "ABCD"),
            ("___", "arg0", "arg0"),
            ("", "arg0", "arg0"),
        ] {
            assert_eq!(snake(name, "arg0"), small, "{name}");
            assert_eq!(pascal(name, "arg0"), large, "{name}");
        }
    }

    #[test]
    fn identifiers_are_reserved_only_once() {
        let mut names = Namespace::new(&["class"]);
        let pair = |name: &str| vec![name.to_owned(), format!("set_{name}")];
        assert_eq!(names.reserve_alone("class"), "class_");
        assert_eq!(names.reserve_alone("class"), "class_2");
        assert_eq!(names.reserve_alone("set_level"), "set_level");
        assert_eq!(names.reserve("level", pair), "level_2");
        assert_eq!(names.reserve_alone("set_level_2"), "set_level_2_2");
    }
}
