//! Compares `diligence call`, `get`, `set`, `emit`, `wait`, `start` and `own` with the tools whose
//! command lines they accept.

use std::fs;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use client::wire::body::Value;
use client::{Connection, IncomingCall, NameFlags, ServedInterface, Values};
use rustix::process::Signal;
use testkit::forms::{FORMS, ValueForm};

use crate::everything::{self, ServiceFault};
use crate::recorder::DbusDaemon;
use crate::support::{ProgramFolder, SpawnedProgram, text};

const NAME: &str = "org.example.Echo";
const PATH: &str = "/org/example/Echo";

/// Replies with the arguments of a request.
fn echo(request: &IncomingCall) {
    let message = request.message();
    let mut reader = message.reader();
    let types = message.signature().types();
    let values: Vec<_> = types.map(|kind| Value::read(kind, &mut reader).expect("valid")).collect();
    request.reply(&Values(&values)).expect("the bus is there");
}

/// Starts a thread with a service that has a method for each form. It ends with the bus.
fn serve(address: &str) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    let address = address.to_owned();
    thread::spawn(move || {
        let bus = Connection::open(&address).expect("the bus is there");
        let mut interface = ServedInterface::<u32>::builder(NAME);
        for (number, form) in FORMS.iter().enumerate() {
            let (name, arguments) = (format!("Echo{number}"), [("value", form.types)]);
            let run = |_: &mut u32, request: IncomingCall| echo(&request);
            interface = interface.raw_method(&name, &arguments, &arguments, run);
        }
        let interface = interface
            .raw_method("Never", &[], &[], |_, request| drop(request))
            .writable_property(
                "Level",
                |level| *level,
                |level, new: u32| {
                    *level = new;
                    Ok(())
                },
            )
            .build()
            .expect("a valid interface");
        let _object = bus.add_object(PATH, &interface, 7).expect("the path is free");
        bus.request_name(NAME, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        bus.serve();
    });
    is_ready.recv_timeout(Duration::from_secs(10)).expect("the service is ready");
}

const BARE: &str = "net.hadess.Switcher";

/// Starts a service that returns empty introspection data for every path, like some libraries.
fn serve_bare(address: &str) {
    let (address, (ready, is_ready)) = (address.to_owned(), std::sync::mpsc::channel());
    thread::spawn(move || {
        let bus = Connection::open(&address).expect("the bus is there");
        bus.request_name(BARE, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        while let Ok(request) = bus.next_request(None) {
            let Some(request) = request else { continue };
            request.reply(&("<node/>",)).expect("the bus is there");
        }
    });
    is_ready.recv_timeout(Duration::from_secs(10)).expect("the service is ready");
}

struct CalledService {
    folder: ProgramFolder,
    bus: DbusDaemon,
}

impl CalledService {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let bus = DbusDaemon::start(&folder, "");
        serve(&bus.address);
        Self { folder, bus }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.folder.diligence();
        command.args(words).env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address);
        command
    }

    fn diligence(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program exists")
    }

    /// Returns the standard output of diligence, which must succeed.
    fn stdout_of(&self, words: &[&str]) -> String {
        let output = self.diligence(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Returns the standard error of diligence, which must fail with this status.
    fn error(&self, words: &[&str], status: i32) -> String {
        let output = self.diligence(words);
        assert_eq!(output.status.code(), Some(status), "{words:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    fn tool(&self, program: &str, words: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(words).env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address);
        let output = command.output().unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(output.status.success(), "{program} {words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

/// Removes the first line, which has a time and serials.
fn body(stdout: &str) -> &str {
    stdout.split_once('\n').map_or("", |(_, body)| body)
}

#[test]
fn values_of_every_type_are_sent_as_by_the_other_tools() {
    let stage = CalledService::new();
    for (number, form) in FORMS.iter().enumerate() {
        let ValueForm { types, busctl, gvariant, dbus_send, json } = form;
        let method = format!("Echo{number}");
        let full = format!("{NAME}.{method}");
        let words = [&["--", "call", NAME, PATH, NAME, &method, types], *busctl].concat();
        let user = [&["--user"], &words[..]].concat();
        let expected = stage.tool("busctl", &user);
        // The same value in the syntax of four tools.
        let words = [&["call", "--", NAME, PATH, NAME, &method, types], *busctl].concat();
        assert_eq!(stage.stdout_of(&words), expected);
        for argument in [gvariant, dbus_send, json] {
            let stdout = stage.stdout_of(&["call", "--", NAME, PATH, &full, argument]);
            assert_eq!(stdout, expected, "{types}: {argument}");
            let stdout = stage.stdout_of(&["call", "--", NAME, PATH, &method, argument]);
            assert_eq!(stdout, expected, "{types}: {argument}");
        }
    }
}

#[test]
fn values_of_every_type_are_printed_as_by_the_other_tools() {
    let stage = CalledService::new();
    for (number, form) in FORMS.iter().enumerate() {
        let ValueForm { types, busctl, gvariant, dbus_send, .. } = form;
        let method = format!("Echo{number}");
        let full = format!("{NAME}.{method}");
        let words = [&["--", "call", NAME, PATH, NAME, &method, types], *busctl].concat();
        let call = |option| ["call", option, "--", NAME, PATH, &full, gvariant];
        let gdbus = ["call", "--session", "-d", NAME, "-o", PATH, "-m", &full, "--", gvariant];
        assert_eq!(stage.stdout_of(&call("--format=gvariant")), stage.tool("gdbus", &gdbus));
        // busctl has no JSON form for dictionaries whose keys are not strings.
        let shapes = ["--json=short", "--json=pretty"].iter().filter(|_| form.has_json_of_busctl());
        for shape in shapes {
            let expected = stage.tool("busctl", &[&["--user", shape], &words[..]].concat());
            assert_eq!(stage.stdout_of(&call(shape)), expected, "{types} {shape}");
        }
        let verbose = stage.tool("busctl", &[&["--user", "--verbose"], &words[..]].concat());
        assert_eq!(stage.stdout_of(&call("--format=verbose")), verbose);
        if form.is_known_to_dbus_send() {
            let dest = format!("--dest={NAME}");
            let send = ["--session", "--print-reply", &dest, PATH, &full, dbus_send];
            let expected = stage.tool("dbus-send", &send);
            let stdout = stage.stdout_of(&call("--format=dbus-send"));
            assert_eq!(body(&stdout), body(&expected), "{types}");
            assert!(stdout.starts_with("method return time="), "{stdout}");
            let literal = ["--session", "--print-reply=literal", &dest, PATH, &full, dbus_send];
            assert_eq!(
                stage.stdout_of(&call("--print-reply=literal")),
                stage.tool("dbus-send", &literal)
            );
        }
    }
}

#[test]
fn incomplete_calls_list_names_paths_or_members() {
    let stage = CalledService::new();
    assert!(stage.stdout_of(&["call"]).lines().any(|line| line == NAME));
    assert!(stage.stdout_of(&["call", NAME]).lines().any(|line| line == PATH));
    let members = stage.stdout_of(&["call", NAME, PATH]);
    assert!(members.contains("method org.example.Echo.Echo4(i value) -> (i value)\n"), "{members}");
    assert!(members.contains("property readwrite u org.example.Echo.Level\n"), "{members}");
    let of_interface = stage.stdout_of(&["call", NAME, PATH, NAME]);
    assert!(!of_interface.contains("Ping") && of_interface.contains("Echo4"), "{of_interface}");
}

#[test]
fn the_options_of_the_other_tools_are_understood() {
    let stage = CalledService::new();
    let method = "org.example.Echo.Echo4";
    for words in [
        &["call", "--dest", NAME, "--object-path", PATH, "--method", method, "-7"][..],
        &["call", "-d", NAME, "-o", PATH, "-m", method, "-7", "-e"],
        &["call", "-a", &stage.bus.address, "-d", NAME, "-o", PATH, "-m", method, "-7"],
        &["call", "--dest=org.example.Echo", "--type=method_call", PATH, method, "int32:-7"],
    ] {
        assert_eq!(stage.stdout_of(words), "i -7\n", "{words:?}");
    }
    let verbose = stage.diligence(&["call", "-v", NAME, PATH, "Echo4", "7"]);
    let expected =
        "calling org.example.Echo.Echo4 with \"i\" (from introspection), read as gvariant\n";
    assert_eq!(text(&verbose.stderr), expected);
    let two = ["call", "-v", "org.freedesktop.DBus", "/", "RequestName", "a.b", "4"];
    let two = text(&stage.diligence(&two).stderr);
    assert!(two.ends_with(" with \"su\" (from introspection), read as gvariant\n"), "{two}");
    assert_eq!(stage.stdout_of(&["call", "-q", NAME, PATH, "Echo4", "7"]), "");
    let dict = FORMS.iter().position(|form| form.types == "a{si}").expect("the form exists");
    let dict = format!("Echo{dict}");
    let pretty = stage.stdout_of(&["call", "--format=pretty", NAME, PATH, &dict, "{'a': 1}"]);
    assert_eq!(pretty, "value:\n  a: 1\n");
    let repeated = stage.diligence(&["call", "--repeat=5", NAME, PATH, "Echo4", "7"]);
    assert_eq!(text(&repeated.stdout), "i 7\n");
    assert!(text(&repeated.stderr).starts_with("5 calls: min "), "{}", text(&repeated.stderr));
}

#[test]
fn call_errors_are_single_sentences() {
    let stage = CalledService::new();
    serve_bare(&stage.bus.address);
    for (words, parts) in [
        (
            &["call", NAME, PATH, "Echo5", "-1"][..],
            &["argument 1 must be a whole number", "(u)", "is -1", "example: 7"][..],
        ),
        (
            &["call", NAME, PATH, "Echo05"],
            &["UnknownMethod", "did you mean Echo0, Echo15 or Echo25?"],
        ),
        (
            &["call", "org.example.Ecko", PATH, "Echo5"],
            &["ServiceUnknown", "mean org.example.Echo?"],
        ),
        (&["call", NAME, "/org/example/Ecko", "Echo5"], &["mean /org/example/Echo or "]),
        (&["call", NAME, "no path", "Echo5"], &["no path"]),
        (
            &["call", NAME, "/none", "org.freedesktop.DBus.Properties.Get"],
            &["UnknownObject", "/none"],
        ),
        (&["call", NAME, "/none", "org.b.C.Foo", "s", "hi"], &["UnknownObject", "/none"]),
        (&["call", NAME, "/none", "org.b.C", "Foo", "su", "hi"], &["UnknownObject", "/none"]),
        (
            &["call", BARE, "/none", "org.b.C", "Foo", "su", "hi"],
            &["has no object /none, or the object has no interfaces"],
        ),
        (&["call", NAME, PATH, "org.b.C.Foo", "s", "hi"], &["UnknownInterface", "org.b.C"]),
        (
            &["call", NAME, PATH, "org.example.Ecko.Echo5", "u"],
            &["org.example.Ecko", "did you mean org.example.Echo.Echo5, "],
        ),
        (&["call", "--address=unix:path=/none"], &["cannot connect to the bus at unix:path=/none"]),
        (&["get", NAME, PATH, "Lefel"], &["does not describe a property Lefel", "mean Level?"]),
        (
            &["get", NAME, PATH, "Zzz"],
            &["does not describe a property Zzz; if it has this property, give its interface too"],
        ),
        (&["get", NAME, "/none", "Level"], &["UnknownObject"]),
        (&["set", NAME, PATH, "Level", "loud"], &["Level: argument 1 must be", "is loud"]),
        (&["start", "org.example.Nobody"], &["org.example.Nobody"]),
    ] {
        let error = stage.error(words, 1);
        for part in parts {
            assert!(error.contains(part), "no {part:?} in {error:?}");
        }
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let interface = stage.error(&["get", NAME, PATH, NAME], 2);
    let expected = "org.example.Echo is an interface; give a property too: it has Level\n";
    assert!(interface.ends_with(expected), "{interface}");
    let begun = Instant::now();
    let silent = stage.error(&["call", "--timeout=300ms", NAME, PATH, "Never"], 1);
    assert!(silent.contains("no reply within"), "{silent}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// Half of the timeout is reserved for the call.
#[test]
fn objects_without_introspection_data_are_called() {
    let stage = CalledService::new();
    let name = "org.example.Silent";
    everything::serve(&stage.bus.address, name, ServiceFault::Silent);
    assert_eq!(stage.stdout_of(&["call", "--timeout=1s", name, everything::ODD, "a.b", "C"]), "");
}

#[test]
fn missing_arguments_are_errors_as_in_busctl() {
    let stage = CalledService::new();
    let (bus, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
    let call = ["call", bus, path, bus];
    let emit = ["emit", "/p", "org.example.I"];
    for (front, words) in [
        (&call[..], &["NameHasOwner", "s"][..]),
        (&call, &["NameHasOwner", "s", "org.example.Nobody"]),
        (&call, &["NameHasOwner", "s", "s"]),
        (&call, &["NameHasOwner", "s", "a", "b"]),
        (&call, &["RequestName", "su", "a.b"]),
        (&call, &["UpdateActivationEnvironment", "a{ss}"]),
        (&call, &["UpdateActivationEnvironment", "a{ss}", "0"]),
        (&emit, &["Said", "s"]),
        (&emit, &["Said", "v"]),
        (&emit, &["Said", "a{vs}", "0"]),
        (&emit, &["Said", "(s", "x"]),
        (&emit, &["Said", "s", "word"]),
        (&emit, &["Said", "as", "2", "a"]),
    ] {
        let words = [front, words].concat();
        let mut busctl = Command::new("busctl");
        busctl.arg("--user").args(&words);
        busctl.env("DBUS_SESSION_BUS_ADDRESS", &stage.bus.address);
        let theirs = busctl.output().expect("busctl is installed");
        let ours = stage.diligence(&words);
        let errors = text(&ours.stderr);
        assert_eq!(ours.status.success(), theirs.status.success(), "{words:?}: {errors}");
        assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{words:?}");
        assert_eq!(errors.lines().count(), usize::from(!ours.status.success()), "{errors}");
    }
    // gdbus has no signatures, so each word is an argument.
    let words =
        ["--dest", bus, "--object-path", path, "--method", "org.freedesktop.DBus.NameHasOwner"];
    let words = [&["call", "--session"], &words[..], &["s"]].concat();
    let expected = stage.tool("gdbus", &words);
    assert_eq!(stage.stdout_of(&[&words[..], &["--format=gvariant"]].concat()), expected);
    let emit = ["emit", "-v", "-o", "/p", "-s", "org.example.I.Said", "s"];
    assert!(text(&stage.diligence(&emit).stderr).contains(" with \"s\", read as gvariant"));
    // The name is joined as in gdbus, and a signature follows as in busctl.
    for (words, meant) in [
        (&["org.b.C.Foo", "s", "hi"][..], "did you mean org.b.C Foo s hi?"),
        (&["org.b.C.Foo", "su", "hi there", "7"], "did you mean org.b.C Foo su 'hi there' 7?"),
        (&["org.b.C", "s", "hi"], "org.b.C.s: too few arguments"),
    ] {
        let errors = stage.diligence(&[&["emit", "/a"], words].concat());
        let errors = text(&errors.stderr);
        assert!(errors.contains(meant), "{words:?}: {errors}");
    }
    // diligence does not guess which signal is meant.
    let ambiguous = stage.error(&["emit", "/p", "org.example.I", "Said"], 2);
    assert!(
        ambiguous.contains("write org.example.I.Said or org.example.I '\"Said\"'"),
        "{ambiguous}"
    );
}

#[test]
fn properties_are_read_and_set() {
    let stage = CalledService::new();
    let get = ["--user", "get-property", NAME, PATH, NAME, "Level"];
    let full = "org.example.Echo.Level";
    for (set, level) in [
        (&["set-property", NAME, PATH, NAME, "Level", "u", "1"][..], 1),
        (&["set", NAME, PATH, full, "2"], 2),
        (&["set", NAME, PATH, "Level", "uint32:3"], 3),
    ] {
        assert_eq!(stage.stdout_of(set), "");
        let expected = format!("u {level}\n");
        assert_eq!(stage.tool("busctl", &get), expected);
        for words in [&["get-property", NAME, PATH, NAME, "Level"][..], &["get", NAME, PATH, full]]
        {
            assert_eq!(stage.stdout_of(words), expected);
        }
        assert_eq!(stage.stdout_of(&["get", NAME, PATH, "Level"]), expected);
    }
    let theirs = [&["--user", "--verbose"], &get[1..]].concat();
    let ours = stage.stdout_of(&["get", "--verbose", NAME, PATH, NAME, "Level"]);
    assert_eq!(ours, stage.tool("busctl", &theirs));
    for shape in ["--json=short", "--json=pretty"] {
        let theirs = [&["--user", shape], &get[1..]].concat();
        let ours = ["get", shape, NAME, PATH, NAME, "Level"];
        assert_eq!(stage.stdout_of(&ours), stage.tool("busctl", &theirs));
    }
    assert_eq!(stage.stdout_of(&["get", NAME, PATH, NAME, "Level", "Level"]), "u 3\nu 3\n");
}

#[test]
fn wait_returns_emitted_signals() {
    let stage = CalledService::new();
    let dbus_send = ["emit", "--session", "--type=signal", "/p", "org.example.I.Said", "string:x"];
    assert_eq!(stage.stdout_of(&dbus_send), "");
    // With --signal, a word that could be a signal's name is an argument.
    let emit = ["emit", "-o", "/p", "--signal", "org.example.I.Said", "word", "--dest", ":1.42"];
    assert_eq!(stage.stdout_of(&emit), "");
    let errors = stage
        .diligence(&[&["emit", "-v", "/p", "-s", "org.example.I.Said"][..], &["word"]].concat());
    let expected = "emitting org.example.I.Said with \"s\", read as gvariant\n";
    assert_eq!(text(&errors.stderr), expected);
    for words in [
        &["emit", "/p", "org.example.I", "Played", "su", "song", "7"][..],
        &["emit", "/p", "org.example.I.Played", "string:song", "uint32:7"],
        &["emit", "/p", "org.example.I.Played", "'song'", "uint32 7"],
        &["emit", "-e", "-o", "/p", "-s", "org.example.I.Played", "'song'", "uint32 7"],
    ] {
        let mut wait = stage.command(&["wait", "/p", "org.example.I", "Played", "--timeout=20s"]);
        let waiting = SpawnedProgram::start(&mut wait);
        // `wait` gives no sign that it is ready, so the signal is emitted repeatedly.
        let emitting = thread::scope(|scope| {
            let waited = scope.spawn(|| waiting.ended());
            while !waited.is_finished() {
                stage.stdout_of(words);
            }
            waited.join().expect("the process exited")
        });
        assert_eq!(text(&emitting.stdout), "su \"song\" 7\n", "{words:?}");
    }
    let late = stage.error(&["wait", "--activate=org.example.Nobody", "--timeout=1"], 1);
    assert!(late.contains("org.example.Nobody"), "{late}");
    assert_eq!(stage.stdout_of(&["wait", "--activate", NAME, "--timeout=0"]), "");
    let late = stage.error(&["wait", "org.example.Nobody", "--timeout=200ms"], 1);
    assert!(late.contains("timed out after 200ms waiting for org.example.Nobody"), "{late}");
    assert_eq!(stage.stdout_of(&["wait", NAME, "--timeout=10s"]), "");
    let service = stage.stdout_of(&["start", "org.freedesktop.DBus"]);
    assert_eq!(service, "already running\n");
}

#[test]
fn own_holds_a_name_and_echoes_refuses_or_ignores_calls() {
    let stage = CalledService::new();
    let name = "org.example.Held";
    let mut echo = SpawnedProgram::start(&mut stage.command(&["own", name, "--echo"]));
    assert_eq!(echo.line(), "READY");
    let call = ["call", "--timeout=2s", name, "/", "a.b", "C"];
    assert_eq!(stage.stdout_of(&[&call[..], &["su", "x", "7"]].concat()), "su \"x\" 7\n");
    // A file descriptor is sent and returned.
    let file = stage.folder.join("file");
    fs::write(&file, "text").expect("a writable folder");
    let word = format!("@{}", file.display());
    let passed = stage.diligence(&[&call[..], &["h", &word]].concat());
    assert_eq!(text(&passed.stderr), format!("descriptor 0 is {}\n", file.display()));
    let nested = [format!("['{word}', '{word}']"), format!("{{'a': <handle '{word}'>}}")];
    for (types, argument) in ["ah", "a{sv}"].into_iter().zip(&nested) {
        let signature = ["--signature", types, argument];
        let passed = stage.diligence(&[&call[..], &signature].concat());
        assert!(passed.status.success(), "{}", text(&passed.stderr));
        let came = text(&passed.stderr);
        assert!(came.starts_with(&format!("descriptor 0 is {}\n", file.display())), "{came}");
    }
    let none = stage.error(&[&call[..], &["--signature=ah", "['@/none']"]].concat(), 1);
    assert!(none.contains("No such file"), "{none}");
    let taken = stage.error(&["own", name], 1);
    assert!(taken.contains("another connection owns org.example.Held"), "{taken}");
    let mut queued =
        SpawnedProgram::start(&mut stage.command(&["own", name, "--queue", "--black-hole"]));
    assert!(echo.end(Signal::TERM).status.success());
    assert_eq!(queued.line(), "READY");
    let silent = stage.error(&["call", "--timeout=300ms", name, "/", "a.b", "C"], 1);
    assert!(silent.contains("no reply within"), "{silent}");
    assert!(queued.end(Signal::INT).status.success());
    let mut refusing =
        SpawnedProgram::start(&mut stage.command(&["own", name, "--allow-replacement"]));
    assert_eq!(refusing.line(), "READY");
    let refused = stage.error(&call, 1);
    assert!(refused.contains("UnknownMethod"), "{refused}");
    let mut other = SpawnedProgram::start(&mut stage.command(&["own", name, "--replace"]));
    assert_eq!(other.line(), "READY");
    let lost = refusing.ended();
    assert_eq!(lost.status.code(), Some(1), "{}", text(&lost.stderr));
    other.end(Signal::TERM);
}
