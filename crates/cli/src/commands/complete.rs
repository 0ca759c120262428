//! `diligence complete`: answers the completion requests of a shell; see [`completion`].

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use super::description;
use crate::completion::{self, Shell};
use crate::output::print;

/// Arguments of `diligence complete`.
#[derive(Debug, Args)]
pub(super) struct Complete {
    shell: Shell,
    /// The words that the completion script of the shell passes
    #[arg(last = true)]
    words: Vec<OsString>,
}

pub(super) fn run(Complete { shell, words }: &Complete) -> ExitCode {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    print(&completion::complete(&mut description(), *shell, &words))
}
