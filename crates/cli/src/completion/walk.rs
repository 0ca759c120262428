//! Parsing of the words before the cursor: the command, its arguments, and the kind of the next
//! word.

use clap::{Arg, Command};

/// The state of a command line at the cursor.
#[derive(Debug)]
pub(super) struct LinePosition<'a> {
    /// The command that the line names, at first the program itself.
    pub command: &'a Command,
    /// Options with their values, in the order of the line.
    pub given: Vec<(&'a Arg, Option<&'a str>)>,
    /// The positional arguments before the cursor.
    pub words: Vec<&'a str>,
    /// The kind of the word at the cursor.
    pub next: NextWord<'a>,
}

/// The kinds of a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum NextWord<'a> {
    /// The value of this positional argument, or a subcommand; `None` if the command takes no
    /// further arguments.
    Word { argument: Option<&'a Arg> },
    /// The name of an option.
    Option,
    /// The value of an option, with the part that is already written.
    Value { argument: &'a Arg, written: &'a str },
    /// A word in the command line of another program, which begins at the word with this index.
    Foreign { from: usize },
}

impl<'a> LinePosition<'a> {
    /// The last value of an option, if it was given.
    pub(super) fn value(&self, id: &str) -> Option<&'a str> {
        let given = self.given.iter().rev().find(|(argument, _)| argument.get_id() == id);
        given.and_then(|(_, value)| *value)
    }
}

/// Reads words in the same way as clap, and skips words that clap would reject.
pub(super) fn walk<'a>(
    root: &'a Command,
    before: &'a [String],
    current: &'a str,
) -> LinePosition<'a> {
    let mut walk = LineWalk::new(root);
    for (number, word) in before.iter().enumerate() {
        walk.take(number, word);
    }
    let next = walk.next(before.len(), current);
    let LineWalk { command, given, words, .. } = walk;
    LinePosition { command, given, words, next }
}

struct LineWalk<'a> {
    command: &'a Command,
    given: Vec<(&'a Arg, Option<&'a str>)>,
    words: Vec<&'a str>,
    reading: ParserState<'a>,
}

/// The state of the parser before the next word.
#[derive(Clone, Copy)]
enum ParserState<'a> {
    Anything,
    /// The next word is the value of this option.
    Value(&'a Arg),
    /// The next word is positional even if it begins with a hyphen, because `--` was given.
    Words,
    /// The rest of the line belongs to another program.
    Foreign {
        from: usize,
    },
}

impl<'a> LineWalk<'a> {
    const fn new(command: &'a Command) -> Self {
        Self { command, given: Vec::new(), words: Vec::new(), reading: ParserState::Anything }
    }

    fn take(&mut self, number: usize, word: &'a str) {
        match self.reading {
            ParserState::Foreign { .. } => {}
            ParserState::Value(argument) => {
                self.given.push((argument, Some(word)));
                self.reading = ParserState::Anything;
            }
            ParserState::Anything if word == "--" => {
                let is_foreign = self.command.get_positionals().any(Arg::is_last_set);
                let from = number + 1;
                self.reading =
                    if is_foreign { ParserState::Foreign { from } } else { ParserState::Words };
            }
            ParserState::Anything if is_option(word) => self.option(word),
            ParserState::Anything | ParserState::Words => self.word(number, word),
        }
    }

    fn word(&mut self, number: usize, word: &'a str) {
        let is_first = self.words.is_empty();
        if let Some(command) = self.command.find_subcommand(word).filter(|_| is_first) {
            *self = Self::new(command);
        } else if self.positional().is_some_and(Arg::is_trailing_var_arg_set) {
            self.reading = ParserState::Foreign { from: number };
        } else {
            self.words.push(word);
        }
    }

    fn option(&mut self, word: &'a str) {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = split_option(long);
            if let Some(argument) = long_option(self.command, name) {
                self.push(argument, value);
            }
            return;
        }
        // Short options without values can be combined. The rest of the word after one that takes a
        // value is this value.
        let letters = &word[1..];
        for (place, letter) in letters.char_indices() {
            let Some(argument) = short_option(self.command, letter) else { return };
            let rest = &letters[place + letter.len_utf8()..];
            if takes_values(argument) {
                let value = (!rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest));
                return self.push(argument, value);
            }
            self.push(argument, None);
        }
    }

    fn push(&mut self, argument: &'a Arg, value: Option<&'a str>) {
        match value {
            None if takes_values(argument) && !argument.is_require_equals_set() => {
                self.reading = ParserState::Value(argument);
            }
            value => self.given.push((argument, value)),
        }
    }

    fn next(&self, number: usize, current: &'a str) -> NextWord<'a> {
        match self.reading {
            ParserState::Foreign { from } => NextWord::Foreign { from },
            ParserState::Value(argument) => NextWord::Value { argument, written: current },
            ParserState::Anything if current.starts_with('-') => self.option_value(current),
            ParserState::Anything | ParserState::Words => match self.positional() {
                Some(argument) if argument.is_trailing_var_arg_set() => {
                    NextWord::Foreign { from: number }
                }
                argument => NextWord::Word { argument },
            },
        }
    }

    fn option_value(&self, current: &'a str) -> NextWord<'a> {
        let long = current.strip_prefix("--").map(split_option);
        let Some((name, Some(written))) = long else { return NextWord::Option };
        match long_option(self.command, name).filter(|argument| takes_values(argument)) {
            Some(argument) => NextWord::Value { argument, written },
            None => NextWord::Option,
        }
    }

    /// The positional argument to which the next word belongs.
    fn positional(&self) -> Option<&'a Arg> {
        let mut left = self.words.len();
        let mut arguments = self.command.get_positionals().filter(|one| !one.is_last_set());
        arguments.find(|argument| {
            let most = argument.get_num_args().map_or(1, |count| count.max_values());
            let is_here = left < most;
            left = left.saturating_sub(most);
            is_here
        })
    }
}

/// Returns true if a word is an option. A single hyphen and a negative number are not.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word.parse::<f64>().is_err()
}

fn split_option(long: &str) -> (&str, Option<&str>) {
    long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)))
}

pub(super) fn takes_values(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}

fn long_option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|argument| {
        argument.get_long() == Some(name)
            || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    })
}

fn short_option(command: &Command, letter: char) -> Option<&Arg> {
    command.get_arguments().find(|argument| {
        argument.get_short() == Some(letter)
            || argument.get_all_short_aliases().is_some_and(|all| all.contains(&letter))
    })
}
