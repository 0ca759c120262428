//! Tests of `diligence introspect --code`: clients use generated proxies to call a service.

mod rust_client;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::recorder::OurBus;
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// Included, because cargo fmt would format a module in a file, and with other settings.
mod everything {
    include!("../../golden/code/everything.rs");
}

/// This generated code only has to compile.
#[expect(non_camel_case_types, reason = "a name that is a keyword gets an underscore")]
mod hostile {
    include!("../../golden/code/hostile.rs");
}

/// A GLib service with the interface from which the golden files are generated.
struct ProxyService {
    folder: ProgramFolder,
    bus: OurBus,
    _service: SpawnedProgram,
}

impl ProxyService {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let bus = OurBus::start(&folder);
        let mut command = python(&file("service.py"));
        command.args([&bus.address, SERVICE, OBJECT]).arg(golden("everything.xml"));
        let mut service = SpawnedProgram::start(&mut command);
        assert_eq!(service.line(), "READY");
        Self { folder, bus, _service: service }
    }

    /// Generates proxies for the service, and returns their file.
    fn code(&self, language: &str, name: &str) -> PathBuf {
        let mut command = self.folder.diligence();
        command.args(["introspect", "--address", &self.bus.address, SERVICE, OBJECT]);
        let output = command.args(["--code", language]).output().expect("the program exists");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let path = self.folder.join(name);
        std::fs::write(&path, output.stdout).expect("a writable folder");
        path
    }
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/proxies").join(name)
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/code").join(name)
}

/// Returns a command for the distribution's Python, which has GLib.
fn python(script: &Path) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.arg("-B").arg(script);
    command
}

/// Returns the standard output of a command, which must succeed.
fn stdout_of(command: &mut Command) -> String {
    let output = SpawnedProgram::start(command).ended();
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn python_proxies_call_a_glib_service() {
    let service = ProxyService::new();
    let proxies = service.code("python", "proxies.py");
    let folder = proxies.parent().expect("a path with a folder");
    let mut client = python(&file("client.py"));
    client.arg(&service.bus.address).env("PYTHONPATH", folder);
    assert_eq!(stdout_of(&mut client), EXPECTED_OUTPUT);
}

#[test]
fn c_proxies_call_a_glib_service() {
    let service = ProxyService::new();
    let proxies = service.code("c", "proxies.h");
    let program = service.folder.join("client");
    let mut compiler = compiler(proxies.parent().expect("a path with a folder"));
    compiler.arg(file("client.c")).arg("-o").arg(&program).arg("-lsystemd");
    stdout_of(&mut compiler);
    assert_eq!(stdout_of(Command::new(program).arg(&service.bus.address)), EXPECTED_OUTPUT);
}

fn compiler(include: &Path) -> Command {
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(include);
    compiler
}

/// Code that is generated from a hostile document compiles.
#[test]
fn hostile_names_are_escaped_in_generated_code() {
    let folder = ProgramFolder::new();
    let source = folder.join("hostile.c");
    std::fs::write(&source, "#include \"hostile.h\"\n").expect("a writable folder");
    let mut compiler = compiler(golden("").as_path());
    stdout_of(compiler.args(["-pedantic", "-fsyntax-only"]).arg(&source));
    let check = "import ast, sys; [ast.parse(open(name).read()) for name in sys.argv[1:]]";
    let mut python = Command::new("/usr/bin/python3");
    stdout_of(python.args(["-c", check]).args([golden("hostile.py"), golden("everything.py")]));
    // rustfmt parses the code, and checks that it is formatted already.
    std::fs::write(folder.join("rustfmt.toml"), "").expect("a writable folder");
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config-path"]).arg(folder.join(""));
    stdout_of(rustfmt.args([golden("hostile.rs"), golden("everything.rs")]));
    stdout_of(rustfmt.args([golden("hostile.zbus"), golden("everything.zbus")]));
}

/// The client is compiled with the golden file. GLib describes the interfaces in another order,
/// without documentation, and with a name for each argument.
#[test]
fn rust_proxies_call_a_glib_service() {
    let service = ProxyService::new();
    let proxies = service.code("rust", "proxies.rs");
    let generated = std::fs::read_to_string(proxies).expect("a readable folder");
    let golden = std::fs::read_to_string(golden("everything.rs")).expect("a golden file");
    assert_eq!(declarations(&generated), declarations(&golden));
    let printed = rust_client::run(&service.bus.address).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(printed, EXPECTED_OUTPUT);
}

/// The lines of generated code in alphabetical order, without comments.
fn declarations(code: &str) -> Vec<String> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut lines: Vec<_> = lines.map(|line| line.replace("arg_", "arg")).collect();
    lines.retain(|line| !line.is_empty());
    lines.sort();
    lines
}

/// Downloads and builds zbus, which nothing else needs.
#[test]
#[ignore = "it builds zbus"]
fn zbus_proxies_call_a_glib_service() {
    let service = ProxyService::new();
    let proxies = service.code("zbus", "proxies.rs");
    let folder = proxies.parent().expect("a path with a folder");
    std::fs::copy(file("zbus_client.rs"), folder.join("main.rs")).expect("a writable folder");
    std::fs::copy(golden("hostile.zbus"), folder.join("hostile.rs")).expect("a writable folder");
    std::fs::write(folder.join("Cargo.toml"), MANIFEST).expect("a writable folder");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(folder).args(["run", "--quiet", "--"]).arg(&service.bus.address);
    assert_eq!(stdout_of(&mut cargo), EXPECTED_OUTPUT);
}

const SERVICE: &str = "org.example.Service";
const OBJECT: &str = "/org/example/Object";

/// The output of each client.
const EXPECTED_OUTPUT: &str = "\
numbers 7 True -2 3 -70000 70000 -5 5 1.5
texts one /a/b a{sv}
variant inside
lists 2 a b 1 -2
struct left 4
nested 1 2 x
descriptors through
refused org.example.Error.Refused
version 1.0
version forgotten
version secret
level 7
level 8 signaled 8
level 9
names three
pair right 5
changed now 3 because
struct changed pair 2
bare
";

const MANIFEST: &str = "\
[package]
name = \"client\"
edition = \"2024\"

[[bin]]
name = \"client\"
path = \"main.rs\"

[dependencies]
zbus = \"6\"
futures-util = { version = \"0.3\", default-features = false }

[workspace]
";
