//! The program from the outside: as people call it, and as programs that know `dbus-daemon` do.

mod command_line;
mod introspect;
mod lint;
mod monitor;
mod record;
mod record_ends;
mod record_several;
mod recorder;
mod recordings;
mod start;
mod status;
mod support;
mod top;
