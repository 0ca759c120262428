//! The program from the outside: as people call it, and as programs that know `dbus-daemon` do.

mod command_line;
mod lint;
mod record;
mod recordings;
mod start;
mod status;
mod support;
