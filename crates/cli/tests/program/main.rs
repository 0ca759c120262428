//! The program from the outside: as people call it, and as programs that know `dbus-daemon` do.

mod call;
mod command_line;
mod copies;
mod elsewhere;
mod everything;
mod export;
mod introspect;
mod lint;
mod live;
mod look;
mod monitor;
mod record;
mod record_ends;
mod record_several;
mod record_switches;
mod recorder;
mod recordings;
mod scene;
mod show;
mod start;
mod stats;
mod status;
mod support;
mod top;
