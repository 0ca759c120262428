//! What shells tell us of a command line, and what they are told.

use std::fmt::Write as _;

use capture::text::visible::printable;
use clap::ValueEnum;

use super::line::{split, unquoted};
use super::offers::{Offer, OfferEnding, Offers};

/// A shell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Shell {
    /// It gives the line up to the cursor, and the characters at which its editor begins a new word.
    Bash,
    /// It gives the words behind the program's, the last with its quotes.
    Fish,
    /// It gives the words behind the program's.
    Zsh,
}

/// A command line that ends at the cursor.
pub(super) struct ShellLine {
    /// The words behind the name of the program, without quotes.
    pub words: Vec<String>,
    /// Where each of them begins, in characters, if that is known.
    begins: Vec<usize>,
    /// What stands in front of the part of the last word that will be replaced.
    left_alone: String,
}

impl Shell {
    pub(crate) const ALL: [Self; 3] = [Self::Bash, Self::Fish, Self::Zsh];

    /// What is to be put where the shell looks for completions, and by which name.
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

    /// A line for each offer: what kind it is, the word and what the word is, with tabs between.
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
            // It takes what it gets for what is to be written, and shows nothing besides.
            Self::Bash => {
                let current = line.words.last().map_or("", String::as_str);
                let rest = word.strip_prefix(&line.left_alone);
                let Some(rest) = rest.filter(|_| word.starts_with(current)) else { return };
                writeln!(text, "{kind}\t{rest}")
            }
            // Both look themselves which words fit, in more ways than by their beginning.
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
