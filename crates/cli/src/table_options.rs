//! Options for the form of tables, with the names of busctl.

use clap::{ArgAction, Args};

/// Options for the form of a table.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct TableOptions {
    /// Do not print the heading
    #[arg(long)]
    pub(crate) no_legend: bool,
    /// Print complete values, even if they are wider than the terminal
    #[arg(short = 'l', long)]
    pub(crate) full: bool,
    #[command(flatten)]
    _pager: NoPager,
}

/// `--no-pager` of `busctl`, which is accepted and ignored: this program never starts a pager.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct NoPager {
    #[arg(long = "no-pager", hide = true, action = ArgAction::Count)]
    _no_pager: u8,
}
