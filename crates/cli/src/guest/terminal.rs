//! Whose the terminal is.

use std::fs::File;

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

/// Whether this process is in the foreground of a terminal, where the keys that interrupt reach it
/// and its children alike.
pub(super) fn is_in_foreground() -> bool {
    // Without a terminal there is no such file.
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| tcgetpgrp(&terminal) == Ok(getpgrp()))
}
