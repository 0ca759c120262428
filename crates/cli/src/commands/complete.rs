//! `diligence complete`: tells a shell what may come next; see [`completion`].

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use super::description;
use crate::completion::{self, Shell};
use crate::output::print;

/// Which shell asks, and of which words.
#[derive(Debug, Args)]
pub(super) struct Complete {
    shell: Shell,
    /// What the script for the shell passes on
    #[arg(last = true)]
    words: Vec<OsString>,
}

pub(super) fn run(Complete { shell, words }: &Complete) -> ExitCode {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    print(&completion::complete(&mut description(), *shell, &words))
}
