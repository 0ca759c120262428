//! The command lines that shells pass for completion, and the answers that they expect.

use std::fmt::Write as _;

use capture::text::visible::printable;
use clap::ValueEnum;

use super::line::{split, unquoted};
use super::offers::{Offer, OfferEnding, Offers};

/// A shell with completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Shell {
    /// bash, which passes the line up to the cursor, and the characters that separate words in its
    /// editor
    Bash,
    /// fish, which passes the words after the name of the program, the last one with its quotes
    Fish,
    /// zsh, which passes the words after the name of the program
    Zsh,
}

/// A command line that ends at the cursor.
pub(super) struct ShellLine {
    /// The words after the name of the program, without quotes.
    pub words: Vec<String>,
    /// The position at which each word begins, in characters, if it is known.
    begins: Vec<usize>,
    /// The part of the last word that the shell keeps.
    left_alone: String,
}

impl Shell {
    pub(crate) const ALL: [Self; 3] = [Self::Bash, Self::Fish, Self::Zsh];

    /// The completion script, and the file name under which the shell looks for it.
    pub(crate) const fn script(self) -> (&'static str, &'static str) {
        match self {
            Self::Bash => ("diligence.bash", include_str!("scripts/diligence.bash")),
            Self::Fish => ("diligence.fish", include_str!("scripts/diligence.fish")),
            Self::Zsh => ("_diligence", include_str!("scripts/_diligence")),
        }
    }

    pub(super) fn read(self, given: &[String]) -> ShellLine {
        let mut words = given.to_vec();
        match (self, given) {
            (Self::Bash, [line, rest @ ..]) => {
                return of_bash(line, rest.first().map_or("", String::as_str));
            }
            (Self::Fish, [.., last]) => {
                words.pop();
                words.push(unquoted(last));
            }
            _ => {}
        }
        ShellLine { words, begins: Vec::new(), left_alone: String::new() }
    }

    /// One line for each offer: its kind, the word and its description, separated by tabs.
    pub(super) fn write(self, offers: Offers, line: &ShellLine) -> String {
        match offers {
            Offers::Words(offers) => {
                let mut text = String::new();
                offers.iter().for_each(|offer| self.push(&mut text, offer, line));
                text
            }
            Offers::Files => String::from("files\t\n"),
            Offers::Folders => String::from("directories\t\n"),
            Offers::Command { from } => {
                let place = line.begins.get(from).copied().unwrap_or(from);
                format!("command\t{place}\n")
            }
        }
    }

    fn push(self, text: &mut String, Offer { word, about, ending }: &Offer, line: &ShellLine) {
        let kind = match ending {
            OfferEnding::Whole => "whole",
            OfferEnding::Part => "part",
        };
        let _ = match self {
            // bash inserts the words as they are, and shows no descriptions.
            Self::Bash => {
                let current = line.words.last().map_or("", String::as_str);
                let rest = word.strip_prefix(&line.left_alone);
                let Some(rest) = rest.filter(|_| word.starts_with(current)) else { return };
                writeln!(text, "{kind}\t{rest}")
            }
            // fish and zsh select the fitting words themselves, not only by their beginning.
            Self::Fish | Self::Zsh => writeln!(text, "{kind}\t{word}\t{}", printable(about)),
        };
    }
}

fn of_bash(line: &str, separators: &str) -> ShellLine {
    let words = split(line, separators);
    let is_assignment =
        |text: &str| text.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let mut words = words.into_iter().skip_while(|word| is_assignment(&word.text));
    words.next();
    let words: Vec<_> = words.collect();
    let last = words.last();
    ShellLine {
        left_alone: last.map(|word| word.text[..word.left_alone].to_owned()).unwrap_or_default(),
        begins: words.iter().map(|word| word.begin).collect(),
        words: words.into_iter().map(|word| word.text).collect(),
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
