//! The process of the bus: pid file, background, signals, reloading, configuration files.

use std::fs;
use std::path::Path;

use conformance::process::status;
use conformance::{
    BusUnderTest, Daemon, ExternalProgram, Flavour, PeerStream, PlainMessage, PlainValue,
    ScratchFolder, Signal, TestConfig, TestPeer, bus_program, check_all, eventually, first_line,
    link_bus, require,
};

#[test]
fn pid_file() {
    let scratch = ScratchFolder::new();
    let path = scratch.join("pid");
    let config = TestConfig::session().element(&format!("<pidfile>{}</pidfile>", path.display()));
    let mut bus = BusUnderTest::start(&config);
    let mut peer = bus.peer();
    assert!(peer.is_alive());
    let written = fs::read_to_string(&path).expect("it is there while the bus runs");
    assert_eq!(written, format!("{}\n", bus.process().id()));
    bus.stop();
    assert!(!path.exists(), "it goes with the bus");
    let bus = BusUnderTest::start_with(&config, |bus| bus.arg("--nopidfile"));
    assert!(bus.peer().is_alive());
    assert!(!path.exists(), "--nopidfile");
    fs::write(&path, "1\n").expect("scratch");
    bus.stop();
    assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("1\n"), "not its own, so it stays");
}

/// In the background the bus has its own session and leaves the folder and the terminal of the
/// caller.
#[test]
fn forking_detaches_the_bus_from_its_caller() {
    for how in ["--fork", "<fork/>"] {
        let scratch = ScratchFolder::new();
        let config = TestConfig::session();
        let config = if how == "<fork/>" { config.element(how) } else { config };
        let file = scratch.file("bus.conf", &config.text(scratch.path()));
        let fork = (how == "--fork").then_some(how);
        let ran = ExternalProgram::shell("umask 077; exec \"$@\"")
            .arg(link_bus(&scratch))
            .args(["--print-address=1", "--print-pid=1", "--config-file"])
            .arg(file)
            .args(fork)
            .folder(scratch.path())
            .run()
            .success();
        let daemon = Daemon::from_output(&ran.stdout);
        assert!(TestPeer::connect(daemon.address()).is_alive());
        let pid = daemon.id();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
        let (group, session) = (fields[3], fields[4]);
        let id = pid.to_string();
        assert_eq!((group, session), (id.as_str(), id.as_str()), "{how}: its own session");
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).expect("it runs");
        assert_eq!(folder, Path::new("/"), "{how}");
        for fd in 0..3 {
            let open = fs::read_link(format!("/proc/{pid}/fd/{fd}")).expect("it is open");
            assert_eq!(open, Path::new("/dev/null"), "{how}: descriptor {fd}");
        }
        assert_eq!(status(pid, "Umask"), "0022", "{how}: the umask of a daemon");
        daemon.stop();
    }
}

#[test]
fn nofork_is_stronger_than_the_file() {
    let bus = BusUnderTest::start(&TestConfig::session().element("<fork/>"));
    assert!(bus.peer().is_alive());
    bus.stop();
}

#[test]
fn keep_umask() {
    let scratch = ScratchFolder::new();
    let config = TestConfig::session().element("<keep_umask/>");
    let file = scratch.file("bus.conf", &config.text(scratch.path()));
    let ran = ExternalProgram::shell("umask 077; exec \"$@\"")
        .arg(link_bus(&scratch))
        .args(["--fork", "--print-address=1", "--print-pid=1", "--config-file"])
        .arg(file)
        .run()
        .success();
    let daemon = Daemon::from_output(&ran.stdout);
    assert!(TestPeer::connect(daemon.address()).is_alive());
    assert_eq!(status(daemon.id(), "Umask"), "0077");
    daemon.stop();
}

/// SIGHUP, ReloadConfig and a change in a folder of services all reload; an invalid file does not.
#[test]
fn reloads_read_the_services_again() {
    let services = ScratchFolder::new();
    let folder = services.path().display();
    let config = TestConfig::session().element(&format!("<servicedir>{folder}</servicedir>"));
    let mut bus = BusUnderTest::start(&config);
    let mut peer = bus.peer();
    add_service(&services, "com.example.ByFolder");
    eventually("a new file", || activatable(&mut peer, "com.example.ByFolder").then_some(()));

    let good = config.text(bus.scratch().path());
    let more = ScratchFolder::new();
    add_service(&more, "com.example.ByHangup");
    let folder = format!("<servicedir>{}</servicedir>", more.path().display());
    bus.scratch().file("bus.conf", &config.element(&folder).text(bus.scratch().path()));
    bus.process().signal(Signal::HUP);
    eventually("SIGHUP", || activatable(&mut peer, "com.example.ByHangup").then_some(()));

    bus.scratch().file("bus.conf", "<busconfig");
    bus.process().signal(Signal::HUP);
    let reply = peer.call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "Failed", "{}", reply.summary());
    assert!(!reply.first_text().is_empty(), "it says what is wrong");
    assert!(activatable(&mut peer, "com.example.ByHangup"), "the old one stays");

    bus.scratch().file("bus.conf", &good);
    let reply = peer.call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "", "{}", reply.summary());
    assert!(!activatable(&mut peer, "com.example.ByHangup"));
    assert!(activatable(&mut peer, "com.example.ByFolder"));
    bus.stop();
}

/// SIGHUP and ReloadConfig read the limits again; an invalid file changes nothing.
#[test]
fn reloads_read_the_limits_again() {
    let config = |rules| TestConfig::session().limit("max_match_rules_per_connection", rules);
    let mut bus = BusUnderTest::start(&config(2));
    let mut peer = bus.peer();
    let rewrite = |bus: &BusUnderTest, text: &str| {
        bus.scratch().file("bus.conf", text);
    };
    let refused =
        |peer: &mut TestPeer| peer.ask_bus("AddMatch", "type='signal'").error_name().to_owned();
    peer.add_match("type='signal'");
    peer.add_match("type='signal'");
    assert_eq!(refused(&mut peer), "LimitsExceeded");

    let text = config(3).text(bus.scratch().path());
    rewrite(&bus, &text);
    bus.process().signal(Signal::HUP);
    eventually("SIGHUP", || refused(&mut peer).is_empty().then_some(()));
    assert_eq!(refused(&mut peer), "LimitsExceeded");

    rewrite(&bus, "<busconfig");
    let reply = peer.call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "Failed", "{}", reply.summary());
    assert!(!reply.first_text().is_empty(), "it says what is wrong");
    assert_eq!(refused(&mut peer), "LimitsExceeded", "the old limits stay");

    let text = config(4).text(bus.scratch().path());
    rewrite(&bus, &text);
    let reply = peer.call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "", "{}", reply.summary());
    assert_eq!(refused(&mut peer), "", "the new limits apply to connected clients");
    bus.stop();
}

/// Signals such as SIGUSR1, which other programs use, do not end the bus.
#[test]
fn unused_signals_do_not_end_the_bus() {
    let mut bus = BusUnderTest::session();
    bus.process().signal(Signal::USR2);
    match Flavour::under_test() {
        Flavour::Diligence => {
            assert!(bus.peer().is_alive());
            bus.stop();
        }
        Flavour::Reference => {
            eventually("it is killed", || bus.process().ended());
        }
    }
}

/// The bus ends even if clients are connected.
#[test]
fn the_bus_ends_with_clients_connected() {
    let bus = BusUnderTest::session();
    let mut peers = [bus.peer(), bus.peer()];
    let half = PeerStream::connect(bus.address());
    bus.stop();
    assert!(peers.iter_mut().all(|peer| peer.until_closed().is_empty()));
    drop(half);
}

fn activatable(peer: &mut TestPeer, name: &str) -> bool {
    let reply = peer.call(PlainMessage::to_bus("ListActivatableNames"));
    reply.body[0].elements().is_some_and(|names| names.contains(&PlainValue::text(name)))
}

fn add_service(folder: &ScratchFolder, name: &str) {
    let text = format!("[D-BUS Service]\nName={name}\nExec=/bin/true\n");
    folder.file(&format!("{name}.service"), &text);
}

/// The valid and invalid files of dbus-daemon's own tests.
#[test]
fn configuration_files_of_dbus_daemons_tests_are_judged_alike() {
    let folder = require("/usr/lib/dbus-1.0/installed-tests/dbus/data", "dbus-tests");
    let files = |name: &str| {
        let entries = fs::read_dir(folder.join(name)).expect("the package has it");
        let paths = entries.map(|entry| entry.expect("readable").path());
        let mut files: Vec<_> =
            paths.filter(|path| path.extension().is_some_and(|end| end == "conf")).collect();
        files.sort();
        assert!(files.len() > 20, "{name} has {} files", files.len());
        files
    };
    let name = |path: &std::path::PathBuf| path.display().to_string();
    check_all(&files("invalid-config-files"), name, |path| {
        let ran = start_with(path, &ScratchFolder::new()).finish();
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{ran}");
        assert!(ran.stderr.contains("Failed to start message bus: "), "{ran}");
    });
    check_all(&files("valid-config-files"), name, |path| {
        let scratch = ScratchFolder::new();
        let text = fs::read_to_string(path).expect("readable");
        let mut running = start_with(path, &scratch);
        if text.contains("mybususer") {
            let ran = running.finish();
            assert!(ran.stderr.contains("mybususer"), "no such user: {ran}");
            return;
        }
        let address = running.wait_for("address", |stdout, _| first_line(stdout));
        PeerStream::knock(&address);
        let _ = running.terminate().success();
    });
}

fn start_with(path: &Path, scratch: &ScratchFolder) -> conformance::StartedProgram {
    bus_program()
        .arg("--config-file")
        .arg(path)
        .arg(format!("--address=unix:tmpdir={}", scratch.path().display()))
        .arg("--print-address")
        .start()
}
