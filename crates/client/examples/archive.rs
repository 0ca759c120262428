//! A slow service: while it searches, all other callers wait.
//!
//! This is the smallest service of the examples. It shows how to connect, export an object with a
//! method and a property, own a name, and answer calls until the bus closes the connection. It also
//! shows a mistake to avoid: a slow method delays all other callers of the connection.
//!
//! ```sh
//! cargo run -p diligence-client --example archive
//! busctl --user call com.example.Archive /com/example/Archive com.example.Archive1 Search s mail
//! ```

use std::error::Error;
use std::thread;
use std::time::Duration;

use diligence_client::{Connection, InterfaceError, NameFlags, ServedInterface};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;

    // Export the object before taking the name: a caller that finds the name finds the object too.
    bus.add_object(PATH, &interface()?, Archive { searches: 0 })?;
    if !bus.request_name(NAME, NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{NAME} is already owned; another instance may be running").into());
    }

    // Answer calls. This returns when the bus closes the connection, which ends the program.
    bus.serve();
    Ok(())
}

/// The state of the object. Methods get it as `&mut`, and properties as `&`.
struct Archive {
    searches: u64,
}

/// Defines the interface; the library also answers introspection from the definition. The closure's
/// argument and result, which are tuples, determine the D-Bus types.
fn interface() -> Result<ServedInterface<Archive>, InterfaceError> {
    ServedInterface::<Archive>::builder("com.example.Archive1")
        .annotate(DOC, "An archive that cannot answer other callers while it searches.")
        .method("Search", &["text"], &["found"], |archive, _request, (text,): (String,)| {
            thread::sleep(SEARCH_TIME);
            archive.searches += 1;
            Ok((archive.searches % 7 + text.len() as u64,))
        })
        .annotate(DOC, "Searches for a quarter of a second; returns the number of matches.")
        .property("Searches", |archive| archive.searches)
        .annotate(DOC, "The number of searches so far.")
        .build()
}

const NAME: &str = "com.example.Archive";
const PATH: &str = "/com/example/Archive";
const SEARCH_TIME: Duration = Duration::from_millis(250);

/// The annotation that tools show as documentation.
const DOC: &str = "org.gtk.GDBus.DocString";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_definition_is_valid() {
        interface().unwrap();
    }
}
