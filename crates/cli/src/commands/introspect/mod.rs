//! `diligence introspect`: what an object has.
//!
//! ```text
//!  ask ─▶ Document ─▶ code            proxies
//!     │       └─ with the values of properties
//!     │           ├─▶ members ─▶ table    as busctl has it
//!     │           └─▶ walk ─▶ gdbus       as gdbus has it, with the objects below if wanted
//!     └─▶ document of XML
//! ```

mod ask;
mod code;
mod gdbus;
mod members;
mod table;
mod walk;

use std::io::{IsTerminal as _, stdout};
use std::time::Duration;

use capture::text::visible::{self, printable};
use clap::{Args, ValueEnum};
use inspector::{InspectedObject, TreeOptions};

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::inspection::{LookError, inspector, patience};
use crate::json_choice::JsonChoice;
use crate::output::complain;
use crate::style;
use crate::table_options::TableOptions;
use ask::AskedPeer;
use code::Language;
use gdbus::DeclarationPart;
use table::{LineRoom, MemberTableLayout};
use walk::ObjectWalk;

/// Of which object, and how.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Introspect {
    /// The service
    #[arg(required_unless_present = "dest")]
    name: Option<String>,
    /// The object; without one, the paths of all that the service has are printed
    #[arg(group = "object")]
    path: Option<String>,
    /// One of its interfaces [default: all]
    interface: Option<String>,
    #[command(flatten)]
    choice: BusChoice,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    form: FormOptions,
    /// How long an answer is waited for
    #[arg(long, value_name = "TIME", value_parser = amount::time, default_value = "5s")]
    timeout: Duration,
    #[command(flatten)]
    json: JsonChoice,
    /// The service, in place of the first word
    #[arg(short, long, value_name = "NAME", hide = true)]
    dest: Option<String>,
    /// The object, in place of its word
    #[arg(short, long, value_name = "PATH", hide = true, group = "object")]
    object_path: Option<String>,
}

/// In which form.
#[derive(Debug, Args)]
struct FormOptions {
    /// Output style [default: busctl, and gdbus with --recurse or --only-properties]
    #[arg(long, value_enum, requires = "object", conflicts_with_all = ["xml", "xml_interface", "code", "json", "j"])]
    format: Option<IntrospectFormat>,
    /// With the objects below it, as gdbus has it, or as JSON
    #[arg(short, long, requires = "object", conflicts_with_all = ["xml", "xml_interface", "code"])]
    recurse: bool,
    /// No methods and no signals
    #[arg(short = 'p', long, requires = "object", conflicts_with_all = ["xml", "xml_interface", "code"])]
    only_properties: bool,
    #[command(flatten)]
    document: DocumentOptions,
    /// Print proxies for its interfaces in this language, for a program to begin with
    #[arg(long, value_enum, value_name = "LANGUAGE", requires = "object",
          conflicts_with_all = ["xml", "xml_interface", "json", "j"])]
    code: Option<Language>,
}

/// The document with which the object answers.
#[derive(Debug, Args)]
struct DocumentOptions {
    /// Print the document with which the object answers
    #[arg(short, long, requires = "object", conflicts_with_all = ["json", "j"])]
    xml: bool,
    /// The same as busctl has it: with a line feed behind
    #[arg(long, hide = true, requires = "object", conflicts_with_all = ["json", "j", "xml"])]
    xml_interface: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum IntrospectFormat {
    /// A table
    Busctl,
    /// Declarations, with values
    Gdbus,
}

impl Introspect {
    /// Asks the object what it has.
    pub(crate) fn run(&self) -> Result<String, LookError> {
        let inspector = inspector(&self.choice, self.timeout)?;
        let [name, path, interface] = self.words();
        let (name, timeout) = (name.unwrap_or_default(), self.timeout);
        let subject = AskedPeer { inspector: &inspector, choice: &self.choice, name, timeout };
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

    /// The words, with those that gdbus has behind options in their places.
    fn words(&self) -> [Option<&str>; 3] {
        let words = [&self.name, &self.path, &self.interface];
        let mut rest = words.into_iter().flatten().map(String::as_str);
        let name = self.dest.as_deref().or_else(|| rest.next());
        let path = self.object_path.as_deref().or_else(|| rest.next());
        [name, path, rest.next()]
    }

    fn object(&self, walk: &ObjectWalk<'_>, path: &str) -> Result<String, LookError> {
        let found = walk.one(path)?;
        let text = || match self.format() {
            IntrospectFormat::Busctl => self.table(&found.object, walk),
            IntrospectFormat::Gdbus => {
                complain_of(&found.unread());
                shown(found.as_gdbus(walk.part))
            }
        };
        Ok(self.json.text(&found.object).unwrap_or_else(text))
    }

    fn objects(&self, walk: &ObjectWalk<'_>, path: &str) -> Result<String, LookError> {
        let options = TreeOptions { patience: patience(self.timeout), ..TreeOptions::default() };
        let (found, complaints) = walk.all(path, options)?;
        complain_of(&complaints);
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
                complain_of(&found.unread());
                shown(found.as_gdbus_with_all(walk.part))
            }
        };
        Ok(self.json.text(&objects).unwrap_or_else(text))
    }

    /// The paths of all objects, one on a line.
    fn paths(&self, subject: &AskedPeer<'_>) -> Result<String, LookError> {
        let paths = subject.known_paths()?;
        let text = || paths.iter().map(|path| format!("{path}\n")).collect();
        Ok(self.json.text(&paths).unwrap_or_else(text))
    }

    fn format(&self) -> IntrospectFormat {
        let is_of_gdbus = self.form.recurse || self.form.only_properties;
        let usual = if is_of_gdbus { IntrospectFormat::Gdbus } else { IntrospectFormat::Busctl };
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

/// A text of the service as it is, unless it would speak to a terminal.
fn shown(text: String) -> String {
    match stdout().is_terminal() {
        true => visible::lines(&text).into_owned(),
        false => text,
    }
}

fn complain_of(lines: &[String]) {
    for line in lines {
        complain(&format!("diligence introspect: {}\n", printable(line)));
    }
}

const LONG_HELP: &str = "\
Prints what `busctl introspect` prints: in a pipe to the byte, on a terminal with values as wide as \
there is room for, 40 columns at least. A property that cannot be read has its error in place of its \
value, and the others are still there. A value of another type than the object tells has its own type \
before it. With --recurse, --only-properties or --format=gdbus it is what `gdbus introspect` prints; \
what cannot be read is then told on standard error. A service that does not run is started, if the \
bus can.

--code prints proxies for a program to begin with: for Rust with zbus 6, for Python with GLib \
(python3-gi), for C with sd-bus. Interfaces of the specification are left out unless one is named.

  diligence introspect org.example.Player                      the paths of its objects
  diligence introspect org.example.Player /org/example/Player
  diligence introspect org.example.Player /org/example/Player org.example.Player1 --json
  diligence introspect org.example.Player / --recurse          all objects, as gdbus prints them
  diligence introspect org.example.Player /org/example/Player --xml > player.xml
  diligence introspect org.example.Player /org/example/Player --code python > player.py

The exit status is 0 when the object has answered, 1 when it has not, and 2 when the command line is \
wrong.";
