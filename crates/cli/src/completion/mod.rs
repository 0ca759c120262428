//! Completion of command lines for shells: `diligence complete`.
//!
//! ```text
//!  words ─ shell ─▶ words without quotes ─ walk ─▶ LinePosition ─ grammar ─▶ options, values, files
//!            ▲                                          └──────── meaning ─▶ BusQuestion
//!            └──── Offers ◀── names, paths, members ◀── asking ◀── the bus ─┘
//! ```
//!
//! The shell scripts in `scripts` pass the line up to the cursor and show the completions. Every
//! error results in no completions, because an error message would disturb the command line.
//! Completion starts neither a service nor a program that connects to a remote bus.

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

/// Returns the completions of the last word in the format of the shell's script. The words are
/// written as the shell passes them.
pub(crate) fn complete(command: &mut Command, shell: Shell, words: &[String]) -> String {
    command.build();
    let line = shell.read(words);
    let Some((current, before)) = line.words.split_last() else { return String::new() };
    shell.write(offers(command, before, current), &line)
}

fn offers(command: &Command, before: &[String], current: &str) -> Offers {
    let position = walk(command, before, current);
    match position.next {
        NextWord::Foreign { from } => Offers::Command { from },
        NextWord::Option => grammar::options(&position, current),
        NextWord::Value { argument, written } => grammar::value(argument)
            .or_else(|| asking::offers(&position, meaning::of_value(&position, argument), written))
            .map(|offers| offers.with_prefix(&current[..current.len() - written.len()]))
            .unwrap_or_default(),
        NextWord::Word { argument } => grammar::subcommands(&position)
            .or_else(|| argument.and_then(grammar::value))
            .or_else(|| {
                let meanings = argument.map(|_| meaning::of_word(&position, current));
                asking::offers(&position, meanings.unwrap_or_default(), current)
            })
            .unwrap_or_else(|| grammar::options(&position, current)),
    }
}
