//! Lines about services that are started, in the words of the reference.

use bus::{Cause, Event, Road};

use super::who::{ProcessOf, Who};
use crate::activation::Children;
use crate::log::{Record, Severity};

/// Somebody wants a service.
pub(super) fn starting(name: &str, road: &Road, who: &Who) -> Record {
    let what = match road {
        Road::Process => format!("Activating service name='{name}'"),
        Road::Unit(unit) => format!("Activating via systemd: service name='{name}' unit='{unit}'"),
        Road::ByItself => format!("Waiting for service name='{name}'"),
    };
    let line = format!("{what} requested by '{}' ({})", who.name(), ProcessOf(who));
    let mut record = Record::line(Severity::Info, line);
    record.field("DBUS_SERVICE", name);
    record
}

/// What has become of it; `None` for what is not about that.
pub(super) fn record(event: &Event, children: &Children) -> Option<Record> {
    let (name, mut record) = match event {
        Event::Started { name } => {
            let line = format!("Successfully activated service '{name}'");
            (name, Record::line(Severity::Info, line))
        }
        Event::StartFailed { start, name, cause, why } => {
            let wrote = children.tail(*start);
            let wrote = wrote.map_or(String::new(), |tail| format!(". It wrote last: {tail}"));
            let line = failure(name, cause, why) + &wrote;
            (name, Record::line(Severity::Warning, line))
        }
        _ => return None,
    };
    record.field("DBUS_SERVICE", name);
    Some(record)
}

fn failure(name: &str, cause: &Cause, why: &str) -> String {
    match cause {
        Cause::Process => format!("Activated service '{name}' failed: {why}"),
        Cause::Unit(unit) => {
            format!("Activation via systemd failed for unit '{unit}' of service '{name}': {why}")
        }
        Cause::Timeout => why.to_owned(),
    }
}
