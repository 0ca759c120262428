//! Parsing of command lines as shells write them, with quotes and backslashes.

/// A word of a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LineWord {
    /// The text without quotes.
    pub text: String,
    /// The position at which the word begins, in characters of the line.
    pub begin: usize,
    /// The length in bytes of the start of the text that an editor keeps when it completes the
    /// word. The editor replaces only the part after the last quote or separator.
    pub left_alone: usize,
}

/// Splits a line that ends at the cursor. The last word is the one to complete; it is empty after a
/// space. `separators` are the characters at which the editor begins a new word.
pub(super) fn split(line: &str, separators: &str) -> Vec<LineWord> {
    let mut words = Vec::new();
    let mut word: Option<LineWord> = None;
    let mut quote = None;
    let mut characters = line.chars().enumerate();
    while let Some((begin, character)) = characters.next() {
        if quote.is_none() && character.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_with(|| LineWord::at(begin));
        match (quote, character) {
            (None, '\'' | '"') => {
                quote = Some(character);
                word.leave_alone();
            }
            (Some(open), _) if character == open => {
                quote = None;
                word.leave_alone();
            }
            (None, '\\') => word.text.extend(characters.next().map(|(_, escaped)| escaped)),
            (Some('"'), '\\') => {
                let escaped = characters.next().map(|(_, escaped)| escaped);
                let is_special = escaped.is_none_or(|one| "\"\\$`\n".contains(one));
                word.text.extend((!is_special).then_some('\\'));
                word.text.extend(escaped);
            }
            _ => {
                word.text.push(character);
                if quote.is_none() && separators.contains(character) {
                    word.leave_alone();
                }
            }
        }
    }
    words.push(word.unwrap_or_else(|| LineWord::at(line.chars().count())));
    words
}

/// Splits a whole line into its words without quotes.
#[cfg(test)]
pub(crate) fn words_of_line(line: &str) -> Vec<String> {
    split(line, "").into_iter().map(|word| word.text).collect()
}

/// Returns a word without its quotes; the closing quote may be missing.
pub(super) fn unquoted(word: &str) -> String {
    split(word, "").pop().map(|word| word.text).unwrap_or_default()
}

impl LineWord {
    const fn at(begin: usize) -> Self {
        Self { text: String::new(), begin, left_alone: 0 }
    }

    fn leave_alone(&mut self) {
        self.left_alone = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_into_words() {
        for (line, words, left_alone) in [
            ("", &[""][..], ""),
            ("d ", &["d", ""], ""),
            ("d call org.ex", &["d", "call", "org.ex"], ""),
            ("d call :1.", &["d", "call", ":1."], ":"),
            ("d call ':1.", &["d", "call", ":1."], ""),
            ("d call \\:1.", &["d", "call", ":1."], ""),
            ("d --address=unix:path=/a", &["d", "--address=unix:path=/a"], "--address=unix:path="),
            ("d \"a b\" 'c'd", &["d", "a b", "cd"], "c"),
            ("d a\\ b \"\\\"\\x", &["d", "a b", "\"\\x"], ""),
            ("d \"", &["d", ""], ""),
        ] {
            let found = split(line, "\"'><=;|&(:");
            let texts: Vec<_> = found.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(texts, words, "{line}");
            let last = found.last().expect("there is always one");
            assert_eq!(&last.text[..last.left_alone], left_alone, "{line}");
        }
    }
}
