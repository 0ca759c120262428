//! `diligence call`: calls a method; with fewer words it lists what can be called.

mod listing;
mod times;

use std::process::ExitCode;

use clap::{ArgAction, Args, ValueEnum};
use inspector::{
    CallAnswer, CallPayload, CallSettings, Inspector, InspectorFailure, MethodName,
    ObjectCallOutcome, ReplyExpectation,
};
use notation::guess::FirstWord;

use crate::bus_choice::BusChoice;
use crate::output::print_to_stderr;
use crate::poke::arguments::{ArgumentOptions, forms};
use crate::poke::call_options::{MethodCallOptions, parse_bool};
use crate::poke::error::PokeError;
use crate::poke::member::{
    CallableKind, DescribedMember, NamedMember, TargetObject, is_interface_of, split,
    with_options_in_front,
};
use crate::poke::shown::{ShownKind, ShownOptions, ShownValues};

use times::RepeatedCallTimes;

/// Arguments of `diligence call`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    bus: BusChoice,
    /// `SERVICE PATH INTERFACE METHOD [SIGNATURE] [ARGUMENT]...`,
    /// `SERVICE PATH INTERFACE.METHOD [ARGUMENT]...` or `SERVICE PATH METHOD [ARGUMENT]...`
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
    #[command(flatten)]
    arguments: ArgumentOptions,
    #[command(flatten)]
    shown: ShownOptions,
    #[command(flatten)]
    options: MethodCallOptions,
    /// Wait for a reply
    #[arg(long, value_name = "BOOL", value_parser = parse_bool, action = ArgAction::Set,
          default_value = "true")]
    expect_reply: bool,
    /// Print the duration of the call
    #[arg(long)]
    time: bool,
    /// Call the method this number of times, and print the durations
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    #[command(flatten)]
    foreign: ForeignOptions,
}

/// Options of gdbus and dbus-send that replace the first words.
#[derive(Debug, Args)]
struct ForeignOptions {
    /// The service, instead of the first word
    #[arg(short, long, value_name = "NAME", hide = true)]
    dest: Option<String>,
    /// The object, instead of the second word
    #[arg(short, long, value_name = "PATH", hide = true)]
    object_path: Option<String>,
    /// The method with its interface, instead of their words
    #[arg(short, long, value_name = "INTERFACE.METHOD", hide = true)]
    method: Option<String>,
    /// The message type of dbus-send
    #[arg(long = "type", value_enum, hide = true)]
    _message: Option<CallTypeWord>,
    /// The timeout in milliseconds, like in dbus-send
    #[arg(long, value_name = "MILLISECONDS", hide = true)]
    reply_timeout: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum CallTypeWord {
    #[value(name = "method_call")]
    MethodCall,
}

impl CallArgs {
    /// Calls the method, or lists what can be called.
    pub(crate) fn run(&self) -> Result<ExitCode, PokeError> {
        let inspector = self.options.inspector(&self.bus)?;
        let words = self.words();
        match words.as_slice() {
            [] => listing::services(&inspector),
            [service] => listing::paths(
                &inspector,
                service,
                self.settings().starting,
                self.options.timeouts(),
            ),
            [service, path, rest @ ..] => {
                let object = TargetObject::introspect(&inspector, service, path, &self.settings())?;
                match rest {
                    [] => Ok(listing::members(&object.introspected(&inspector)?, None)),
                    [interface] if object.introspection.interface(interface).is_some() => {
                        Ok(listing::members(&object, Some(interface)))
                    }
                    rest => self.call(&inspector, &object, rest),
                }
            }
        }
    }

    fn call(
        &self,
        inspector: &Inspector,
        object: &TargetObject<'_>,
        words: &[String],
    ) -> Result<ExitCode, PokeError> {
        let is_interface = |name: &str| match &self.foreign.method {
            Some(full) => is_interface_of(full, name),
            None => object.has(name),
        };
        let named = split(words, is_interface).expect("there are words");
        let found = object.find(CallableKind::Method, named)?;
        let method = MethodName {
            service: object.service.to_owned(),
            path: object.path.to_owned(),
            interface: found.interface.clone(),
            method: named.member.to_owned(),
        };
        let full = full_name(&found, named);
        let first = match self.foreign.method {
            Some(_) => FirstWord::Argument,
            None => FirstWord::SignatureOrArgument,
        };
        let read = self.arguments.read(named.rest, &found.signatures, first);
        let (reading, load) =
            read.map_err(|error| self.argument_error(inspector, object, &found, &full, error))?;
        if self.arguments.is_verbose() {
            let (types, forms) = (&reading.signature, forms(&reading));
            let source = if found.signatures.is_empty() { "guessed" } else { "from introspection" };
            print_to_stderr(&format!(
                "calling {full} with \"{types}\" ({source}), read as {forms}\n"
            ));
        }
        self.send(inspector, object, (&method, &found, &full), load)
    }

    /// The error for arguments that could not be parsed. If the object does not exist, its path is
    /// the probable mistake; if the object does not describe the method, its name is.
    fn argument_error(
        &self,
        inspector: &Inspector,
        object: &TargetObject<'_>,
        found: &DescribedMember,
        full: &str,
        error: notation::ArgumentError,
    ) -> PokeError {
        if let Some(missing) = object.missing_error(inspector) {
            return missing;
        }
        if found.signatures.is_empty() && !object.introspection.interfaces.is_empty() {
            let (interface, member) = match full.rsplit_once('.') {
                Some((interface, member)) => (Some(interface.to_owned()), member.to_owned()),
                None => (None, full.to_owned()),
            };
            let failure =
                InspectorFailure::Undescribed { member_kind: "method", member, interface };
            return object.failed(failure, inspector, full);
        }
        PokeError::Arguments { member: full.to_owned(), error }
    }

    fn send(
        &self,
        inspector: &Inspector,
        object: &TargetObject<'_>,
        (method, found, full): (&MethodName, &DescribedMember, &str),
        load: CallPayload,
    ) -> Result<ExitCode, PokeError> {
        let again = self.repeat.map(|_| copy(&load)).transpose().map_err(copy_error)?;
        let answer =
            inspector.invoke(method, load, &object.with_remaining_time(&self.settings()))?;
        let status = match &answer.outcome {
            ObjectCallOutcome::Returned { .. } => self.show(&answer, found),
            ObjectCallOutcome::Failed(failure) => {
                return Err(object.failed(failure.clone(), inspector, full));
            }
            ObjectCallOutcome::Sent {} => ExitCode::SUCCESS,
        };
        let mut times = RepeatedCallTimes::new(answer.took_ns);
        if let (Some(count), Some(load)) = (self.repeat, again) {
            for _ in 1..count {
                let load = copy(&load).map_err(copy_error)?;
                let answer = inspector.invoke(method, load, &self.settings())?;
                if let ObjectCallOutcome::Failed(failure) = answer.outcome {
                    return Err(failure.into());
                }
                times.add(answer.took_ns);
            }
            print_to_stderr(&times.statistics());
        } else if self.time {
            print_to_stderr(&times.first());
        }
        Ok(status)
    }

    fn show(&self, answer: &CallAnswer, found: &DescribedMember) -> ExitCode {
        let ObjectCallOutcome::Returned { sender, results, descriptors, heading } = &answer.outcome
        else {
            return ExitCode::SUCCESS;
        };
        let origin = ShownKind::Results { sender, heading, names: &found.results };
        self.shown.print(&ShownValues { values: results, origin, descriptors })
    }

    fn settings(&self) -> CallSettings {
        let reply =
            if self.expect_reply { ReplyExpectation::Expected } else { ReplyExpectation::Unwanted };
        let mut settings = self.options.settings(reply);
        if let Some(milliseconds) = self.foreign.reply_timeout {
            settings.timeout_ms = milliseconds.max(1);
        }
        settings
    }

    /// The positional words, in which options with the names of other tools replace the first ones.
    fn words(&self) -> Vec<String> {
        let ForeignOptions { dest, object_path, method, .. } = &self.foreign;
        with_options_in_front([dest, object_path, method], &self.words)
    }
}

fn full_name(found: &DescribedMember, named: NamedMember<'_>) -> String {
    match &found.interface {
        Some(interface) => format!("{interface}.{}", named.member),
        None => named.member.to_owned(),
    }
}

fn copy(load: &CallPayload) -> std::io::Result<CallPayload> {
    let descriptors = load.descriptors.iter().map(|one| one.try_clone());
    Ok(CallPayload {
        arguments: load.arguments.clone(),
        descriptors: descriptors.collect::<Result<_, _>>()?,
    })
}

fn copy_error(error: std::io::Error) -> PokeError {
    PokeError::Name(format!("cannot pass a file again: {error}"))
}

const LONG_HELP: &str = "\
Without words, it lists the services; with a service, its objects; with a service and an object, the \
members of the object; and with an interface as third word, the members of that interface.

The types of the arguments come from introspection, so they need not be given. Arguments can be written \
in the form of any tool: with a signature before them like in busctl, as GVariant text like in gdbus, with \
the type before each like in dbus-send, or as JSON. A string needs no quotes, unless it is the same as \
the signature, such as 's' for a method with a string argument:

  diligence call org.freedesktop.DBus /org/freedesktop/DBus GetNameOwner org.example.Mail
  diligence call org.freedesktop.DBus /org/freedesktop/DBus \\
      org.freedesktop.DBus NameHasOwner s org.example.Mail
  diligence call org.example.Player /org/example/Player org.example.Player.Play \"['one', 'two']\"
  diligence call org.example.Player /org/example/Player Play array:string:one,two
  diligence call org.example.Player /org/example/Player Play '[\"one\", \"two\"]'
  diligence call org.example.Player /org/example/Player Seek -8
  diligence call org.example.Archive /org/example/Archive Unpack @file.zip

A file descriptor is written as @PATH, which opens the file for reading, @>PATH, which opens it for \
writing, @- for standard input, or the number of an inherited descriptor. Options can be anywhere; put \
arguments that begin with a hyphen and are not numbers after --. -v explains what was guessed.

The options --dest, --object-path, --method, --print-reply, --reply-timeout and --type=method_call of \
gdbus and dbus-send are accepted.

The exit status is 0 if the reply arrived, or no reply was expected; 1 if the reply was an error or did \
not arrive in time; and 2 if the command line is wrong.";
