//! `diligence emit`: emits a signal.

use capture::show::shell_word;
use clap::{Args, ValueEnum};
use inspector::{InspectorTimeouts, SignalName};
use notation::guess::{FirstWord, has_type, is_like_signature};
use wire::names::{InterfaceName, MemberName};

use crate::bus_choice::BusChoice;
use crate::output::print_to_stderr;
use crate::poke::arguments::{ArgumentOptions, forms};
use crate::poke::error::PokeError;
use crate::poke::member::with_options_in_front;

/// Arguments of `diligence emit`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Emit {
    #[command(flatten)]
    bus: BusChoice,
    /// `PATH INTERFACE SIGNAL SIGNATURE [ARGUMENT]...` or `PATH INTERFACE.SIGNAL [ARGUMENT]...`;
    /// PATH is the object from which the signal comes
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
    /// The recipient [default: all subscribers]
    #[arg(short, long, visible_alias = "dest", value_name = "NAME")]
    destination: Option<String>,
    #[command(flatten)]
    arguments: ArgumentOptions,
    /// The object path, as an option like in gdbus
    #[arg(short, long, value_name = "PATH", hide = true)]
    object_path: Option<String>,
    /// The signal with its interface, as an option like in gdbus
    #[arg(short, long, value_name = "INTERFACE.SIGNAL", hide = true)]
    signal: Option<String>,
    /// The message type of dbus-send
    #[arg(long = "type", value_enum, hide = true)]
    _message: Option<EmitTypeWord>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum EmitTypeWord {
    Signal,
}

impl Emit {
    /// Parses the words and emits the signal.
    pub(crate) fn run(&self) -> Result<(), PokeError> {
        let words = with_options_in_front([&self.object_path, &self.signal], &self.words);
        let Some((path, words)) = words.split_first() else {
            return Err(PokeError::Words("missing the path of the object".to_owned()));
        };
        let first = match self.signal {
            Some(_) => FirstWord::Argument,
            None => FirstWord::SignatureOrArgument,
        };
        let suggestion =
            || self.suggestion(words).filter(|_| first == FirstWord::SignatureOrArgument);
        let named = named(words, first).map_err(|error| match suggestion() {
            Some(suggestion) => PokeError::Words(format!("{error}; did you mean {suggestion}?")),
            None => error,
        })?;
        let full = format!("{}.{}", named.interface, named.signal);
        let read = self.arguments.read(named.arguments, &[], first);
        let (reading, load) = read.map_err(|error| match suggestion() {
            Some(suggestion) => {
                PokeError::Words(format!("{full}: {error}; did you mean {suggestion}?"))
            }
            None => PokeError::Arguments { member: full.clone(), error },
        })?;
        if self.arguments.is_verbose() {
            let (types, forms) = (&reading.signature, forms(&reading));
            print_to_stderr(&format!("emitting {full} with \"{types}\", read as {forms}\n"));
        }
        let signal = SignalName {
            path: path.clone(),
            interface: named.interface.to_owned(),
            signal: named.signal.to_owned(),
            destination: self.destination.clone(),
        };
        Ok(self.bus.inspector(InspectorTimeouts::default())?.broadcast(&signal, load)?)
    }
}

impl Emit {
    /// The command line of busctl for these words, if they make sense as INTERFACE.SIGNAL
    /// SIGNATURE: gdbus joins the names, busctl needs the signature.
    fn suggestion(&self, words: &[String]) -> Option<String> {
        let (name, rest) = words.split_first()?;
        let (interface, signal) = name.rsplit_once('.')?;
        let is_signal = InterfaceName::new(interface).is_ok() && MemberName::new(signal).is_ok();
        // Parsing such words would open the files.
        let has_file = rest.iter().any(|word| word.starts_with('@'));
        let types =
            rest.first().filter(|types| is_signal && !has_file && is_like_signature(types))?;
        self.arguments.read(rest, &[], FirstWord::SignatureOrArgument).ok()?;
        let values = rest.iter().skip(1).map(|word| shell_word(word).into_owned());
        let words = [interface.to_owned(), signal.to_owned(), types.clone()].into_iter();
        Some(words.chain(values).collect::<Vec<_>>().join(" "))
    }
}

/// A signal and its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct NamedSignal<'w> {
    interface: &'w str,
    signal: &'w str,
    arguments: &'w [String],
}

/// Splits the words after the path. No object describes its signals for this, so `INTERFACE SIGNAL`
/// differs from `INTERFACE.SIGNAL ARGUMENT` in the next word: a signature, or types before the
/// arguments.
fn named(words: &[String], first: FirstWord) -> Result<NamedSignal<'_>, PokeError> {
    let Some((name, rest)) = words.split_first() else {
        let text = "the signal is missing: expected INTERFACE SIGNAL or INTERFACE.SIGNAL";
        return Err(PokeError::Words(text.to_owned()));
    };
    let joined = name.rsplit_once('.').filter(|(interface, signal)| {
        InterfaceName::new(interface).is_ok() && MemberName::new(signal).is_ok()
    });
    let joined =
        joined.map(|(interface, signal)| NamedSignal { interface, signal, arguments: rest });
    let apart = rest.split_first().filter(|(signal, _)| {
        first == FirstWord::SignatureOrArgument
            && InterfaceName::new(name).is_ok()
            && MemberName::new(signal).is_ok()
    });
    let apart = apart.map(|(signal, arguments)| NamedSignal {
        interface: name.as_str(),
        signal,
        arguments,
    });
    match (joined, apart) {
        (Some(joined), None) => Ok(joined),
        (None, Some(apart)) => Ok(apart),
        (Some(_), Some(apart)) if has_types(apart.arguments) => Ok(apart),
        (Some(joined), Some(NamedSignal { signal: word, .. })) => Err(PokeError::Words(format!(
            "\"{name} {word}\" is the signal {word} of {name}, or the signal {} of {} with the text \
             {word}: write {name}.{word} or {name} '\"{word}\"'",
            joined.signal, joined.interface
        ))),
        (None, None) => Err(PokeError::Words(format!(
            "\"{name}\" does not name a signal: expected INTERFACE SIGNAL or INTERFACE.SIGNAL"
        ))),
    }
}

/// Returns true if words contain their types: a leading signature, or a type for each word.
fn has_types(words: &[String]) -> bool {
    let Some(first) = words.first() else { return false };
    is_like_signature(first) || words.iter().all(|word| has_type(word))
}

const LONG_HELP: &str = "\
No object describes the signal, so the arguments must contain their types: as a signature before them \
like in busctl, as the type before each like in dbus-send, or as GVariant text with types:

  diligence emit /org/example/Player org.example.Player Played su song 7
  diligence emit /org/example/Player org.example.Player.Played string:song uint32:7
  diligence emit /org/example/Player org.example.Player.Played \"'song'\" 'uint32 7'

A word that could be a signature is one; in quotes, '\"s\"', it is a string. INTERFACE SIGNAL as two words \
must be followed by a signature or by typed arguments, because it could also be INTERFACE.SIGNAL with a \
string. Without arguments, write INTERFACE.SIGNAL. After --signal, all words are arguments.

The exit status is 0 if the signal was sent, 1 if it was not, and 2 if the command line is wrong.";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_signal_is_named_in_one_word_or_two() {
        use FirstWord::{Argument, SignatureOrArgument};
        for (line, first, interface, signal, arguments) in [
            ("a.b.I.S", SignatureOrArgument, "a.b.I", "S", 0),
            ("a.b.I.S string:x", SignatureOrArgument, "a.b.I", "S", 1),
            ("a.b.I.S 'x'", SignatureOrArgument, "a.b.I", "S", 1),
            ("a.b.I.S \"word\"", SignatureOrArgument, "a.b.I", "S", 1),
            ("a.b.I S s x", SignatureOrArgument, "a.b.I", "S", 2),
            ("a.b.I S a{vs} 0", SignatureOrArgument, "a.b.I", "S", 2),
            ("a.b.I S string:x", SignatureOrArgument, "a.b.I", "S", 1),
            // "a" is not an interface.
            ("a.I S", SignatureOrArgument, "a.I", "S", 0),
            ("a.I S x", SignatureOrArgument, "a.I", "S", 1),
            ("a.b.I.S word", Argument, "a.b.I", "S", 1),
            ("a.b.I S s x", Argument, "a.b", "I", 3),
        ] {
            let words = words(line);
            let named = named(&words, first).unwrap_or_else(|error| panic!("{line}: {error}"));
            let found = (named.interface, named.signal, named.arguments.len());
            assert_eq!(found, (interface, signal, arguments), "{line}");
        }
    }

    #[test]
    fn ambiguous_signals_are_rejected() {
        let ambiguous = "write org.bar.Foo.someString or org.bar.Foo '\"someString\"'";
        for (line, expected) in [
            ("org.bar.Foo someString", ambiguous),
            ("org.bar.Foo someString other", ambiguous),
            ("org.bar.Foo someString 7", ambiguous),
            ("Foo", "\"Foo\" does not name a signal"),
            ("i S s", "\"i\" does not name a signal"),
            ("org.bar.7 s", "\"org.bar.7\" does not name a signal"),
        ] {
            let words = words(line);
            let error = named(&words, FirstWord::SignatureOrArgument).expect_err(line).to_string();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
