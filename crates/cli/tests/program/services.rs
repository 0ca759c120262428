//! Compares diligence with busctl, gdbus and dbus-send on services written with GLib.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use testkit::forms::FORMS;

use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// A Diligence bus that activates the installed services, with a home directory of its own.
struct ActivationBus {
    folder: ProgramFolder,
    address: String,
    _bus: SpawnedProgram,
}

impl ActivationBus {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let mut command = folder.diligence();
        let services = "<servicedir>/usr/share/dbus-1/services</servicedir>";
        command.args(["bus", "--nofork", "--print-address=1", "--config-file"]);
        command.arg(folder.config(services)).env("HOME", folder.join(""));
        command.env("XDG_RUNTIME_DIR", folder.join(""));
        let mut bus = SpawnedProgram::start(&mut command);
        Self { address: bus.line(), folder, _bus: bus }
    }

    fn run(&self, command: &mut Command, words: &[&str]) -> Output {
        command.args(words).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    /// Returns the standard output of a command, which must succeed.
    fn stdout_of(&self, mut command: Command, words: &[&str]) -> String {
        let output = self.run(&mut command, words);
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn diligence(&self, words: &[&str]) -> String {
        self.stdout_of(self.folder.diligence(), words)
    }

    fn busctl(&self, words: &[&str]) -> String {
        let mut busctl = Command::new("busctl");
        busctl.args(["--address", &self.address]);
        self.stdout_of(busctl, words)
    }

    /// Checks that diligence prints the same as busctl for the same arguments.
    fn assert_as_busctl(&self, words: &[&str]) {
        let expected = self.busctl(words);
        let own_words = words.iter().map(|word| match *word {
            "get-property" => "get",
            // In `diligence call`, `--verbose` has another meaning.
            "--verbose" => "--format=verbose",
            word => word,
        });
        assert_eq!(self.diligence(&own_words.collect::<Vec<_>>()), expected, "{words:?}");
    }

    /// Checks all output formats of busctl.
    fn assert_as_busctl_in_all_forms(&self, words: &[&str]) {
        for form in [&[][..], &["--json=short"], &["--json=pretty"], &["--verbose"]] {
            self.assert_as_busctl(&[words, form].concat());
        }
    }

    fn assert_as_gdbus(&self, words: &[&str], own_words: &[&str]) {
        let expected = self.stdout_of(Command::new("gdbus"), words);
        assert_eq!(self.diligence(own_words), expected, "{words:?}");
    }
}

/// dconf is activatable and exits when it is idle. The first request here activates it.
#[test]
fn dconf_output_matches_busctl_gdbus_and_dbus_send() {
    let bus = ActivationBus::new();
    let (name, writer) = ("ca.desrt.dconf", "/ca/desrt/dconf/Writer/user");
    let info = "/ca/desrt/dconf";
    // The bus activates dconf for the introspection.
    bus.assert_as_busctl(&["introspect", name, writer]);
    bus.assert_as_busctl(&["introspect", name, writer, "ca.desrt.dconf.Writer"]);
    bus.assert_as_busctl(&["introspect", name, writer, "--xml-interface"]);
    bus.assert_as_busctl(&["introspect", name, info]);
    for words in [
        &["tree", name][..],
        &["tree", name, "--list"],
        &["list", "--acquired"],
        &["list", "--acquired", "--json=pretty"],
    ] {
        bus.assert_as_busctl(words);
    }
    for (path, options) in
        [(writer, &[][..]), (info, &["--recurse"]), (info, &["--only-properties"])]
    {
        let object = [&["introspect", "--session", "-d", name, "-o", path][..], options].concat();
        bus.assert_as_gdbus(&object, &[&object[..], &["--format=gdbus"]].concat());
    }
    let (interface, property) = ("org.gtk.Application", "Busy");
    let actions = ["call", name, info, "org.gtk.Actions", "DescribeAll"];
    let all = ["call", name, info, PROPERTIES, "GetAll", "s", interface];
    bus.assert_as_busctl_in_all_forms(&["call", name, writer, "ca.desrt.dconf.Writer", "Init"]);
    bus.assert_as_busctl_in_all_forms(&actions);
    bus.assert_as_busctl_in_all_forms(&all);
    bus.assert_as_busctl_in_all_forms(&["get-property", name, info, interface, property]);
    let method = format!("{PROPERTIES}.GetAll");
    let words = ["call", "--session", "-d", name, "-o", info, "-m", &method, interface];
    bus.assert_as_gdbus(&words, &[&words[..], &["--format=gvariant"]].concat());
    let dest = format!("--dest={name}");
    let get = format!("{PROPERTIES}.Get");
    let argument = format!("string:{interface}");
    let words = [&dest, info, &get, &argument, "string:Busy"];
    let send = Command::new("dbus-send");
    let expected = bus.stdout_of(send, &[&["--print-reply=literal"], &words[..]].concat());
    assert_eq!(bus.diligence(&[&["call", "--print-reply=literal"], &words[..]].concat()), expected);
}

/// A service returns values of every type, which GLib built from the test's texts.
#[test]
fn values_of_every_glib_type_match_busctl_and_gdbus() {
    let bus = ActivationBus::new();
    let _service = forms(&bus);
    let numbers = |is_in: &dyn Fn(&str) -> bool| -> Vec<String> {
        let all = FORMS.iter().enumerate().filter(|(_, form)| is_in(form.types));
        all.map(|(number, _)| format!("Value{number}")).collect()
    };
    let all = numbers(&|_| true);
    let with_json = FORMS.iter().enumerate().filter(|(_, form)| form.has_json_of_busctl());
    let with_json: Vec<_> = with_json.map(|(number, _)| format!("Value{number}")).collect();
    let get = |form: &[&'static str], names: &[String]| {
        let words = [&["get-property"], form, &[NAME, PATH, FORMS1]].concat();
        let names = names.iter().map(String::as_str);
        bus.assert_as_busctl(&words.into_iter().chain(names).collect::<Vec<_>>());
    };
    get(&[], &all);
    get(&["--verbose"], &all);
    get(&["--json=short"], &with_json);
    get(&["--json=pretty"], &with_json);
    bus.assert_as_busctl(&["introspect", NAME, PATH, "org.example.Plain1"]);
    let object = ["introspect", "--session", "-d", NAME, "-o", PATH];
    bus.assert_as_gdbus(&object, &[&object[..], &["--format=gdbus"]].concat());
    for (number, form) in FORMS.iter().enumerate() {
        let method = format!("{FORMS1}.Echo{number}");
        let words =
            ["call", "--session", "-d", NAME, "-o", PATH, "-m", &method, "--", form.gvariant];
        bus.assert_as_gdbus(&words, &[&["call", "--format=gvariant"], &words[1..]].concat());
    }
}

fn forms(bus: &ActivationBus) -> ServiceScript {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/services/forms.py");
    let mut command = Command::new("/usr/bin/python3");
    command.arg("-B").arg(file).args([&bus.address, NAME, PATH]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("python3 is installed");
    let mut stdin = child.stdin.take().expect("a pipe");
    for form in FORMS {
        writeln!(stdin, "{}\t{}", form.types, typed(form.types, form.gvariant))
            .expect("the process reads its input");
    }
    drop(stdin);
    let script = ServiceScript(child);
    eventually("the service", || {
        let mut command = bus.folder.diligence();
        bus.run(&mut command, &["get", NAME, PATH, FORMS1, "Value0"]).status.success().then_some(())
    });
    script
}

/// Adds the quotes that GLib requires. Diligence and gdbus accept unquoted strings.
fn typed(types: &str, value: &str) -> String {
    match types {
        "s" | "o" | "g" if !value.starts_with('\'') => format!("'{value}'"),
        _ => value.to_owned(),
    }
}

/// A child process that is killed on drop.
struct ServiceScript(Child);

impl Drop for ServiceScript {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const NAME: &str = "org.example.Forms";
const PATH: &str = "/org/example/Forms";
const FORMS1: &str = "org.example.Forms1";
