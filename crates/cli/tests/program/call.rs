//! `diligence call`, `get`, `set`, `emit`, `wait`, `start` and `own`, next to the tools whose words
//! they understand.

use std::fs;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use client::wire::body::Value;
use client::{Connection, IncomingCall, NameFlags, ServedInterface, Values};
use rustix::process::Signal;
use testkit::forms::{FORMS, ValueForm};

use crate::everything::{self, ExitHealth};
use crate::recorder::DbusDaemon;
use crate::support::{ProgramFolder, SpawnedProgram, text};

const NAME: &str = "org.example.Echo";
const PATH: &str = "/org/example/Echo";

/// Answers with what was said.
fn echo(request: &IncomingCall) {
    let message = request.message();
    let mut reader = message.reader();
    let types = message.signature().types();
    let values: Vec<_> = types.map(|kind| Value::read(kind, &mut reader).expect("valid")).collect();
    request.reply(&Values(&values)).expect("it can be sent");
}

/// A service with a method for each row, in a thread that ends with the bus.
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
            .expect("the interface is sound");
        let _object = bus.add_object(PATH, &interface, 7).expect("the path is free");
        bus.request_name(NAME, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        bus.serve();
    });
    is_ready.recv_timeout(Duration::from_secs(10)).expect("the service is there");
}

const BARE: &str = "net.hadess.Switcher";

/// A service that describes every object as one without interfaces, as some libraries do.
fn serve_bare(address: &str) {
    let (address, (ready, is_ready)) = (address.to_owned(), std::sync::mpsc::channel());
    thread::spawn(move || {
        let bus = Connection::open(&address).expect("the bus is there");
        bus.request_name(BARE, NameFlags::NONE).expect("the name is free");
        ready.send(()).expect("the test waits");
        while let Ok(request) = bus.next_request(None) {
            let Some(request) = request else { continue };
            request.reply(&("<node/>",)).expect("it can be sent");
        }
    });
    is_ready.recv_timeout(Duration::from_secs(10)).expect("the service is there");
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

    fn ours(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program exists")
    }

    /// What it prints, if it succeeds.
    fn printed(&self, words: &[&str]) -> String {
        let output = self.ours(words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// What it complains of, if it fails with this status.
    fn complaint(&self, words: &[&str], status: i32) -> String {
        let output = self.ours(words);
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

/// Without the first line, which has a time and numbers.
fn body(printed: &str) -> &str {
    printed.split_once('\n').map_or("", |(_, body)| body)
}

#[test]
fn every_type_goes_there_and_back_as_with_the_other_tools() {
    let stage = CalledService::new();
    for (number, form) in FORMS.iter().enumerate() {
        let ValueForm { types, busctl, gvariant, dbus_send, json } = form;
        let method = format!("Echo{number}");
        let full = format!("{NAME}.{method}");
        let words = [&["--", "call", NAME, PATH, NAME, &method, types], *busctl].concat();
        let user = [&["--user"], &words[..]].concat();
        let expected = stage.tool("busctl", &user);
        // The four forms, in the words of the four tools.
        let ours = [&["call", "--", NAME, PATH, NAME, &method, types], *busctl].concat();
        assert_eq!(stage.printed(&ours), expected);
        for argument in [gvariant, dbus_send, json] {
            let printed = stage.printed(&["call", "--", NAME, PATH, &full, argument]);
            assert_eq!(printed, expected, "{types}: {argument}");
            let printed = stage.printed(&["call", "--", NAME, PATH, &method, argument]);
            assert_eq!(printed, expected, "{types}: {argument}");
        }
    }
}

#[test]
fn every_type_is_printed_as_by_the_other_tools() {
    let stage = CalledService::new();
    for (number, form) in FORMS.iter().enumerate() {
        let ValueForm { types, busctl, gvariant, dbus_send, .. } = form;
        let method = format!("Echo{number}");
        let full = format!("{NAME}.{method}");
        let words = [&["--", "call", NAME, PATH, NAME, &method, types], *busctl].concat();
        let call = |option| ["call", option, "--", NAME, PATH, &full, gvariant];
        let gdbus = ["call", "--session", "-d", NAME, "-o", PATH, "-m", &full, "--", gvariant];
        assert_eq!(stage.printed(&call("--format=gvariant")), stage.tool("gdbus", &gdbus));
        // busctl has no JSON for keys that are no texts.
        let shapes = ["--json=short", "--json=pretty"].iter().filter(|_| form.has_json_of_busctl());
        for shape in shapes {
            let told = stage.tool("busctl", &[&["--user", shape], &words[..]].concat());
            assert_eq!(stage.printed(&call(shape)), told, "{types} {shape}");
        }
        let verbose = stage.tool("busctl", &[&["--user", "--verbose"], &words[..]].concat());
        assert_eq!(stage.printed(&call("--format=verbose")), verbose);
        if form.is_known_to_dbus_send() {
            let dest = format!("--dest={NAME}");
            let send = ["--session", "--print-reply", &dest, PATH, &full, dbus_send];
            let told = stage.tool("dbus-send", &send);
            let printed = stage.printed(&call("--format=dbus-send"));
            assert_eq!(body(&printed), body(&told), "{types}");
            assert!(printed.starts_with("method return time="), "{printed}");
            let literal = ["--session", "--print-reply=literal", &dest, PATH, &full, dbus_send];
            assert_eq!(
                stage.printed(&call("--print-reply=literal")),
                stage.tool("dbus-send", &literal)
            );
        }
    }
}

#[test]
fn fewer_words_show_what_there_is() {
    let stage = CalledService::new();
    assert!(stage.printed(&["call"]).lines().any(|line| line == NAME));
    assert!(stage.printed(&["call", NAME]).lines().any(|line| line == PATH));
    let members = stage.printed(&["call", NAME, PATH]);
    assert!(members.contains("method org.example.Echo.Echo4(i value) -> (i value)\n"), "{members}");
    assert!(members.contains("property readwrite u org.example.Echo.Level\n"), "{members}");
    let of_interface = stage.printed(&["call", NAME, PATH, NAME]);
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
        assert_eq!(stage.printed(words), "i -7\n", "{words:?}");
    }
    let verbose = stage.ours(&["call", "-v", NAME, PATH, "Echo4", "7"]);
    let expected =
        "calling org.example.Echo.Echo4 with \"i\" (from introspection), read as gvariant\n";
    assert_eq!(text(&verbose.stderr), expected);
    let two = ["call", "-v", "org.freedesktop.DBus", "/", "RequestName", "a.b", "4"];
    let two = text(&stage.ours(&two).stderr);
    assert!(two.ends_with(" with \"su\" (from introspection), read as gvariant\n"), "{two}");
    assert_eq!(stage.printed(&["call", "-q", NAME, PATH, "Echo4", "7"]), "");
    let dict = FORMS.iter().position(|form| form.types == "a{si}").expect("it is among them");
    let dict = format!("Echo{dict}");
    let pretty = stage.printed(&["call", "--format=pretty", NAME, PATH, &dict, "{'a': 1}"]);
    assert_eq!(pretty, "value:\n  a: 1\n");
    let repeated = stage.ours(&["call", "--repeat=5", NAME, PATH, "Echo4", "7"]);
    assert_eq!(text(&repeated.stdout), "i 7\n");
    assert!(text(&repeated.stderr).starts_with("5 calls: min "), "{}", text(&repeated.stderr));
}

#[test]
fn what_goes_wrong_is_a_sentence() {
    let stage = CalledService::new();
    serve_bare(&stage.bus.address);
    for (words, parts) in [
        (
            &["call", NAME, PATH, "Echo5", "-1"][..],
            &["argument 1 must be a whole number", "(u)", "is -1", "example is 7"][..],
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
        let complaint = stage.complaint(words, 1);
        for part in parts {
            assert!(complaint.contains(part), "no {part:?} in {complaint:?}");
        }
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    let interface = stage.complaint(&["get", NAME, PATH, NAME], 2);
    let expected = "org.example.Echo is an interface; give a property too: it has Level\n";
    assert!(interface.ends_with(expected), "{interface}");
    let begun = Instant::now();
    let silent = stage.complaint(&["call", "--timeout=300ms", NAME, PATH, "Never"], 1);
    assert!(silent.contains("no answer came within"), "{silent}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// Half of the time is kept for the call.
#[test]
fn who_does_not_tell_what_he_has_is_called_all_the_same() {
    let stage = CalledService::new();
    let name = "org.example.Silent";
    everything::serve(&stage.bus.address, name, ExitHealth::Silent);
    assert_eq!(stage.printed(&["call", "--timeout=1s", name, everything::ODD, "a.b", "C"]), "");
}

#[test]
fn a_forgotten_argument_is_an_error_as_with_busctl() {
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
        let theirs = busctl.output().expect("busctl is there");
        let ours = stage.ours(&words);
        let said = text(&ours.stderr);
        assert_eq!(ours.status.success(), theirs.status.success(), "{words:?}: {said}");
        assert_eq!(text(&ours.stdout), text(&theirs.stdout), "{words:?}");
        assert_eq!(said.lines().count(), usize::from(!ours.status.success()), "{said}");
    }
    // gdbus has no signatures: each word is an argument.
    let words =
        ["--dest", bus, "--object-path", path, "--method", "org.freedesktop.DBus.NameHasOwner"];
    let words = [&["call", "--session"], &words[..], &["s"]].concat();
    let expected = stage.tool("gdbus", &words);
    assert_eq!(stage.printed(&[&words[..], &["--format=gvariant"]].concat()), expected);
    let emit = ["emit", "-v", "-o", "/p", "-s", "org.example.I.Said", "s"];
    assert!(text(&stage.ours(&emit).stderr).contains(" with \"s\", read as gvariant"));
    // The two names joined as by gdbus, with a signature as for busctl.
    for (words, meant) in [
        (&["org.b.C.Foo", "s", "hi"][..], "did you mean org.b.C Foo s hi?"),
        (&["org.b.C.Foo", "su", "hi there", "7"], "did you mean org.b.C Foo su 'hi there' 7?"),
        (&["org.b.C", "s", "hi"], "org.b.C.s: too few arguments"),
    ] {
        let said = stage.ours(&[&["emit", "/a"], words].concat());
        let said = text(&said.stderr);
        assert!(said.contains(meant), "{words:?}: {said}");
    }
    // It is not guessed which signal is meant.
    let ambiguous = stage.complaint(&["emit", "/p", "org.example.I", "Said"], 2);
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
        assert_eq!(stage.printed(set), "");
        let expected = format!("u {level}\n");
        assert_eq!(stage.tool("busctl", &get), expected);
        for words in [&["get-property", NAME, PATH, NAME, "Level"][..], &["get", NAME, PATH, full]]
        {
            assert_eq!(stage.printed(words), expected);
        }
        assert_eq!(stage.printed(&["get", NAME, PATH, "Level"]), expected);
    }
    let theirs = [&["--user", "--verbose"], &get[1..]].concat();
    let ours = stage.printed(&["get", "--verbose", NAME, PATH, NAME, "Level"]);
    assert_eq!(ours, stage.tool("busctl", &theirs));
    for shape in ["--json=short", "--json=pretty"] {
        let theirs = [&["--user", shape], &get[1..]].concat();
        let ours = ["get", shape, NAME, PATH, NAME, "Level"];
        assert_eq!(stage.printed(&ours), stage.tool("busctl", &theirs));
    }
    assert_eq!(stage.printed(&["get", NAME, PATH, NAME, "Level", "Level"]), "u 3\nu 3\n");
}

#[test]
fn what_is_emitted_is_waited_for() {
    let stage = CalledService::new();
    let dbus_send = ["emit", "--session", "--type=signal", "/p", "org.example.I.Said", "string:x"];
    assert_eq!(stage.printed(&dbus_send), "");
    // A word that could be the name of a signal is none, if that was told.
    let emit = ["emit", "-o", "/p", "--signal", "org.example.I.Said", "word", "--dest", ":1.42"];
    assert_eq!(stage.printed(&emit), "");
    let said =
        stage.ours(&[&["emit", "-v", "/p", "-s", "org.example.I.Said"][..], &["word"]].concat());
    let expected = "emitting org.example.I.Said with \"s\", read as gvariant\n";
    assert_eq!(text(&said.stderr), expected);
    for words in [
        &["emit", "/p", "org.example.I", "Played", "su", "song", "7"][..],
        &["emit", "/p", "org.example.I.Played", "string:song", "uint32:7"],
        &["emit", "/p", "org.example.I.Played", "'song'", "uint32 7"],
        &["emit", "-e", "-o", "/p", "-s", "org.example.I.Played", "'song'", "uint32 7"],
    ] {
        let mut wait = stage.command(&["wait", "/p", "org.example.I", "Played", "--timeout=20s"]);
        let waiting = SpawnedProgram::start(&mut wait);
        // It does not say when it listens, and another signal does no harm.
        let emitting = thread::scope(|scope| {
            let waited = scope.spawn(|| waiting.ended());
            while !waited.is_finished() {
                stage.printed(words);
            }
            waited.join().expect("it was waited for")
        });
        assert_eq!(text(&emitting.stdout), "su \"song\" 7\n", "{words:?}");
    }
    let late = stage.complaint(&["wait", "--activate=org.example.Nobody", "--timeout=1"], 1);
    assert!(late.contains("org.example.Nobody"), "{late}");
    assert_eq!(stage.printed(&["wait", "--activate", NAME, "--timeout=0"]), "");
    let late = stage.complaint(&["wait", "org.example.Nobody", "--timeout=200ms"], 1);
    assert!(late.contains("timed out after 200ms waiting for org.example.Nobody"), "{late}");
    assert_eq!(stage.printed(&["wait", NAME, "--timeout=10s"]), "");
    let service = stage.printed(&["start", "org.freedesktop.DBus"]);
    assert_eq!(service, "runs already\n");
}

#[test]
fn a_name_is_held_and_its_calls_are_echoed_refused_or_left() {
    let stage = CalledService::new();
    let name = "org.example.Held";
    let mut echo = SpawnedProgram::start(&mut stage.command(&["own", name, "--echo"]));
    assert_eq!(echo.line(), "READY");
    let call = ["call", "--timeout=2s", name, "/", "a.b", "C"];
    assert_eq!(stage.printed(&[&call[..], &["su", "x", "7"]].concat()), "su \"x\" 7\n");
    // A file goes there and comes back.
    let file = stage.folder.join("file");
    fs::write(&file, "text").expect("the folder is ours");
    let word = format!("@{}", file.display());
    let passed = stage.ours(&[&call[..], &["h", &word]].concat());
    assert_eq!(text(&passed.stderr), format!("descriptor 0 is {}\n", file.display()));
    let nested = [format!("['{word}', '{word}']"), format!("{{'a': <handle '{word}'>}}")];
    for (types, argument) in ["ah", "a{sv}"].into_iter().zip(&nested) {
        let signature = ["--signature", types, argument];
        let passed = stage.ours(&[&call[..], &signature].concat());
        assert!(passed.status.success(), "{}", text(&passed.stderr));
        let came = text(&passed.stderr);
        assert!(came.starts_with(&format!("descriptor 0 is {}\n", file.display())), "{came}");
    }
    let none = stage.complaint(&[&call[..], &["--signature=ah", "['@/none']"]].concat(), 1);
    assert!(none.contains("No such file"), "{none}");
    let taken = stage.complaint(&["own", name], 1);
    assert!(taken.contains("another connection owns org.example.Held"), "{taken}");
    let mut queued =
        SpawnedProgram::start(&mut stage.command(&["own", name, "--queue", "--black-hole"]));
    assert!(echo.end(Signal::TERM).status.success());
    assert_eq!(queued.line(), "READY");
    let silent = stage.complaint(&["call", "--timeout=300ms", name, "/", "a.b", "C"], 1);
    assert!(silent.contains("no answer came within"), "{silent}");
    assert!(queued.end(Signal::INT).status.success());
    let mut refusing =
        SpawnedProgram::start(&mut stage.command(&["own", name, "--allow-replacement"]));
    assert_eq!(refusing.line(), "READY");
    let refused = stage.complaint(&call, 1);
    assert!(refused.contains("UnknownMethod"), "{refused}");
    let mut other = SpawnedProgram::start(&mut stage.command(&["own", name, "--replace"]));
    assert_eq!(other.line(), "READY");
    let lost = refusing.ended();
    assert_eq!(lost.status.code(), Some(1), "{}", text(&lost.stderr));
    other.end(Signal::TERM);
}
