//! The flight recorder of our bus, seen from outside. What stands in a ring is tested where rings can
//! be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use diligence_conformance::{Bus, Config, Flavour, Message, Scratch, Signal, eventually};

#[test]
fn what_the_bus_did_is_written_to_a_file_on_request() {
    if Flavour::under_test() == Flavour::Reference {
        return;
    }
    let folder = Scratch::new();
    let path = folder.path().display();
    let config = Config::session().element(&format!(
        "<?diligence <flight_recorder>65536</flight_recorder>\
         <flight_recorder_folder>{path}</flight_recorder_folder> ?>"
    ));
    let mut bus = Bus::start(&config);
    let mut peer = bus.peer();
    peer.send(Message::signal("/", "com.example.Flight", "Recorded"));
    peer.call(Message::to_bus("GetId"));
    bus.process().signal(Signal::USR2);
    let file = eventually("a file", || {
        let file = fs::read_dir(folder.path()).ok()?.next()?.ok()?.path();
        fs::metadata(&file).is_ok_and(|it| it.len() > 65_536).then_some(file)
    });
    let bytes = fs::read(&file).expect("it is ours");
    assert!(bytes.starts_with(b"DLGTRACE"));
    assert!(bytes.windows(8).any(|window| window == b"Recorded"));
    let mode = fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is nobody else's business");
}

#[test]
fn a_flight_recorder_that_is_too_large_is_told() {
    if Flavour::under_test() == Flavour::Reference {
        return;
    }
    let config =
        Config::session().element("<?diligence <flight_recorder>3221225472</flight_recorder> ?>");
    let mut bus = Bus::start(&config);
    let line = "has 1073741824 bytes, the most that there can be, and not 3221225472";
    eventually("a warning", || bus.process().stderr().contains(line).then_some(()));
}
