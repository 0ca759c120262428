//! The same programs with this library and with the libdbus of the system: the output must be
//! equal.

mod common;

use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use common::{compile, folder, link_library, succeed};

/// Runs a program with one of the libraries and returns what it prints.
fn output(program: &Path, library: Option<&Path>, arguments: &[String]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("DBUS_FATAL_WARNINGS");
    match library {
        Some(folder) => command.env("LD_LIBRARY_PATH", folder),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    String::from_utf8_lossy(&succeed(&mut command).stdout).into_owned()
}

/// Fails with the first line that differs.
fn assert_same(ours: &str, reference: &str, run: &str) {
    for (number, (ours, reference)) in ours.lines().zip(reference.lines()).enumerate() {
        assert_eq!(ours, reference, "{run}, line {}: ours and libdbus's", number + 1);
    }
    assert_eq!(ours.lines().count(), reference.lines().count(), "{run}");
}

#[test]
fn random_messages_have_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let program = compile("messages", folder.path());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let random = u64::from(now.subsec_nanos());
    let runs: u64 = std::env::var("DILIGENCE_SEQUENCES").map_or(10, |text| text.parse().unwrap());
    // With this seed, a message has a field twice that dbus-daemon does not use.
    let seeds = [1, 2, 3, 5_418_667].into_iter().chain(random..random + runs);
    for seed in seeds {
        let arguments = [seed.to_string(), "200".into()];
        let ours = output(&program, Some(folder.path()), &arguments);
        let reference = output(&program, None, &arguments);
        assert!(ours.lines().count() > 1000, "seed {seed} printed {} lines", ours.lines().count());
        assert_same(&ours, &reference, &format!("seed {seed}"));
    }
}

#[test]
fn connections_and_servers_have_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let program = compile("connections", folder.path());
    let ours = output(&program, Some(folder.path()), &[]);
    let reference = output(&program, None, &[]);
    assert!(reference.lines().count() > 400, "{reference}");
    assert_same(&ours, &reference, "connections");
}

#[test]
fn valgrind_finds_no_invalid_access_and_no_leak() {
    let folder = folder();
    link_library(folder.path());
    let programs: [(&str, &[&str]); 4] =
        [("messages", &["7", "40"]), ("connections", &[]), ("texts", &[]), ("pointers", &[])];
    for (name, arguments) in programs {
        let program = compile(name, folder.path());
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.arg("--errors-for-leak-kinds=definite").arg(program).args(arguments);
        succeed(command.env("LD_LIBRARY_PATH", folder.path()).env_remove("DBUS_FATAL_WARNINGS"));
    }
}

#[test]
fn servers_listen_at_passed_sockets() {
    let folder = folder();
    link_library(folder.path());
    let program = compile("passed", folder.path());
    let run = |library: Option<&Path>, passed: OwnedFd| {
        let mut command = Command::new("sh");
        let script = "exec 3<&0; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$1\"";
        command.args(["-c", script, "sh"]).arg(&program).stdin(passed);
        match library {
            Some(folder) => command.env("LD_LIBRARY_PATH", folder),
            None => command.env_remove("LD_LIBRARY_PATH"),
        };
        String::from_utf8_lossy(&succeed(&mut command).stdout).into_owned()
    };
    let [ours, reference] = [Some(folder.path()), None].map(|library| {
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let listening = run(library, listener.into());
        std::fs::remove_file(path).unwrap();
        let (connected, _other) = UnixStream::pair().unwrap();
        (listening, run(library, connected.into()))
    });
    assert!(ours.0.contains("connected 1 accepted 1"), "{ours:?}");
    assert_eq!(ours, reference);
}

#[test]
fn texts_and_addresses_have_the_same_results() {
    let folder = folder();
    link_library(folder.path());
    let program = compile("texts", folder.path());
    let ours = output(&program, Some(folder.path()), &[]);
    let reference = output(&program, None, &[]);
    assert!(reference.lines().count() > 150, "{reference}");
    assert_same(&ours, &reference, "texts");
}
