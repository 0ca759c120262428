//! `diligence set`: sets a property.

use clap::Args;
use inspector::{ObjectCallOutcome, ReplyExpectation};
use notation::guess::FirstWord;

use super::get::name;
use crate::bus_choice::BusChoice;
use crate::output::print_to_stderr;
use crate::poke::arguments::{ArgumentOptions, forms};
use crate::poke::call_options::MethodCallOptions;
use crate::poke::error::PokeError;
use crate::poke::member::{CallableKind, TargetObject, split};

/// Arguments of `diligence set`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    bus: BusChoice,
    /// The name of the service
    service: String,
    /// The path of the object
    path: String,
    /// `INTERFACE PROPERTY [SIGNATURE] VALUE...`, `INTERFACE.PROPERTY VALUE` or `PROPERTY VALUE`
    #[arg(value_name = "WORD", num_args = 2.., required = true, allow_negative_numbers = true)]
    words: Vec<String>,
    #[command(flatten)]
    arguments: ArgumentOptions,
    #[command(flatten)]
    options: MethodCallOptions,
}

impl SetArgs {
    /// Parses the value and sets the property.
    pub(crate) fn run(&self) -> Result<(), PokeError> {
        let inspector = self.options.inspector(&self.bus)?;
        let settings = self.options.settings(ReplyExpectation::Expected);
        let object = TargetObject::introspect(&inspector, &self.service, &self.path, &settings)?;
        let named = split(&self.words, |name| object.has(name)).expect("there are words");
        let property = name(&object, named)?;
        let full = format!("{}.{}", property.interface, property.property);
        let known = object.find(CallableKind::Property, named)?.signatures;
        let read = self.arguments.read(named.rest, &known, FirstWord::SignatureOrArgument);
        let (reading, load) =
            read.map_err(|error| PokeError::Arguments { member: full.clone(), error })?;
        if self.arguments.is_verbose() {
            let (types, forms) = (&reading.signature, forms(&reading));
            print_to_stderr(&format!("setting {full} of type \"{types}\", read as {forms}\n"));
        }
        if load.arguments.len() != 1 {
            let count = load.arguments.len();
            return Err(PokeError::Words(format!(
                "{full} takes one value, but {count} were given"
            )));
        }
        match inspector.put(&property, load, &object.with_remaining_time(&settings))?.outcome {
            ObjectCallOutcome::Failed(failure) => Err(object.failed(failure, &inspector, &full)),
            ObjectCallOutcome::Returned { .. } | ObjectCallOutcome::Sent {} => Ok(()),
        }
    }
}

const LONG_HELP: &str = "\
The type of the value comes from introspection, and the value is written like in `diligence call`:

  diligence set org.example.Player /org/example/Player org.example.Player Volume d 0.5
  diligence set org.example.Player /org/example/Player org.example.Player.Volume 0.5
  diligence set org.example.Player /org/example/Player Volume double:0.5

The exit status is 0 if the property was set, 1 if it was not, and 2 if the command line is wrong.";
