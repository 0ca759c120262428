//! An archive that takes its time: it looks for words while everybody waits, as too many services
//! do.

use std::thread;
use std::time::Duration;

use client::{Connection, Interface, InterfaceError};

use super::{DOC, DemoError, serve, take_name};

/// Serves the archive.
pub(super) fn play(bus: &Connection) -> Result<(), DemoError> {
    let _archive = bus.add_object(PATH, &interface()?, Archive { searches: 0 })?;
    take_name(bus, NAME)?;
    serve(bus, Duration::from_secs(60), || Ok(()), || Ok(()))
}

/// All that was ever said.
struct Archive {
    searches: u64,
}

fn interface() -> Result<Interface<Archive>, InterfaceError> {
    Interface::<Archive>::builder(INTERFACE)
        .annotate(DOC, "An archive that is slow, and answers nobody while it searches.")
        .method("Search", &["text"], &["found"], |archive, _, (text,): (String,)| {
            thread::sleep(SEARCH);
            archive.searches += 1;
            Ok((archive.searches % 7 + text.len() as u64,))
        })
        .annotate(DOC, "Looks for a text, for a quarter of a second; tells how often it is there.")
        .property("Searches", |archive| archive.searches)
        .annotate(DOC, "How often somebody has searched.")
        .build()
}

pub(super) const NAME: &str = "com.example.Archive";
pub(super) const PATH: &str = "/com/example/Archive";
pub(super) const INTERFACE: &str = "com.example.Archive1";

/// How long it looks.
const SEARCH: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_sound() {
        interface().unwrap();
    }
}
