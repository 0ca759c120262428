//! `diligence get`: reads properties.

use std::process::ExitCode;

use clap::Args;
use inspector::introspection::Interface;
use inspector::{CallSettings, Inspector, ObjectCallOutcome, PropertyName, ReplyExpectation};

use crate::bus_choice::BusChoice;
use crate::poke::call_options::MethodCallOptions;
use crate::poke::error::PokeError;
use crate::poke::member::{
    CallableKind, NamedMember, TargetObject, empty, is_unknown_object, split,
};
use crate::poke::shown::{ShownKind, ShownOptions, ShownValues};

/// Arguments of `diligence get`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    bus: BusChoice,
    /// The name of the service
    service: String,
    /// The path of the object
    path: String,
    /// INTERFACE PROPERTY..., INTERFACE.PROPERTY or PROPERTY
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    shown: ShownOptions,
    /// The form of busctl --verbose: values with their types
    #[arg(long, hide = true)]
    verbose: bool,
    #[command(flatten)]
    options: MethodCallOptions,
}

impl GetArgs {
    /// Reads the properties, and prints their values.
    pub(crate) fn run(&self) -> Result<ExitCode, PokeError> {
        let inspector = self.options.inspector(&self.bus)?;
        let settings = self.options.settings(ReplyExpectation::Expected);
        let object = TargetObject::introspect(&inspector, &self.service, &self.path, &settings)?;
        if let [interface] = self.words.as_slice()
            && let Some(interface) = object.introspection.interface(interface)
        {
            return Err(property_missing(interface));
        }
        let named = split(&self.words, |name| object.has(name)).expect("there is a word");
        let mut status = self.show(&inspector, &object, named, &settings)?;
        for member in named.rest {
            // The following words are members of the same interface.
            let next = NamedMember { member, rest: &[], ..named };
            status = self.show(&inspector, &object, next, &settings)?;
        }
        Ok(status)
    }

    fn show(
        &self,
        inspector: &Inspector,
        object: &TargetObject<'_>,
        named: NamedMember<'_>,
        settings: &CallSettings,
    ) -> Result<ExitCode, PokeError> {
        let property = name(object, named)?;
        let answer = inspector.get(&property, &object.with_remaining_time(settings))?;
        let full = format!("{}.{}", property.interface, property.property);
        match answer.outcome {
            ObjectCallOutcome::Returned { results, descriptors, .. } => {
                let origin = ShownKind::Property(&property.property);
                let values = ShownValues { values: &results, origin, descriptors: &descriptors };
                let shown =
                    if self.verbose { &self.shown.with_verbose_format() } else { &self.shown };
                Ok(shown.print(&values))
            }
            ObjectCallOutcome::Failed(failure) => Err(object.failed(failure, inspector, &full)),
            ObjectCallOutcome::Sent {} => Ok(ExitCode::SUCCESS),
        }
    }
}

/// The property that words name; if they have no interface, the interface that has this property.
pub(super) fn name(
    object: &TargetObject<'_>,
    named: NamedMember<'_>,
) -> Result<PropertyName, PokeError> {
    let found = object.find(CallableKind::Property, named)?;
    let Some(interface) = found.interface else {
        return Err(match object.introspection == empty() {
            true => not_introspected(object, named.member),
            false => object.no_property(named.member),
        });
    };
    Ok(PropertyName {
        service: object.service.to_owned(),
        path: object.path.to_owned(),
        interface,
        property: named.member.to_owned(),
    })
}

fn property_missing(interface: &Interface) -> PokeError {
    let names: Vec<_> = interface.properties.iter().map(|one| one.name.as_str()).collect();
    let has = match names.as_slice() {
        [] => String::from("the object describes none"),
        names => format!("it has {}", names.join(", ")),
    };
    PokeError::Words(format!("{} is an interface; give a property too: {has}", interface.name))
}

fn not_introspected(object: &TargetObject<'_>, member: &str) -> PokeError {
    if let Some(failure) = object.introspection_error.clone().filter(is_unknown_object) {
        return failure.into();
    }
    PokeError::Name(format!(
        "{} does not support introspection; give the interface of {member} too",
        object.path
    ))
}

const LONG_HELP: &str = "\
The property is named like in busctl, like in gdbus, or alone if only one interface of the object has it:

  diligence get org.example.Player /org/example/Player org.example.Player Volume Rate
  diligence get org.example.Player /org/example/Player org.example.Player.Volume
  diligence get org.example.Player /org/example/Player Volume

Each value is printed on a separate line, like `busctl get-property` does.

The exit status is 0 if all properties were read, 1 if one was not, and 2 if the command line is wrong.";
