//! `diligence introspect`: what an object has.
//!
//! ```text
//!  ask ─▶ Object ─▶ members ─▶ table
//!     └─▶ document of XML
//! ```

mod members;
mod table;

use std::io::{IsTerminal as _, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use inspector::{Failure, Inspector, Object, Starting, TreeOptions};

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::commands::tree::paths;
use crate::inspection::{LookError, inspector, is_nobody, no_such_name, patience};
use crate::json_choice::JsonChoice;
use crate::nearest::{nearest, suggestion};
use crate::output::{failed, print};
use crate::style;
use crate::table_options::TableOptions;
use table::{Room, Shape};

/// Of which object, and how.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct Introspect {
    /// The service
    name: String,
    /// The object; without one, the paths of all that the service has are printed
    path: Option<String>,
    /// One of its interfaces [default: all]
    interface: Option<String>,
    #[command(flatten)]
    choice: BusChoice,
    #[command(flatten)]
    table: TableOptions,
    /// Print the document with which the object answers
    #[arg(long, alias = "xml-interface", requires = "path", conflicts_with_all = ["json", "j"])]
    xml: bool,
    /// How long an answer is waited for
    #[arg(long, value_name = "TIME", value_parser = amount::time, default_value = "5s")]
    timeout: Duration,
    #[command(flatten)]
    json: JsonChoice,
}

/// Asks the object, and prints what it has.
pub(crate) fn run(introspect: &Introspect) -> ExitCode {
    match introspect.tell() {
        Ok(text) => print(&text),
        Err(error) => failed("introspect", &error, ExitCode::FAILURE),
    }
}

impl Introspect {
    fn tell(&self) -> Result<String, LookError> {
        let inspector = inspector(&self.choice, self.timeout)?;
        match &self.path {
            None => self.paths(&inspector),
            Some(path) if self.xml => self.document(&inspector, path),
            Some(path) => self.object(&inspector, path),
        }
    }

    fn object(&self, inspector: &Inspector, path: &str) -> Result<String, LookError> {
        let object = inspector.object_of(&self.name, path, Starting::Allowed);
        let mut object = object.map_err(|failure| self.failed(inspector, path, failure))?;
        self.narrow(inspector, &mut object)?;
        let text = || table::render(&members::members(&object), self.shape());
        Ok(self.json.text(&object).unwrap_or_else(text))
    }

    /// Leaves the interface that is wanted.
    fn narrow(&self, inspector: &Inspector, object: &mut Object) -> Result<(), LookError> {
        let path = object.path.clone();
        if object.interfaces.is_empty() && object.children.is_empty() {
            return Err(self.nothing(inspector, &path));
        }
        let Some(interface) = &self.interface else { return Ok(()) };
        let known: Vec<_> = object.interfaces.iter().map(|one| one.name.as_str()).collect();
        if !known.contains(&interface.as_str()) {
            let suggestion = suggestion(&nearest(interface, known));
            return Err(LookError::NoSuchInterface {
                interface: interface.clone(),
                path,
                suggestion,
            });
        }
        object.interfaces.retain(|one| one.name == *interface);
        Ok(())
    }

    fn document(&self, inspector: &Inspector, path: &str) -> Result<String, LookError> {
        let document = inspector.document(&self.name, path, Starting::Allowed);
        let document = document.map_err(|failure| self.failed(inspector, path, failure))?;
        Ok(match stdout().is_terminal() {
            true => {
                document.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}")
            }
            false => document,
        } + "\n")
    }

    /// The paths of all objects, one on a line.
    fn paths(&self, inspector: &Inspector) -> Result<String, LookError> {
        let paths = self.known_paths(inspector)?;
        Ok(self
            .json
            .text(&paths)
            .unwrap_or_else(|| paths.iter().map(|path| format!("{path}\n")).collect()))
    }

    fn known_paths(&self, inspector: &Inspector) -> Result<Vec<String>, LookError> {
        let (patience, starting) = (patience(self.timeout), Starting::Allowed);
        let options = TreeOptions { patience, starting, ..TreeOptions::default() };
        let failed = |failure| self.failed(inspector, "/", failure);
        let tree = inspector.tree(&self.name, &options).map_err(failed)?;
        match tree.nodes.as_slice() {
            [inspector::Node { told: inspector::Told::Failure(failure), .. }] => {
                Err(self.failed(inspector, "/", failure.clone()))
            }
            _ => Ok(paths(&tree).map(str::to_owned).collect()),
        }
    }

    /// Why an object does not tell, with the paths that may have been meant.
    fn failed(&self, inspector: &Inspector, path: &str, failure: Failure) -> LookError {
        if is_nobody(&failure) {
            return no_such_name(inspector, &self.choice, &self.name);
        }
        let suggestion = match failure {
            Failure::Name(_) => return LookError::Word { failure },
            Failure::Refused { .. } if path != "/" => self.nearest_paths(inspector, path),
            _ => String::new(),
        };
        let what = format!("{path} of {} does not tell what it has", self.name);
        LookError::Asked { what, failure, suggestion }
    }

    /// That there is nothing at a path, which some services say by telling of nothing.
    fn nothing(&self, inspector: &Inspector, path: &str) -> LookError {
        let suggestion = self.nearest_paths(inspector, path);
        LookError::NoSuchObject { path: path.to_owned(), name: self.name.clone(), suggestion }
    }

    fn nearest_paths(&self, inspector: &Inspector, path: &str) -> String {
        let known = self.known_paths(inspector).unwrap_or_default();
        let others =
            known.iter().map(String::as_str).filter(|known| *known != path && *known != "/");
        suggestion(&nearest(path, others))
    }

    fn shape(&self) -> Shape {
        let style = style::of_stdout();
        let room = match stdout().is_terminal() && !self.table.full {
            true => Room::Line(style.width),
            false => Room::Full,
        };
        Shape {
            room,
            has_legend: !self.table.no_legend,
            has_interfaces: self.interface.is_none(),
            style,
        }
    }
}

const LONG_HELP: &str = "\
Prints what `busctl introspect` prints: in a pipe to the byte, on a terminal with values as wide as \
there is room for, 40 columns at least. A property that cannot be read has its error in place of its \
value, and the others are still there. A value of another type than the object tells has its own type \
before it. A service that does not run is started, if the bus can.

  diligence introspect org.example.Player                      the paths of its objects
  diligence introspect org.example.Player /org/example/Player
  diligence introspect org.example.Player /org/example/Player org.example.Player1 --json
  diligence introspect org.example.Player /org/example/Player --xml > player.xml

The exit status is 0 when the object has answered, 1 when it has not, and 2 when the command line is \
wrong.";
