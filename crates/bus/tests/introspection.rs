//! What the bus says of its objects.

use std::path::Path;

use bus::introspection_xml;
use testkit::golden;
use wire::names::ObjectPath;

#[test]
fn introspection_is_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/introspection");
    for (path, file) in [
        ("/org/freedesktop/DBus", "bus.xml"),
        ("/", "root.xml"),
        ("/org/freedesktop", "above.xml"),
        ("/org/example", "elsewhere.xml"),
        ("/org/freedesktop/DBus/x", "below.xml"),
        ("/org/free", "elsewhere.xml"),
    ] {
        let path = ObjectPath::new(path).expect("an object path");
        golden::check(folder.join(file), &introspection_xml(path));
    }
}
