//! What may come next on a command line, for shells: `diligence complete`.
//!
//! ```text
//!  words ─ shell ─▶ words without quotes ─ walk ─▶ Standing ─ grammar ─▶ options, values, files
//!            ▲                                        └───── meaning ─▶ Question
//!            └──── Offers ◀── names, paths, members ◀── asking ◀── the bus ─┘
//! ```
//!
//! The scripts for the shells, in `scripts`, pass on what is written so far, and show what they get.
//! Whatever goes wrong, there is just nothing to offer: nobody has asked for an error. Nothing is
//! started by it, neither a service nor a program that leads to a bus elsewhere.

mod asking;
mod grammar;
mod line;
mod meaning;
mod members;
mod names;
mod offers;
mod paths;
mod shell;
mod walk;

use clap::Command;

#[cfg(test)]
pub(crate) use line::words_of_line;
use offers::Offers;
pub(crate) use shell::Shell;
use walk::{NextWord, walk};

/// What the shell is told of the last of these words, which are as the shell gives them.
pub(crate) fn complete(command: &mut Command, shell: Shell, words: &[String]) -> String {
    command.build();
    let line = shell.read(words);
    let Some((current, before)) = line.words.split_last() else { return String::new() };
    shell.write(offers(command, before, current), &line)
}

fn offers(command: &Command, before: &[String], current: &str) -> Offers {
    let standing = walk(command, before, current);
    match standing.next {
        NextWord::Foreign { from } => Offers::Command { from },
        NextWord::Option => grammar::options(&standing, current),
        NextWord::Value { argument, written } => grammar::value(argument)
            .or_else(|| asking::offers(&standing, meaning::of_value(&standing, argument), written))
            .map(|offers| offers.behind(&current[..current.len() - written.len()]))
            .unwrap_or_default(),
        NextWord::Word { argument } => grammar::subcommands(&standing)
            .or_else(|| argument.and_then(grammar::value))
            .or_else(|| {
                let meanings = argument.map(|_| meaning::of_word(&standing, current));
                asking::offers(&standing, meanings.unwrap_or_default(), current)
            })
            .unwrap_or_else(|| grammar::options(&standing, current)),
    }
}
