//! The spellings of names on D-Bus interfaces.

/// How the words of a name are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NameCase {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
}

impl NameCase {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        SPELLINGS.iter().find(|(spelling, _)| *spelling == text).map(|(_, case)| *case)
    }

    /// The names of all cases, for an error text.
    pub(crate) fn spellings() -> String {
        SPELLINGS.map(|(spelling, _)| format!("\"{spelling}\"")).join(", ")
    }

    /// Spells `name`, which is in `snake_case` or `PascalCase`.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        let lower = || words.iter().map(|word| word.to_lowercase());
        match self {
            Self::Lower => lower().collect(),
            Self::Upper => lower().map(|word| word.to_uppercase()).collect(),
            Self::Pascal => lower().map(|word| capitalized(&word)).collect(),
            Self::Camel => {
                let mut words = lower();
                let first = words.next().unwrap_or_default();
                words.fold(first, |text, word| text + &capitalized(&word))
            }
            Self::Snake => lower().collect::<Vec<_>>().join("_"),
            Self::ScreamingSnake => lower().collect::<Vec<_>>().join("_").to_uppercase(),
            Self::Kebab => lower().collect::<Vec<_>>().join("-"),
        }
    }
}

/// A word begins after an underscore, and at each capital that follows a small letter or digit.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = '_';
    for character in name.chars() {
        let begins = previous == '_' || (character.is_uppercase() && !previous.is_uppercase());
        match words.last_mut() {
            Some(word) if !begins || word.is_empty() => word.push(character),
            _ => words.push(character.into()),
        }
        previous = character;
    }
    let trimmed = words.iter().map(|word| word.trim_matches('_').to_owned());
    trimmed.filter(|word| !word.is_empty()).collect()
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

const SPELLINGS: [(&str, NameCase); 7] = [
    ("lowercase", NameCase::Lower),
    ("UPPERCASE", NameCase::Upper),
    ("PascalCase", NameCase::Pascal),
    ("camelCase", NameCase::Camel),
    ("snake_case", NameCase::Snake),
    ("SCREAMING_SNAKE_CASE", NameCase::ScreamingSnake),
    ("kebab-case", NameCase::Kebab),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_spells_both_kinds_of_names() {
        for name in ["handle_token_2", "HandleToken_2"] {
            let spelled = SPELLINGS.map(|(_, case)| case.apply(name));
            let expected = [
                "handletoken2",
                "HANDLETOKEN2",
                "HandleToken2",
                "handleToken2",
                "handle_token_2",
                "HANDLE_TOKEN_2",
                "handle-token-2",
            ];
            assert_eq!(spelled, expected, "{name}");
        }
    }

    #[test]
    fn words_end_where_capitals_begin() {
        for (name, expected) in [
            ("_private_", "private"),
            ("X11Display", "x11-display"),
            ("useHTTP", "use-http"),
            ("a", "a"),
        ] {
            assert_eq!(NameCase::Kebab.apply(name), expected, "{name}");
        }
    }
}
