//! `diligence emit`: emits a signal.

use std::process::ExitCode;

use clap::Args;
use inspector::{Patience, SignalName};

use crate::bus_choice::BusChoice;
use crate::output::complain;
use crate::poke::arguments::{ArgumentOptions, forms};
use crate::poke::error::PokeError;
use crate::poke::manner::inspector;
use crate::poke::member::split;

/// Which signal to emit.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Emit {
    #[command(flatten)]
    bus: BusChoice,
    /// The object that it is said to come from
    path: String,
    /// `INTERFACE SIGNAL [SIGNATURE] [ARGUMENT]...` or `INTERFACE.SIGNAL [ARGUMENT]...`
    #[arg(value_name = "WORD", required = true, allow_negative_numbers = true)]
    words: Vec<String>,
    /// To whom it goes [default: everybody who wants it]
    #[arg(short, long, alias = "dest", value_name = "NAME")]
    destination: Option<String>,
    #[command(flatten)]
    arguments: ArgumentOptions,
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
        let named = split(&self.words, |_| false).expect("there is a word");
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
            path: self.path.clone(),
            interface: interface.to_owned(),
            signal: named.member.to_owned(),
            destination: self.destination.clone(),
        };
        Ok(inspector(&self.bus, Patience::default())?.broadcast(&signal, load)?)
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
