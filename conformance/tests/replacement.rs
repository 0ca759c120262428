//! The bus is replaced by the installed program while clients are connected. They must not notice
//! anything but a short pause.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use conformance::{
    BusUnderTest, ExternalProgram, InstalledProgram, PeerStream, PlainMessage, PlainValue,
    ReceivedDescriptors, ScratchFolder, Signal, TestConfig, TestPeer, bus_binary, diligence,
    eventually, field, kind, run_tests, test_case,
};

fn main() -> ExitCode {
    let tests = [
        test_case!(names_rules_and_pending_calls_survive),
        test_case!(connections_of_every_stage_survive),
        test_case!(partial_messages_and_their_descriptors_survive),
        test_case!(queued_messages_stay_complete_and_in_order),
        test_case!(numbered_signals_arrive_once_and_in_order),
        test_case!(starting_services_and_their_messages_survive),
        test_case!(files_of_the_bus_are_removed_at_its_end),
        test_case!(settings_of_the_command_line_and_reloads_survive),
        test_case!(a_signal_replaces_the_bus),
        test_case!(a_program_that_rejects_the_state_changes_nothing),
        test_case!(a_program_that_hangs_changes_nothing),
        test_case!(a_program_that_cannot_be_executed_changes_nothing),
        test_case!(another_program_changes_nothing),
        test_case!(a_program_that_vanishes_during_its_check_changes_nothing),
        test_case!(a_program_that_fails_after_its_check_changes_nothing),
        test_case!(the_bus_serves_during_the_check),
        test_case!(the_state_of_another_format_is_rejected),
    ];
    run_tests(tests.map(|test| test.requires(diligence())))
}

/// A call that replaces the bus.
fn reexecute() -> PlainMessage {
    const BUS: &str = "org.freedesktop.DBus";
    PlainMessage::call(BUS, "/org/freedesktop/DBus", "org.diligence.Daemon1", "Reexecute")
}

/// Replaces the bus, which must succeed.
fn replace(bus: &BusUnderTest) {
    let mut caller = bus.peer();
    let reply = caller.call(reexecute());
    assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
    let version = env!("CARGO_PKG_VERSION");
    let versions: Vec<_> = reply.body[..2].iter().map(PlainValue::as_str).collect();
    assert_eq!(versions, [Some(version), Some(version)]);
    assert!(matches!(reply.body[2], PlainValue::U64(1..10_000_000)), "{}", reply.summary());
}

fn names_rules_and_pending_calls_survive() {
    let mut bus = BusUnderTest::session();
    let process = bus.process().id();
    let (mut caller, mut service) = (bus.peer(), bus.peer());
    assert_eq!(service.request_name("com.example.Service", 0), 1);
    assert_eq!(caller.request_name("com.example.Service", 0), 2, "it waits in the queue");
    caller.add_match("type='signal',member='Twice'");
    caller.add_match("type='signal',member='Twice'");
    caller.send(PlainMessage::some_call("com.example.Service"));
    let call = service.receive().expect("the call");
    replace(&bus);
    assert_eq!(bus.process().id(), process);
    service.send(PlainMessage::reply(&call).arg(PlainValue::text("late")));
    assert_eq!(caller.receive().expect("the reply").first_text(), "late");
    service.send(PlainMessage::signal("/x", "com.example.I", "Twice"));
    assert_eq!(caller.receive().expect("the signal").member(), "Twice");
    let rule = "type='signal',member='Twice'";
    for _ in 0..2 {
        assert_eq!(caller.ask_bus("RemoveMatch", rule).error_name(), "", "both rules exist");
    }
    assert_eq!(caller.ask_bus("RemoveMatch", rule).error_name(), "MatchRuleNotFound");
    service.ask_bus("ReleaseName", "com.example.Service");
    let owner = service.ask_bus("GetNameOwner", "com.example.Service");
    assert_eq!(owner.first_text(), caller.name(), "the next in the queue");
    assert_eq!(bus.peer().name(), ":1.3", "unique names are not used again");
    bus.stop();
}

fn connections_of_every_stage_survive() {
    let bus = BusUnderTest::session();
    let mut new = PeerStream::connect(bus.address());
    let mut half = PeerStream::connect(bus.address());
    half.write(b"\0AUTH EXTER");
    let mut accepted = PeerStream::connect(bus.address());
    accepted.write(b"\0");
    let answer = accepted.say("AUTH EXTERNAL").expect("a question");
    assert_eq!(answer, "DATA");
    let mut before_hello = TestPeer::before_hello(bus.address(), ReceivedDescriptors::Negotiated);
    let mut monitor = bus.peer();
    let become_monitor = PlainMessage::call(
        "org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.Monitoring",
        "BecomeMonitor",
    );
    let rules = PlainValue::texts(&["member='Seen'"]);
    monitor.call(become_monitor.arg(rules).arg(PlainValue::U32(0)));
    for _ in 0..3 {
        replace(&bus);
    }
    new.log_in(ReceivedDescriptors::Negotiated);
    TestPeer::over(new).hello();
    assert!(half.say("NAL 30").is_some_and(|line| line.starts_with("OK ")), "the whole line");
    assert!(accepted.say("DATA").is_some_and(|line| line.starts_with("OK ")));
    before_hello.hello();
    before_hello.send(PlainMessage::signal("/x", "com.example.I", "Seen"));
    let seen = std::iter::from_fn(|| monitor.receive()).find(|message| message.member() == "Seen");
    assert_eq!(seen.expect("the copy").sender(), before_hello.name());
    drop(monitor);
    bus.stop();
}

fn partial_messages_and_their_descriptors_survive() {
    let bus = BusUnderTest::session();
    let (mut sender, mut recipient) = (bus.peer(), bus.peer());
    let to = recipient.name().to_owned();
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(b"content").expect("there is room");
    drop(writer);
    for (len, cut) in [(10, 20), (10, 100), (300_000, 50), (300_000, 200_000)] {
        let call = PlainMessage::some_call(&to)
            .field(field::UNIX_FDS, PlainValue::U32(1))
            .arg(PlainValue::text(&"x".repeat(len)));
        let bytes = sender.numbered(call).encode();
        sender.send_with_descriptors(&bytes[..cut], &[reader.as_fd()]);
        replace(&bus);
        sender.send_bytes(&bytes[cut..]);
        let mut received = recipient.receive().expect("the call");
        assert_eq!(received.first_text().len(), len);
        assert_eq!(received.descriptors.len(), 1, "{len} bytes, cut at {cut}");
        let descriptor = received.descriptors.remove(0);
        if cut == 20 {
            let mut text = String::new();
            fs::File::from(descriptor.try_clone().expect("a descriptor"))
                .read_to_string(&mut text)
                .expect("a pipe");
            assert_eq!(text, "content");
        }
    }
    bus.stop();
}

fn queued_messages_stay_complete_and_in_order() {
    const COUNT: u32 = 300;
    let bus = BusUnderTest::session();
    let (mut sender, mut slow) = (bus.peer(), bus.peer());
    slow.add_match("type='signal',interface='com.example.I'");
    let null = fs::File::open("/dev/null").expect("it exists");
    for number in 0..COUNT {
        let body = PlainValue::text(&"x".repeat(number as usize * 37 % 9000));
        let signal = PlainMessage::signal("/x", "com.example.I", "Numbered")
            .arg(PlainValue::U32(number))
            .arg(body);
        if number % 10 == 0 {
            let signal = signal.field(field::UNIX_FDS, PlainValue::U32(1));
            let bytes = sender.numbered(signal).encode();
            sender.send_with_descriptors(&bytes, &[null.as_fd()]);
        } else {
            sender.send(signal);
        }
        if number % 100 == 50 {
            assert!(sender.is_alive(), "the bus has routed everything");
            replace(&bus);
        }
    }
    for number in 0..COUNT {
        let received = slow.receive().expect("the signal");
        assert_eq!(received.first_u32(), Some(number));
        assert_eq!(received.descriptors.len(), usize::from(number % 10 == 0), "{number}");
        if number % 100 == 20 {
            replace(&bus);
        }
    }
    assert!(slow.is_alive() && sender.is_alive());
    bus.stop();
}

fn numbered_signals_arrive_once_and_in_order() {
    const COUNT: u32 = 20_000;
    const REPLACEMENTS: usize = 30;
    let bus = BusUnderTest::session();
    let (sender, mut recipient) = (bus.peer(), bus.peer());
    recipient.add_match("type='signal',interface='com.example.I'");
    let address = bus.address().to_owned();
    let replacing = std::thread::spawn(move || {
        let mut caller = TestPeer::connect(&address);
        let replies = (0..REPLACEMENTS).map(|_| caller.call(reexecute()).kind);
        replies.filter(|reply| *reply == kind::RETURN).count()
    });
    let sending = sender.stream_numbers(COUNT);
    for number in 0..COUNT {
        let signal = recipient.receive().expect("the signal");
        assert_eq!(signal.first_u32(), Some(number));
    }
    assert_eq!(replacing.join().expect("no panic"), REPLACEMENTS);
    drop(sending.join().expect("no panic"));
    bus.stop();
}

fn starting_services_and_their_messages_survive() {
    const NAME: &str = "com.example.Late";
    let folder = ScratchFolder::new();
    let path = |name: &str| folder.join(name).display().to_string();
    let script = folder.file(
        "late.sh",
        &format!(
            "echo began >&2; while [ ! -e {} ]; do sleep 0.01; done; exec python3 {} \
             \"$DBUS_STARTER_ADDRESS\"",
            path("go"),
            folder.file("service.py", include_str!("python/service.py")).display(),
        ),
    );
    folder.file(
        "late.service",
        &format!("[D-BUS Service]\nName={NAME}\nExec=/bin/sh {} {NAME}\n", script.display()),
    );
    folder.file(
        "fails.service",
        "[D-BUS Service]\nName=com.example.Fails\nExec=/bin/sh -c 'sleep 0.5; exit 7'\n",
    );
    let element = format!("<servicedir>{}</servicedir>", folder.path().display());
    let mut bus = BusUnderTest::start(&TestConfig::session().element(&element));
    let mut caller = bus.peer();
    let start = |name: &str| {
        PlainMessage::to_bus("StartServiceByName")
            .arg(PlainValue::text(name))
            .arg(PlainValue::U32(0))
    };
    caller.send(start("com.example.Fails"));
    let null = fs::File::open("/dev/null").expect("it exists");
    let call = PlainMessage::some_call("com.example.Fails");
    let call = call.field(field::UNIX_FDS, PlainValue::U32(1));
    let bytes = caller.numbered(call).encode();
    caller.send_with_descriptors(&bytes, &[null.as_fd()]);
    assert!(bus.peer().is_alive());
    replace(&bus);
    for _ in 0..2 {
        let error = caller.receive().expect("the failure");
        assert_eq!(error.error_name(), "Spawn.ChildExited", "{}", error.summary());
    }
    let process = bus.process().id();
    eventually("the end of the child", || {
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        children.expect("the bus runs").is_empty().then_some(())
    });
    bus.stop();
}

fn files_of_the_bus_are_removed_at_its_end() {
    let scratch = ScratchFolder::new();
    let path = |name: &str| scratch.join(name).display().to_string();
    let config = TestConfig::session()
        .listen("nonce-tcp:host=127.0.0.1")
        .element(&format!("<listen>unix:path={}</listen>", path("bus")))
        .element(&format!("<pidfile>{}</pidfile>", path("pid")))
        .element(&format!("<?diligence <metrics_socket>{}</metrics_socket>?>", path("metrics")));
    let bus = BusUnderTest::start(&config);
    let nonce_file = bus.address().split(['=', ',', ';']).find(|part| part.ends_with("/nonce"));
    let nonce_file = PathBuf::from(nonce_file.expect("a nonce file"));
    let files = ["pid", "metrics"].map(|name| scratch.join(name));
    for _ in 0..2 {
        replace(&bus);
    }
    assert!(files.iter().chain([&nonce_file]).all(|file| file.exists()));
    let tcp = bus.address().split(';').find(|entry| entry.starts_with("nonce-tcp"));
    PeerStream::knock(tcp.expect("the address"));
    let metrics = std::os::unix::net::UnixStream::connect(&files[1]);
    let mut document = String::new();
    let mut metrics = metrics.expect("the bus serves metrics");
    metrics.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("a short request");
    metrics.read_to_string(&mut document).expect("a document");
    assert!(document.contains("diligence_"), "{document}");
    bus.stop();
    assert!(!files.iter().chain([&nonce_file]).any(|file| file.exists()), "they go with the bus");
}

/// Configuration files that changed in the meantime are read only when that is requested.
fn settings_of_the_command_line_and_reloads_survive() {
    let config = TestConfig::session();
    let bus = BusUnderTest::start(&config.clone().limit("max_names_per_connection", 2));
    let folder = bus.scratch().path().to_owned();
    bus.scratch().file("bus.conf", &config.limit("max_names_per_connection", 3).text(&folder));
    replace(&bus);
    let names_allowed = |peer: &mut TestPeer| {
        let request = |number: u32| {
            PlainMessage::to_bus("RequestName")
                .arg(PlainValue::text(&format!("com.example.N{number}")))
                .arg(PlainValue::U32(0))
        };
        (0..10).take_while(|number| peer.call(request(*number)).error_name().is_empty()).count()
    };
    assert_eq!(names_allowed(&mut bus.peer()), 1, "and the unique name");
    let mut peer = bus.peer();
    peer.call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(names_allowed(&mut peer), 2);
    bus.stop();
}

fn a_signal_replaces_the_bus() {
    let mut bus = BusUnderTest::session();
    let mut peer = bus.peer();
    let process = bus.process().id();
    for count in 1..=3 {
        let kill = ExternalProgram::named("kill", "procps");
        let _ = kill.arg("-s").arg("RTMIN+25").arg(process.to_string()).run().success();
        bus.process().wait_for("the line in the log", |_, stderr| {
            (stderr.matches(" replaced version ").count() == count).then_some(())
        });
        assert!(peer.is_alive());
    }
    bus.stop();
}

/// Checks that a replacement fails with this reason, and that the bus serves on: a connection keeps
/// its name, and a call that waited for its reply is answered.
fn check_refusal(bus: &mut BusUnderTest, installed: &InstalledProgram, reason: &str) {
    let (mut peer, mut caller) = (bus.peer(), bus.peer());
    peer.request_name("com.example.Name", 0);
    caller.send(PlainMessage::some_call("com.example.Name"));
    let call = peer.receive().expect("the call");
    let error = peer.call(reexecute());
    assert_eq!(error.error_name(), "Failed", "{}", error.summary());
    let expected = format!("Cannot replace the bus: {} {reason}", installed.path().display());
    assert_eq!(error.first_text(), expected);
    bus.process()
        .wait_for("the reason in the log", |_, stderr| stderr.contains(&expected).then_some(()));
    let owner = bus.peer().ask_bus("GetNameOwner", "com.example.Name");
    assert_eq!(owner.first_text(), peer.name());
    peer.send(PlainMessage::reply(&call).arg(PlainValue::text("still here")));
    assert_eq!(caller.receive().expect("the reply").first_text(), "still here");
}

fn a_program_that_rejects_the_state_changes_nothing() {
    let installed = InstalledProgram::new();
    let mut bus = installed.start_bus(&TestConfig::session());
    installed.replace_by_script("printf 'first\\nnot today\\n\\n' >&2; exit 1");
    check_refusal(&mut bus, &installed, "cannot continue with the state: not today");
    installed.replace_by_script("kill -9 $$");
    check_refusal(&mut bus, &installed, "cannot continue with the state: signal: 9 (SIGKILL)");
    bus.stop();
}

fn a_program_that_hangs_changes_nothing() {
    let installed = InstalledProgram::new();
    let mut bus = installed.start_bus(&TestConfig::session());
    installed.replace_by_script("exec sleep 60");
    let reason = "did not finish the check of the state in 5 seconds";
    check_refusal(&mut bus, &installed, reason);
    bus.stop();
}

fn a_program_that_cannot_be_executed_changes_nothing() {
    let installed = InstalledProgram::new();
    let mut bus = installed.start_bus(&TestConfig::session());
    fs::remove_file(installed.path()).expect("ours");
    let reason = "cannot be started: No such file or directory";
    check_refusal(&mut bus, &installed, reason);
    installed.replace("#!/bin/sh\nexit 0\n", 0o644);
    check_refusal(&mut bus, &installed, "cannot be started: Permission denied");
    // A program that is installed later continues the bus.
    installed.restore();
    replace(&bus);
    bus.process().signal(Signal::HUP);
    assert!(bus.peer().is_alive());
    bus.stop();
}

fn another_program_changes_nothing() {
    let installed = InstalledProgram::new();
    let mut bus = installed.start_bus(&TestConfig::session());
    installed.replace_by_script("exit 0");
    check_refusal(&mut bus, &installed, "cannot continue with the state: it printed no result");
    installed.restore();
    replace(&bus);
    bus.stop();
}

fn a_program_that_vanishes_during_its_check_changes_nothing() {
    let installed = InstalledProgram::new();
    let mut bus = installed.start_bus(&TestConfig::session());
    for _ in 0..2 {
        installed.replace_by_script("rm \"$0\"; echo 'The state can be continued'");
        check_refusal(&mut bus, &installed, "cannot be started: No such file or directory");
    }
    installed.restore();
    replace(&bus);
    bus.stop();
}

/// The new program runs in place of the old one and cannot continue.
fn a_program_that_fails_after_its_check_changes_nothing() {
    let installed = InstalledProgram::new();
    let mut bus = installed.start_bus(&TestConfig::session());
    let good = installed.folder().join("good");
    fs::hard_link(installed.path(), &good).expect("a scratch folder is writable");
    // No descriptor has this number, so the program misses its state.
    installed.replace_by_script(&format!(
        "[ \"$1\" = --check-state ] && exec {good} --check-state\n\
         DILIGENCE_STATE=19999 exec {good} \"$@\"",
        good = good.display()
    ));
    for _ in 0..2 {
        let reason = "cannot continue with the state: descriptor 19999 is not open";
        check_refusal(&mut bus, &installed, reason);
    }
    // The old program has not forgotten where another one is installed.
    installed.restore();
    replace(&bus);
    bus.stop();
}

fn the_bus_serves_during_the_check() {
    let installed = InstalledProgram::new();
    let bus = installed.start_bus(&TestConfig::session());
    let good = installed.folder().join("good");
    fs::hard_link(installed.path(), &good).expect("a scratch folder is writable");
    let started = installed.folder().join("started");
    installed.replace_by_script(&format!(
        "if [ \"$1\" = --check-state ]; then echo > {}; sleep 1; fi\nexec {} \"$@\"",
        started.display(),
        good.display()
    ));
    let mut caller = bus.peer();
    let serial = caller.send(reexecute());
    eventually("the check begins", || started.exists().then_some(()));
    let mut other = bus.peer();
    let mut calls = 0;
    let reply = loop {
        assert!(other.is_alive());
        calls += 1;
        if let Some(reply) = caller.receive_within(Duration::from_millis(1)) {
            break reply;
        }
    };
    assert_eq!((reply.kind, reply.reply_serial()), (kind::RETURN, Some(serial)));
    // Many hundreds on a quiet machine, and one if the bus waited for the check.
    assert!(calls > 10, "{calls} calls were answered within a second");
    bus.stop();
}

fn the_state_of_another_format_is_rejected() {
    let check = |state: &[u8], expected: &str| {
        let folder = ScratchFolder::new();
        let file = folder.join("state");
        fs::write(&file, state).expect("a scratch folder is writable");
        let file = fs::File::open(file).expect("it was written");
        let ran = ExternalProgram::at(bus_binary()).arg("--check-state").stdin(file).run();
        assert_eq!((ran.code(), ran.stderr.trim()), (1, expected));
    };
    check(b"", "Cannot continue the bus: this is not the state of a bus");
    check(
        b"diligence-state\0\x07",
        "Cannot continue the bus: the state has format 7, but this program reads format 1",
    );
    check(b"diligence-state\0\x01", "Cannot continue the bus: the end of the state is missing");
}
