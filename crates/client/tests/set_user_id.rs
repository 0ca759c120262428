//! A set-user-ID program with this library ignores the environment of its caller.
//!
//! Only root can create such a program; for other users the test is reported as ignored.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Output};

use diligence_client::StandardBus;
use libtest_mimic::{Arguments, Trial};

/// The variable that makes a copy of this program print the addresses of the standard buses.
const PRINT: &str = "DILIGENCE_PRINT_ADDRESSES";

fn main() -> ExitCode {
    if std::env::var_os(PRINT).is_some() {
        print_addresses();
        return ExitCode::SUCCESS;
    }
    let is_root = unix::privileges::effective_user() == 0;
    let name = "set_user_id_programs_ignore_addresses_in_the_environment";
    let trial = Trial::test(name, || {
        set_user_id_programs_ignore_addresses_in_the_environment();
        Ok(())
    });
    let trial = if is_root { trial } else { trial.with_kind("needs root").with_ignored_flag(true) };
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn print_addresses() {
    for bus in [StandardBus::System, StandardBus::Session, StandardBus::Starter] {
        match bus.address() {
            Ok(address) => println!("found {address}"),
            Err(_) => println!("found nothing"),
        }
    }
}

fn set_user_id_programs_ignore_addresses_in_the_environment() {
    let folder = std::env::temp_dir().join(format!("diligence-set-user-id-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for tests");
    let program = folder.join("program");
    fs::copy(std::env::current_exe().expect("the path of this program"), &program).expect("a copy");
    let run = |mode: u32| {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode))
            .expect("root may change the mode");
        let output = Command::new(&program)
            .env(PRINT, "")
            .env("DBUS_SYSTEM_BUS_ADDRESS", "unixexec:path=/bin/evil")
            .env("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/bin/evil")
            .env("DBUS_STARTER_ADDRESS", "unixexec:path=/bin/evil")
            .env("XDG_RUNTIME_DIR", "/tmp/evil")
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .expect("the copy can be executed");
        found(&output)
    };
    let [with_rights, without] = [run(0o4755), run(0o755)];
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    let system = "found unix:path=/var/run/dbus/system_bus_socket";
    assert_eq!(with_rights, [system, "found nothing", "found nothing"]);
    assert_eq!(
        without, ["found unixexec:path=/bin/evil"; 3],
        "a program without more rights uses the environment"
    );
}

fn found(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter(|line| line.starts_with("found")).map(str::to_owned).collect()
}

const NOBODY: u32 = 65534;
