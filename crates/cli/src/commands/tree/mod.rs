//! `diligence tree`: the objects of services.

mod draw;

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use inspector::{Inspector, InspectorFailure, NodeContent, Starting, Tree, TreeOptions};
use serde::Serialize;

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::inspection::{
    InspectionError, inspector, is_unknown_name, names, no_such_name, timeouts_of,
};
use crate::json_choice::JsonChoice;
use crate::output::{print, print_message};
use crate::style;
use crate::table_options::NoPager;
use draw::{TreeLines, draw};

/// Arguments of `diligence tree`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct TreeArgs {
    /// The services [default: all running services]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    choice: BusChoice,
    /// Print only the paths, one per line
    #[arg(long)]
    list: bool,
    /// The time to wait for each reply
    #[arg(long, value_name = "TIME", value_parser = amount::time, default_value = "5s")]
    timeout: Duration,
    #[command(flatten)]
    json: JsonChoice,
    #[command(flatten)]
    _pager: NoPager,
}

/// A service, and the result of asking it.
#[derive(Serialize)]
#[serde(untagged)]
enum ServiceResult {
    Found(Tree),
    Failed {
        service: String,
        failure: InspectorFailure,
        #[serde(skip)]
        sentence: String,
    },
}

impl TreeArgs {
    /// Asks the services, and prints their objects.
    pub(crate) fn run(&self) -> Result<ExitCode, InspectionError> {
        let inspector = inspector(&self.choice, self.timeout)?;
        let services = match self.names.is_empty() {
            true => running(&inspector, &self.choice)?,
            false => self.names.clone(),
        };
        let asked: Vec<_> = services
            .iter()
            .map(|service| self.ask(&inspector, service))
            .collect::<Result<_, _>>()?;
        let text = self.json.text(&asked).unwrap_or_else(|| self.text(&asked));
        for line in asked.iter().flat_map(ServiceResult::errors) {
            print_message("diligence tree", &line);
        }
        Ok(match (print(&text), asked.iter().all(ServiceResult::has_answered)) {
            (ExitCode::SUCCESS, false) => ExitCode::FAILURE,
            (status, _) => status,
        })
    }

    fn ask(&self, inspector: &Inspector, service: &str) -> Result<ServiceResult, InspectionError> {
        let starting = if self.names.is_empty() { Starting::Never } else { Starting::Allowed };
        let timeouts = timeouts_of(self.timeout);
        let options = TreeOptions { timeouts, starting, ..TreeOptions::default() };
        let tree = inspector.tree(service, &options);
        let tree = tree.map_err(|failure| InspectionError::InvalidName { failure })?;
        let [root] = tree.nodes.as_slice() else { return Ok(ServiceResult::Found(tree)) };
        let NodeContent::Failure(failure) = root.content.clone() else {
            return Ok(ServiceResult::Found(tree));
        };
        let sentence = match is_unknown_name(&failure) {
            true => no_such_name(inspector, &self.choice, service).to_string(),
            false => format!("cannot list the objects of {service}: {failure}"),
        };
        Ok(ServiceResult::Failed { service: tree.service, failure, sentence })
    }

    fn text(&self, asked: &[ServiceResult]) -> String {
        let has_headings = self.names.len() != 1;
        let mut parts = Vec::new();
        for one in asked {
            let heading = has_headings
                .then(|| format!("Service {}:\n", style::of_stdout().strong(one.service())));
            parts.push(heading.unwrap_or_default() + &self.lines(one));
        }
        parts.join("\n")
    }

    fn lines(&self, asked: &ServiceResult) -> String {
        let ServiceResult::Found(tree) = asked else {
            return if self.list { String::new() } else { String::from(NOTHING) };
        };
        let paths: Vec<_> = paths(tree).collect();
        match self.list {
            true => paths.iter().map(|path| format!("{path}\n")).collect(),
            false => draw(&paths, TreeLines::of_locale()),
        }
    }
}

impl ServiceResult {
    fn service(&self) -> &str {
        match self {
            Self::Found(tree) => &tree.service,
            Self::Failed { service, .. } => service,
        }
    }

    fn has_answered(&self) -> bool {
        matches!(self, Self::Found(_))
    }

    /// A line for each object that did not reply.
    fn errors(&self) -> Vec<String> {
        match self {
            Self::Failed { sentence, .. } => vec![sentence.clone()],
            Self::Found(tree) => {
                let failed = tree.nodes.iter().filter_map(|node| match &node.content {
                    NodeContent::Failure(failure) => {
                        Some(format!("{} of {}: {failure}", node.path, tree.service))
                    }
                    NodeContent::Interfaces(_) => None,
                });
                failed.chain(left_out(tree)).collect()
            }
        }
    }
}

/// The paths of the objects that have replied.
pub(crate) fn paths(tree: &Tree) -> impl Iterator<Item = &str> {
    let answered =
        tree.nodes.iter().filter(|node| matches!(node.content, NodeContent::Interfaces(_)));
    answered.map(|node| node.path.as_str())
}

fn left_out(tree: &Tree) -> Option<String> {
    let (service, count) = (&tree.service, tree.left_out);
    (count > 0).then(|| format!("{service} has more objects; {count} of them were left out"))
}

/// The well-known names that have an owner.
fn running(inspector: &Inspector, choice: &BusChoice) -> Result<Vec<String>, InspectionError> {
    let names = names(inspector, choice)?.into_iter();
    let running = names.filter(|name| {
        !name.name.starts_with(':') && (name.owner.is_some() || name.owner_process.is_some())
    });
    Ok(running.map(|name| name.name).collect())
}

/// busctl's text for a service without objects.
const NOTHING: &str = "No objects discovered.\n";

const LONG_HELP: &str = "\
The output is the same as from `busctl tree`. Each object that does not reply gets a line on standard \
error, and the others are still shown. Without a name no service is started; a named service is, if \
the bus can start it. The work for each service is limited to 10,000 objects and 64 levels.

  diligence tree org.freedesktop.login1 --system
  diligence tree --list org.example.Player    paths for a script
  diligence tree --json org.example.Player    with the interfaces of each object

The exit status is 0 if all services have replied, 1 if one has not, and 2 if the command line \
is wrong.";
