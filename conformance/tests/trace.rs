//! The flight recorder of the bus, seen from outside. The tests of crates/capture check the
//! contents of rings.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::process::ExitCode;

use conformance::{
    BUS_NAME, BUS_PATH, BusUnderTest, PlainMessage, PlainValue, RunAs, ScratchFolder, Signal,
    TestConfig, TestPeer, diligence, eventually, file_with_extension, root, run_tests, test_case,
};
use rustix::fs::{SealFlags, fcntl_get_seals, ftruncate};

fn main() -> ExitCode {
    run_tests([
        test_case!(the_flight_recorder_writes_a_file_on_request).requires(diligence()),
        test_case!(the_flight_recorder_writes_a_file_when_the_bus_ends).requires(diligence()),
        test_case!(a_flight_recorder_that_is_too_large_is_reported).requires(diligence()),
        test_case!(traces_are_for_root_and_the_user_of_the_bus)
            .requires(root())
            .requires(diligence()),
        test_case!(a_reader_of_a_trace_cannot_change_it).requires(diligence()),
    ])
}

/// A bus with a flight recorder for a folder that does not exist yet, and a peer that has emitted a
/// signal.
fn bus_that_records(folder: &ScratchFolder) -> (BusUnderTest, TestPeer) {
    let path = folder.path().join("records");
    let config = TestConfig::session().element(&format!(
        "<?diligence <flight_recorder>65536</flight_recorder>\
         <flight_recorder_folder>{}</flight_recorder_folder> ?>",
        path.display()
    ));
    let bus = BusUnderTest::start(&config);
    let mut peer = bus.peer();
    peer.send(PlainMessage::signal("/", "com.example.Flight", "Recorded"));
    peer.call(PlainMessage::to_bus("GetId"));
    (bus, peer)
}

fn the_flight_recorder_writes_a_file_on_request() {
    let folder = ScratchFolder::new();
    let (mut bus, mut peer) = bus_that_records(&folder);
    // Each reader begins at the start of the memory, and takes nothing from the file.
    for _ in 0..2 {
        assert!(lent_recording(&mut peer).starts_with(b"DLGTRACE"));
    }
    bus.process().signal(Signal::USR2);
    let file = eventually("a file", || {
        let file = file_with_extension(&folder.join("records"), "trace")?;
        fs::metadata(&file).is_ok_and(|it| it.len() > 65_536).then_some(file)
    });
    let bytes = fs::read(&file).expect("it is ours");
    assert!(bytes.starts_with(b"DLGTRACE"));
    assert!(bytes.windows(8).any(|window| window == b"Recorded"));
    let mode = fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is nobody else's business");
}

/// Reads the memory of the flight recorder like a file.
fn lent_recording(peer: &mut TestPeer) -> Vec<u8> {
    let answer = peer.call(PlainMessage::call(BUS_NAME, BUS_PATH, "org.diligence.Trace1", "Dump"));
    let ring = answer.descriptors.first().expect("a ring").try_clone().expect("a descriptor");
    let mut bytes = Vec::new();
    File::from(ring).read_to_end(&mut bytes).expect("memory");
    bytes
}

/// Ends a bus with a flight recorder that has sent a message. Returns the file that remains.
fn left_by(signal: Signal) -> (String, Vec<u8>) {
    let folder = ScratchFolder::new();
    let (mut bus, mut peer) = bus_that_records(&folder);
    bus.process().signal(signal);
    peer.until_closed();
    let found = || file_with_extension(&folder.join("records"), "trace");
    let file = eventually("a file", found);
    let mode = fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is nobody else's business");
    let name = file.file_name().expect("it has a name").to_string_lossy().into_owned();
    let log = bus.process().stderr();
    assert!(log.contains(&file.display().to_string()), "{log}");
    (name, fs::read(&file).expect("it is ours"))
}

fn the_flight_recorder_writes_a_file_when_the_bus_ends() {
    for (signal, begins) in
        [(Signal::TERM, "flight-"), (Signal::ABORT, "crash-"), (Signal::SEGV, "crash-")]
    {
        let (name, bytes) = left_by(signal);
        assert!(name.starts_with(begins) && name.ends_with(".trace"), "{signal:?}: {name}");
        assert!(bytes.starts_with(b"DLGTRACE") && bytes.len() > 65_536, "{signal:?}");
        assert!(bytes.windows(8).any(|window| window == b"Recorded"), "{signal:?}");
    }
}

fn a_flight_recorder_that_is_too_large_is_reported() {
    let config = TestConfig::session()
        .element("<?diligence <flight_recorder>3221225472</flight_recorder> ?>");
    let mut bus = BusUnderTest::start(&config);
    let line = "has 1073741824 bytes, the maximum, instead of 3221225472";
    eventually("a warning", || bus.process().stderr().contains(line).then_some(()));
}

/// Calls the method that starts a trace of all messages.
fn start_trace(peer: &mut TestPeer) -> PlainMessage {
    let call = PlainMessage::call(BUS_NAME, BUS_PATH, "org.diligence.Trace1", "Start");
    peer.call(call.arg(PlainValue::Array("{sv}".into(), Vec::new())))
}

fn traces_are_for_root_and_the_user_of_the_bus() {
    let config = TestConfig::session().policy("context='default'", "<allow user='*'/>");
    let bus = BusUnderTest::start_as(RunAs::NOBODY, &config);
    let daemon = RunAs { uid: 1, gid: 1 };
    for (user, error) in
        [(RunAs { uid: 0, gid: 0 }, ""), (RunAs::NOBODY, ""), (daemon, "AccessDenied")]
    {
        let answer = user.act(|| start_trace(&mut bus.peer()));
        assert_eq!(answer.error_name(), error, "{user:?}: {}", answer.summary());
    }
    for member in ["Dump", "Stop"] {
        let call = PlainMessage::call(BUS_NAME, BUS_PATH, "org.diligence.Trace1", member);
        let answer = daemon.act(|| bus.peer().call(call));
        assert_eq!(answer.error_name(), "AccessDenied", "{member}: {}", answer.summary());
    }
    bus.stop();
}

fn a_reader_of_a_trace_cannot_change_it() {
    let bus = BusUnderTest::session();
    let mut peer = bus.peer();
    let answer = start_trace(&mut peer);
    let ring = answer.descriptors.first().expect("a ring");
    let seals = fcntl_get_seals(ring).expect("memory that can be sealed");
    let all = SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    assert!(seals.contains(all), "{seals:?}");
    assert!(ftruncate(ring, 0).is_err(), "it cannot be cut off");
    let mut file = File::from(ring.try_clone().expect("a descriptor"));
    assert!(file.write(b"x").is_err(), "it cannot be written");
    let mode = file.metadata().expect("the memory").permissions().mode();
    assert_eq!(mode & 0o777, 0o400, "no user without privileges can open it for writing");
    bus.stop();
}
