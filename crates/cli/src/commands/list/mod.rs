//! `diligence list`: lists the names on a bus.

use std::io::{IsTerminal as _, stdout};

use capture::table::{Cell, Column, DataTable};
use capture::text::columns::{Fit, Grid};
use capture::text::visible::printable;
use clap::Args;
use inspector::{Name, OwnerContainer};
use serde::Serialize;
use sys::control_group::Belonging;

use crate::bus_choice::BusChoice;
use crate::inspection::{InspectionError, inspector, names};
use crate::json_choice::JsonChoice;
use crate::style;
use crate::table_options::TableOptions;

/// Arguments of `diligence list`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    choice: BusChoice,
    #[command(flatten)]
    kinds: Kinds,
    #[command(flatten)]
    table: TableOptions,
    #[command(flatten)]
    json: JsonChoice,
}

/// The kinds of names to list; without any of these, all kinds.
#[derive(Clone, Copy, Debug, Args)]
struct Kinds {
    /// Unique names of connections, such as `:1.7`
    #[arg(long)]
    unique: bool,
    /// Well-known names of running services
    #[arg(long)]
    acquired: bool,
    /// List names that the bus can start; together with another kind, only those without an owner
    #[arg(long)]
    activatable: bool,
}

impl ListArgs {
    /// Queries the bus and returns the list.
    pub(crate) fn run(&self) -> Result<String, InspectionError> {
        let inspector = inspector(&self.choice, inspector::InspectorTimeouts::default().reply)?;
        let mut names = names(&inspector, &self.choice)?;
        if self.kinds.is_activatable_only() {
            names = names.into_iter().filter_map(as_activatable).collect();
        }
        names.retain(|name| self.kinds.have(name));
        names.sort_by(|one, other| one.name.cmp(&other.name));
        let rows: Vec<_> = names.into_iter().map(NameListRow::from).collect();
        Ok(self.json.text(&rows).unwrap_or_else(|| self.text(&rows)))
    }

    fn text(&self, rows: &[NameListRow]) -> String {
        match stdout().is_terminal() && !self.table.full && !self.table.no_legend {
            true => table(rows).to_text(style::of_stdout()),
            false => columns(rows, !self.table.no_legend),
        }
    }
}

/// Returns an activatable name without the data of its owner; `None` if it is not activatable.
fn as_activatable(name: Name) -> Option<Name> {
    name.is_activatable.then_some(Name { owner: None, owner_process: None, failure: None, ..name })
}

impl Kinds {
    const fn is_activatable_only(self) -> bool {
        self.activatable && !self.unique && !self.acquired
    }

    fn have(self, name: &Name) -> bool {
        let is_any = !(self.unique || self.acquired || self.activatable);
        let is_wanted = match has_owner(name) {
            true if name.name.starts_with(':') => self.unique,
            true => self.acquired,
            false => self.activatable,
        };
        is_any || is_wanted
    }
}

/// Returns true if the name has an owner; the name of the bus itself always has one.
fn has_owner(name: &Name) -> bool {
    name.owner.is_some() || name.owner_process.is_some() || !name.is_activatable
}

/// The data of a name, with the keys of busctl.
#[derive(Debug, Serialize)]
struct NameListRow {
    name: String,
    pid: Option<u32>,
    process: Option<String>,
    user: Option<String>,
    connection: Option<String>,
    unit: Option<String>,
    session: Option<String>,
    /// Only connections of kernel buses had a description.
    description: Option<String>,
    /// The container of the connection, which busctl does not show.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<OwnerContainer>,
}

impl From<Name> for NameListRow {
    fn from(name: Name) -> Self {
        let startable = (!has_owner(&name)).then(|| String::from("(activatable)"));
        let connection = name.owner.or(startable);
        let (process, user, container) = name
            .owner_process
            .map(|who| (who.process, who.user, who.container))
            .unwrap_or_default();
        let belonging = process.pid.and_then(Belonging::of_process).unwrap_or_default();
        Self {
            name: name.name,
            pid: process.pid,
            process: process.comm,
            user: user.or(process.uid.map(|uid| uid.to_string())),
            connection,
            unit: belonging.unit,
            session: belonging.session,
            description: None,
            container,
        }
    }
}

impl NameListRow {
    /// The cell for each of [`NAMES`].
    fn cells(&self) -> [Option<String>; 8] {
        let Self { name, pid, process, user, connection, unit, session, description, .. } = self;
        let [name, pid] = [Some(name.clone()), pid.map(|pid| pid.to_string())];
        let [process, user, connection] = [process, user, connection].map(Option::clone);
        let [unit, session, description] = [unit, session, description].map(Option::clone);
        [name, pid, process, user, connection, unit, session, description]
    }
}

/// Formats the rows like busctl does.
fn columns(rows: &[NameListRow], has_legend: bool) -> String {
    let legend = has_legend.then(|| NAMES.map(str::to_owned));
    let shown = |cell: Option<String>| printable(cell.as_deref().unwrap_or("-")).into_owned();
    let cells = rows.iter().map(|row| row.cells().map(shown));
    let rows: Vec<_> = legend.into_iter().chain(cells).collect();
    let fits = NAMES.map(|name| if name == "PID" { Fit::Number } else { Fit::Start });
    let grid = Grid::around(&rows, fits, " ");
    rows.iter().map(|row| grid.line(row) + "\n").collect()
}

/// The table for a terminal, without the description, which no connection has, and with the
/// containers.
fn table(rows: &[NameListRow]) -> DataTable {
    let column = |name| match name {
        "USER" | "UNIT" | "SESSION" | "CONTAINER" => Column::text(name).spare(),
        name => Column::text(name),
    };
    let columns = NAMES.into_iter().take(7).chain(["CONTAINER"]);
    let mut table = DataTable::new(columns.map(column));
    for row in rows {
        let container = row.container.as_ref().map(ToString::to_string);
        let cells = row.cells().into_iter().take(7).chain([container]);
        table.push(cells.map(Cell::text_or_absent));
    }
    table
}

const NAMES: [&str; 8] =
    ["NAME", "PID", "PROCESS", "USER", "CONNECTION", "UNIT", "SESSION", "DESCRIPTION"];

const LONG_HELP: &str = "\
The output is the same as from `busctl list`: exactly in a pipe; on a terminal it uses the available \
width, omits empty columns, and has a column for the sandbox (container) of each connection. A service that is not running and can be started has `(activatable)` \
instead of a connection.

  diligence list --acquired            services that run on the session bus
  diligence list --system --no-legend  all names on the system bus, for a script
  diligence list --json | jq -r '.[] | select(.pid == 42).name'

The exit status is 0 if the bus has replied, 1 if it has not, and 2 if the command line is \
wrong.";
