//! `diligence generate`: files for a package, made from the definitions of the commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum, ValueHint};

use super::description;
use crate::completion::Shell;
use crate::output::print_to_stderr;

/// Arguments of `diligence generate`.
#[derive(Debug, Args)]
pub(super) struct Generate {
    what: Artifact,
    /// The directory, which is created if it does not exist
    #[arg(value_hint = ValueHint::DirPath)]
    directory: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Artifact {
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
            print_to_stderr(&format!("diligence: cannot write to {place}: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn write(what: Artifact, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    match what {
        Artifact::Man => clap_mangen::generate_to(description(), directory),
        Artifact::Completions => Shell::ALL.into_iter().try_for_each(|shell| {
            let (name, script) = shell.script();
            fs::write(directory.join(name), script)
        }),
    }
}
