//! The foreground process group of the terminal.

use std::fs::File;

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

/// Returns true if this process is in the foreground of a terminal. Then Ctrl-C signals both it and
/// its children.
pub(super) fn is_in_foreground() -> bool {
    // This fails if the process has no controlling terminal.
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| tcgetpgrp(&terminal) == Ok(getpgrp()))
}
