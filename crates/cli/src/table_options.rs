//! Options that say how tables are printed, as busctl has them.

use clap::{ArgAction, Args};

/// How a table is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct TableOptions {
    /// Do not print the line above the columns
    #[arg(long)]
    pub(crate) no_legend: bool,
    /// Print everything in full, however wide the terminal is
    #[arg(short = 'l', long)]
    pub(crate) full: bool,
    #[command(flatten)]
    _pager: NoPager,
}

/// What `busctl` has to be told, taken so that its command lines can be: there is no pager.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct NoPager {
    #[arg(long = "no-pager", hide = true, action = ArgAction::Count)]
    _no_pager: u8,
}
