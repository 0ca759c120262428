//! `diligence introspect`: shows the interfaces of an object.
//!
//! ```text
//!  ask ─▶ document ─▶ code            generated client code
//!     │       └─ with the values of properties
//!     │           ├─▶ members ─▶ table    like busctl
//!     │           └─▶ walk ─▶ gdbus       like gdbus, with child objects on request
//!     └─▶ unchanged XML
//! ```

mod ask;
mod code;
mod gdbus;
mod members;
mod table;
mod walk;

use std::io::{IsTerminal as _, stdout};
use std::time::Duration;

use capture::text::visible;
use clap::{Args, ValueEnum};
use inspector::{InspectedObject, TreeOptions};

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::inspection::{InspectionError, inspector, timeouts_of};
use crate::json_choice::JsonChoice;
use crate::output::print_message;
use crate::style;
use crate::table_options::TableOptions;
use ask::InspectedService;
use code::Language;
use gdbus::DeclarationPart;
use table::{LineRoom, MemberTableLayout};
use walk::ObjectWalk;

/// Arguments of `diligence introspect`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Introspect {
    /// The name of the service
    #[arg(required_unless_present = "dest")]
    name: Option<String>,
    /// The path of the object; without it, the paths of all objects of the service are printed
    #[arg(group = "object")]
    path: Option<String>,
    /// The interface [default: all]
    interface: Option<String>,
    #[command(flatten)]
    choice: BusChoice,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    form: FormOptions,
    /// The time to wait for each reply
    #[arg(long, value_name = "TIME", value_parser = amount::time, default_value = "5s")]
    timeout: Duration,
    #[command(flatten)]
    json: JsonChoice,
    /// The service, instead of the first word
    #[arg(short, long, value_name = "NAME", hide = true)]
    dest: Option<String>,
    /// The object, instead of the second word
    #[arg(short, long, value_name = "PATH", hide = true, group = "object")]
    object_path: Option<String>,
}

/// Options for the form of the output.
#[derive(Debug, Args)]
struct FormOptions {
    /// Output format [default: busctl, and gdbus with --recurse or --only-properties]
    #[arg(long, value_enum, requires = "object", conflicts_with_all = ["xml", "xml_interface", "code", "json", "j"])]
    format: Option<IntrospectFormat>,
    /// Include the child objects, in the form of gdbus or as JSON
    #[arg(short, long, requires = "object", conflicts_with_all = ["xml", "xml_interface", "code"])]
    recurse: bool,
    /// Show no methods and no signals
    #[arg(short = 'p', long, requires = "object", conflicts_with_all = ["xml", "xml_interface", "code"])]
    only_properties: bool,
    #[command(flatten)]
    document: DocumentOptions,
    /// Print client code for its interfaces in this language
    #[arg(long, value_enum, value_name = "LANGUAGE", requires = "object",
          conflicts_with_all = ["xml", "xml_interface", "json", "j"])]
    code: Option<Language>,
}

/// Options for the XML document of the object.
#[derive(Debug, Args)]
struct DocumentOptions {
    /// Print the XML document that the object returns
    #[arg(short, long, requires = "object", conflicts_with_all = ["json", "j"])]
    xml: bool,
    /// The same in the form of busctl: with an additional newline at the end
    #[arg(long, hide = true, requires = "object", conflicts_with_all = ["json", "j", "xml"])]
    xml_interface: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum IntrospectFormat {
    /// A table like busctl's
    Busctl,
    /// Declarations with values, like gdbus
    Gdbus,
}

impl Introspect {
    /// Queries the object and returns the text to print.
    pub(crate) fn run(&self) -> Result<String, InspectionError> {
        let inspector = inspector(&self.choice, self.timeout)?;
        let [name, path, interface] = self.words();
        let (name, timeout) = (name.unwrap_or_default(), self.timeout);
        let subject =
            InspectedService { inspector: &inspector, choice: &self.choice, name, timeout };
        match (path, self.form.code) {
            (None, _) => self.paths(&subject),
            (Some(path), Some(language)) => code::of(&subject, path, interface, language),
            (Some(path), None) if self.form.document.is_wanted() => {
                let text = subject.text(path).map_err(|failure| subject.failed(path, failure))?;
                let is_open = stdout().is_terminal() && !text.ends_with('\n');
                let end = if self.form.document.xml_interface || is_open { "\n" } else { "" };
                Ok(shown(text + end))
            }
            (Some(path), None) => {
                let walk = ObjectWalk { subject: &subject, interface, part: self.part() };
                if self.form.recurse { self.objects(&walk, path) } else { self.object(&walk, path) }
            }
        }
    }

    /// The positional words, in which the options of gdbus replace the first ones.
    fn words(&self) -> [Option<&str>; 3] {
        let words = [&self.name, &self.path, &self.interface];
        let mut rest = words.into_iter().flatten().map(String::as_str);
        let name = self.dest.as_deref().or_else(|| rest.next());
        let path = self.object_path.as_deref().or_else(|| rest.next());
        [name, path, rest.next()]
    }

    fn object(&self, walk: &ObjectWalk<'_>, path: &str) -> Result<String, InspectionError> {
        let found = walk.one(path)?;
        let text = || match self.format() {
            IntrospectFormat::Busctl => self.table(&found.object, walk),
            IntrospectFormat::Gdbus => {
                print_errors(&found.unreadable_properties());
                shown(found.as_gdbus(walk.part))
            }
        };
        Ok(self.json.text(&found.object).unwrap_or_else(text))
    }

    fn objects(&self, walk: &ObjectWalk<'_>, path: &str) -> Result<String, InspectionError> {
        let options = TreeOptions { timeouts: timeouts_of(self.timeout), ..TreeOptions::default() };
        let (found, errors) = walk.all(path, options)?;
        print_errors(&errors);
        let objects = found.objects();
        let text = || match self.format() {
            IntrospectFormat::Busctl => {
                let tables = objects.iter().map(|object| {
                    let heading = style::of_stdout().strong(&object.path);
                    format!("Object {heading}:\n{}", self.table(object, walk))
                });
                tables.collect::<Vec<_>>().join("\n")
            }
            IntrospectFormat::Gdbus => {
                print_errors(&found.unreadable_properties());
                shown(found.as_gdbus_with_all(walk.part))
            }
        };
        Ok(self.json.text(&objects).unwrap_or_else(text))
    }

    /// The paths of all objects, one per line.
    fn paths(&self, subject: &InspectedService<'_>) -> Result<String, InspectionError> {
        let paths = subject.known_paths()?;
        let text = || paths.iter().map(|path| format!("{path}\n")).collect();
        Ok(self.json.text(&paths).unwrap_or_else(text))
    }

    fn format(&self) -> IntrospectFormat {
        let is_gdbus_option = self.form.recurse || self.form.only_properties;
        let usual =
            if is_gdbus_option { IntrospectFormat::Gdbus } else { IntrospectFormat::Busctl };
        self.form.format.unwrap_or(usual)
    }

    const fn part(&self) -> DeclarationPart {
        if self.form.only_properties { DeclarationPart::Properties } else { DeclarationPart::All }
    }

    fn table(&self, object: &InspectedObject, walk: &ObjectWalk<'_>) -> String {
        let style = style::of_stdout();
        let room = match stdout().is_terminal() && !self.table.full {
            true => LineRoom::Line(style.width),
            false => LineRoom::Full,
        };
        let (has_legend, has_interfaces) = (!self.table.no_legend, walk.interface.is_none());
        let shape = MemberTableLayout { room, has_legend, has_interfaces, style };
        table::render(&members::members(object), shape)
    }
}

impl DocumentOptions {
    const fn is_wanted(&self) -> bool {
        self.xml || self.xml_interface
    }
}

/// Escapes control characters in a text of the service if the output is a terminal.
fn shown(text: String) -> String {
    match stdout().is_terminal() {
        true => visible::lines(&text).into_owned(),
        false => text,
    }
}

fn print_errors(lines: &[String]) {
    for line in lines {
        print_message("diligence introspect", line);
    }
}

const LONG_HELP: &str = "\
The output is the same as from `busctl introspect`: exactly in a pipe; on a terminal, values use the \
available width, at least 40 columns. If a property cannot be read, its error is shown instead of its \
value. If the type of a value differs from the introspection data, its own type is shown before it. \
With --recurse, --only-properties or --format=gdbus the output is the same as from `gdbus introspect`, \
and errors are printed on standard error. A service that is not running is started, if the bus can \
start it.

--code prints client code as a starting point: for Rust with diligence-client (rust) or zbus 6 (zbus), \
for Python with GLib (python3-gi), for C with sd-bus. Standard interfaces are omitted unless one is named.

  diligence introspect org.example.Player                      the paths of its objects
  diligence introspect org.example.Player /org/example/Player
  diligence introspect org.example.Player /org/example/Player org.example.Player1 --json
  diligence introspect org.example.Player / --recurse          all objects, in the form of gdbus
  diligence introspect org.example.Player /org/example/Player --xml > player.xml
  diligence introspect org.example.Player /org/example/Player --code python > player.py

The exit status is 0 if the object has replied, 1 if it has not, and 2 if the command line is \
wrong.";
