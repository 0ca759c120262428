//! `diligence introspect --code`: proxies that are made from a service are used against it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::recorder::OurBus;
use crate::support::{ProgramFolder, SpawnedProgram, text};

/// A service of GLib with the document that the golden files are made from.
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

    /// The proxies for the service, as they are printed for it.
    fn code(&self, language: &str, name: &str) -> PathBuf {
        let mut command = self.folder.diligence();
        command.args(["introspect", "--address", &self.bus.address, SERVICE, OBJECT]);
        let output = command.args(["--code", language]).output().expect("the program exists");
        assert!(output.status.success(), "{}", text(&output.stderr));
        let path = self.folder.join(name);
        std::fs::write(&path, output.stdout).expect("the folder is ours");
        path
    }
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/proxies").join(name)
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/code").join(name)
}

/// Python of the distribution, which is the one that has GLib.
fn python(script: &Path) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.arg("-B").arg(script);
    command
}

/// What a program prints that has to succeed.
fn printed(command: &mut Command) -> String {
    let output = SpawnedProgram::start(command).ended();
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn classes_of_python_work() {
    let stage = ProxyService::new();
    let proxies = stage.code("python", "proxies.py");
    let folder = proxies.parent().expect("it is in a folder");
    let mut client = python(&file("client.py"));
    client.arg(&stage.bus.address).env("PYTHONPATH", folder);
    assert_eq!(printed(&mut client), SAID);
}

#[test]
fn functions_of_c_work() {
    let stage = ProxyService::new();
    let proxies = stage.code("c", "proxies.h");
    let program = stage.folder.join("client");
    let mut compiler = compiler(proxies.parent().expect("it is in a folder"));
    compiler.arg(file("client.c")).arg("-o").arg(&program).arg("-lsystemd");
    printed(&mut compiler);
    assert_eq!(printed(Command::new(program).arg(&stage.bus.address)), SAID);
}

fn compiler(include: &Path) -> Command {
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(include);
    compiler
}

/// What is made of a document that means no good is still a program.
#[test]
fn hostile_names_are_no_code() {
    let folder = ProgramFolder::new();
    let source = folder.join("hostile.c");
    std::fs::write(&source, "#include \"hostile.h\"\n").expect("the folder is ours");
    let mut compiler = compiler(golden("").as_path());
    printed(compiler.args(["-pedantic", "-fsyntax-only"]).arg(&source));
    let check = "import ast, sys; [ast.parse(open(name).read()) for name in sys.argv[1:]]";
    let mut python = Command::new("/usr/bin/python3");
    printed(python.args(["-c", check]).args([golden("hostile.py"), golden("everything.py")]));
    // It is parsed as it is formatted, and is formatted as rustfmt has it already.
    std::fs::write(folder.join("rustfmt.toml"), "").expect("the folder is ours");
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--check", "--edition", "2024", "--config-path"]).arg(folder.join(""));
    printed(rustfmt.args([golden("hostile.rs"), golden("everything.rs")]));
}

/// zbus is not needed for anything else: this builds it, for which there has to be a network.
#[test]
#[ignore = "it builds zbus"]
fn traits_of_rust_work() {
    let stage = ProxyService::new();
    let proxies = stage.code("rust", "proxies.rs");
    let folder = proxies.parent().expect("it is in a folder");
    std::fs::copy(file("client.rs"), folder.join("main.rs")).expect("the folder is ours");
    std::fs::copy(golden("hostile.rs"), folder.join("hostile.rs")).expect("the folder is ours");
    std::fs::write(folder.join("Cargo.toml"), MANIFEST).expect("the folder is ours");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(folder).args(["run", "--quiet", "--"]).arg(&stage.bus.address);
    assert_eq!(printed(&mut cargo), SAID);
}

const SERVICE: &str = "org.example.Service";
const OBJECT: &str = "/org/example/Object";

/// What each of the clients has to say.
const SAID: &str = "\
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
level 8 told 8
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
