//! `diligence emit`: emits a signal.

use std::process::ExitCode;

use clap::Args;
use inspector::{Patience, SignalName};

use crate::bus_choice::BusChoice;
use crate::output::complain;
use crate::poke::arguments::{ArgumentOptions, forms};
use crate::poke::error::PokeError;
use crate::poke::member::{in_front, is_interface_of, split};

/// Which signal to emit.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Emit {
    #[command(flatten)]
    bus: BusChoice,
    /// `PATH INTERFACE SIGNAL [SIGNATURE] [ARGUMENT]...` or `PATH INTERFACE.SIGNAL [ARGUMENT]...`;
    /// it is said to come from the object at the path
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
    /// To whom it goes [default: everybody who wants it]
    #[arg(short, long, visible_alias = "dest", value_name = "NAME")]
    destination: Option<String>,
    #[command(flatten)]
    arguments: ArgumentOptions,
    /// What gdbus has for the first word
    #[arg(short, long, value_name = "PATH", hide = true)]
    object_path: Option<String>,
    /// What gdbus has for the words behind it
    #[arg(short, long, value_name = "INTERFACE.SIGNAL", hide = true)]
    signal: Option<String>,
}

/// Emits it.
pub(crate) fn run(emit: &Emit) -> ExitCode {
    match emit.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.told("emit"),
    }
}

impl Emit {
    fn run(&self) -> Result<(), PokeError> {
        let words = in_front([&self.object_path, &self.signal], &self.words);
        let Some((path, words)) = words.split_first() else {
            return Err(PokeError::Words("the path of an object must be told".to_owned()));
        };
        let is_interface =
            |name: &str| self.signal.as_ref().is_some_and(|full| is_interface_of(full, name));
        let Some(named) = split(words, is_interface) else {
            return Err(PokeError::Words("the signal must be told".to_owned()));
        };
        let Some(interface) = named.interface else {
            let text = format!("the interface of the signal {} must be told", named.member);
            return Err(PokeError::Words(text));
        };
        let full = format!("{interface}.{}", named.member);
        let read = self.arguments.read(named.rest, &[]);
        let (reading, load) =
            read.map_err(|error| PokeError::Arguments { member: full.clone(), error })?;
        if self.arguments.is_verbose() {
            let (types, forms) = (&reading.signature, forms(&reading));
            complain(&format!("emitting {full} with \"{types}\", read as {forms}\n"));
        }
        let signal = SignalName {
            path: path.clone(),
            interface: interface.to_owned(),
            signal: named.member.to_owned(),
            destination: self.destination.clone(),
        };
        Ok(self.bus.inspector(Patience::default())?.broadcast(&signal, load)?)
    }
}

const LONG_HELP: &str = "\
Nobody tells the types of its arguments, so they are written with the signature in front, as busctl \
has them, with the type in front of each, as dbus-send has them, or as text of GVariant, which says \
them itself:

  diligence emit /org/example/Player org.example.Player Played su song 7
  diligence emit /org/example/Player org.example.Player.Played string:song uint32:7
  diligence emit /org/example/Player org.example.Player.Played \"'song'\" 'uint32 7'

A word behind INTERFACE.SIGNAL that could be the name of a signal is taken for one; in quotes it is not.

The exit status is 0 when it was sent, 1 when it was not, and 2 when the command line is wrong.";
