//! `diligence generate`: files that a package installs, made from the definitions of the commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::{Cli, bus};
use crate::output::complain;

/// What to write, and where.
#[derive(Debug, Args)]
pub(super) struct Generate {
    what: What,
    /// An existing directory, or one to make
    directory: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// A manual page for each command
    Man,
    /// Completions for bash, fish and zsh
    Completions,
}

pub(super) fn run(Generate { what, directory }: &Generate) -> ExitCode {
    match write(*what, directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let place = directory.display();
            complain(&format!("diligence: cannot write to {place}: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn write(what: What, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    // What clap passes on to the bus unread is described by the bus itself.
    let mut command = Cli::command().mut_subcommand("bus", |_| bus::description());
    match what {
        What::Man => clap_mangen::generate_to(command, directory),
        What::Completions => SHELLS.into_iter().try_for_each(|shell| {
            clap_complete::generate_to(shell, &mut command, "diligence", directory).map(|_| ())
        }),
    }
}

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];
