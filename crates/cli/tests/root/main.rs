//! Tests that start programs as other users. They need root; without it they are reported as ignored.

#[path = "../program/page_client.rs"]
mod page_client;
#[path = "../program/scene.rs"]
#[expect(dead_code, reason = "these tests need only the recording")]
mod scene;
#[path = "../program/support.rs"]
#[expect(dead_code, reason = "these tests start few programs")]
mod support;

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};
use rustix::process::Signal;

use crate::page_client::{GET, PageAddress, cookie_of, response};
use crate::scene::{OFFICE, office};
use crate::support::{ProgramFolder, SpawnedProgram, eventually};

/// The user and group ID of the user nobody.
const NOBODY: u32 = 65534;

fn main() -> ExitCode {
    let is_root = rustix::process::geteuid().is_root();
    let root_test = |name: &str, check: fn()| {
        let trial = Trial::test(name, move || {
            check();
            Ok(())
        });
        if is_root { trial } else { trial.with_kind("needs root").with_ignored_flag(true) }
    };
    let trials = vec![
        root_test(
            "other_users_get_no_page_even_with_the_cookie_or_a_code",
            other_users_get_no_page_even_with_the_cookie_or_a_code,
        ),
        root_test(
            "clients_that_close_at_once_are_not_taken_for_root",
            clients_that_close_at_once_are_not_taken_for_root,
        ),
        root_test("the_bus_runs_as_the_configured_user", the_bus_runs_as_the_configured_user),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Starts `diligence view`, and returns the first address that it prints.
fn view(folder: &ProgramFolder) -> (SpawnedProgram, PageAddress) {
    let mut program = SpawnedProgram::start(folder.diligence().args(["view", "--no-open", OFFICE]));
    let address = PageAddress::of(&program.line());
    (program, address)
}

fn other_users_get_no_page_even_with_the_cookie_or_a_code() {
    let folder = office();
    let (mut program, address) = view(&folder);
    let first = response(&mut address.get(&address.path, ""));
    assert!(first.starts_with("HTTP/1.1 200 OK"), "{first}");
    let cookie = format!("Cookie: {}\\r\\n", cookie_of(&first));
    let page = response(&mut address.get("/", &cookie));
    assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
    let next = PageAddress::of(&program.line());
    for (path, fields) in [("/", ""), ("/", &*cookie), ("/stream", &*cookie), (&*next.path, "")] {
        let refused = response(address.get(path, fields).uid(NOBODY).gid(NOBODY));
        assert!(
            !refused.contains("200 OK") && !refused.contains("set-cookie"),
            "{path}: {refused}"
        );
    }
    let second = response(&mut address.get(&next.path, ""));
    assert!(second.starts_with("HTTP/1.1 200 OK"), "the attempts used up the code: {second}");
}

fn clients_that_close_at_once_are_not_taken_for_root() {
    let folder = office();
    let (mut program, address) = view(&folder);
    let send_and_close = GET.replace(" && timeout 5 cat <&3", "");
    for _ in 0..50 {
        let mut command = Command::new("bash");
        command.args(["-c", &send_and_close, "get", &address.port, &address.path, ""]);
        let sent = command.uid(NOBODY).gid(NOBODY).stderr(Stdio::null()).status();
        assert!(sent.is_ok());
    }
    let page = response(&mut address.get(&address.path, ""));
    assert!(page.starts_with("HTTP/1.1 200 OK"), "another user used up the code: {page}");
    assert!(program.line().starts_with("http://"));
}

fn the_bus_runs_as_the_configured_user() {
    let folder = ProgramFolder::new();
    let config = folder.config("<user>nobody</user>");
    let mut running = SpawnedProgram::start(
        folder.dbus_daemon().arg("--print-address").arg("--config-file").arg(config),
    );
    running.line();
    let pid = running.id();
    let uid = eventually("another user", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let mut uids = uids.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        uids.dedup();
        (uids != ["0"]).then_some(uids)
    });
    assert_eq!(uid, [NOBODY.to_string()]);
    assert!(running.end(Signal::TERM).status.success());
}
