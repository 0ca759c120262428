//! Tests of `diligence view`: access to the page, and the limit on pages that watch a bus.
//!
//! Tests that need other users are in `tests/root`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;

use crate::page_client::{PageAddress, cookie_of, response};
use crate::recorder::OurBus;
use crate::scene::{OFFICE, office, run};
use crate::support::{ProgramFolder, SpawnedProgram, eventually};

#[test]
fn the_browser_gets_no_secret_in_its_command_line() {
    let folder = office();
    let programs = folder.inside("bin");
    let arguments = folder.join("arguments");
    let browser = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.new\nmv {0}.new {0}\n",
        arguments.display()
    );
    fs::write(programs.join("xdg-open"), browser).expect("a writable folder");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(programs.join("xdg-open"), mode).expect("a writable folder");
    let runtime = folder.inside("runtime");
    let path = std::env::var("PATH").expect("PATH is set");
    let mut command = folder.diligence();
    command.args(["view", OFFICE]).env("XDG_RUNTIME_DIR", runtime.join(""));
    command.env("PATH", format!("{}:{path}", programs.join("").display()));
    let mut program = SpawnedProgram::start(&mut command);
    let printed = program.line();
    let file = eventually("the browser", || fs::read_to_string(&arguments).ok());
    let file = file.strip_suffix('\n').expect("one word");
    assert!(file.ends_with("/page.html"), "{file}");
    assert_eq!(fs::metadata(file).expect("the file exists").permissions().mode() & 0o777, 0o600);
    let document = fs::read_to_string(file).expect("a writable folder");
    let start = document.find("url=").expect("a redirect to the page") + "url=".len();
    let address = &document[start..start + printed.len()];
    assert_ne!(address, printed, "the file and the terminal have a code each");
    let parts = PageAddress::of(address);
    cookie_of(&response(&mut parts.get(&parts.path, "")));
    eventually("the file is gone", || (!fs::exists(file).ok()?).then_some(()));
    assert!(fs::read_dir(runtime.join("")).expect("the file exists").next().is_none());
    program.end(Signal::TERM);
}

#[test]
fn files_without_a_recording_get_no_address() {
    let folder = office();
    fs::write(folder.join("text"), "no recording").expect("a writable folder");
    for file in ["gone.pcap", "text"] {
        let printed = run(&folder, &format!("view --no-open {file}"));
        assert_eq!((printed.status, printed.stdout.as_str()), (Some(1), ""), "{file}");
        assert!(printed.stderr.contains(&format!("cannot read {file}")), "{}", printed.stderr);
    }
}

#[test]
fn the_pages_that_watch_a_bus_are_limited() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let mut command = folder.diligence();
    command.args(["view", "--live", "--no-open", "--address", &bus.address]);
    let mut program = SpawnedProgram::start(&mut command);
    let address = PageAddress::of(&program.line());
    let cookie =
        format!("Cookie: {}\\r\\n", cookie_of(&response(&mut address.get(&address.path, ""))));
    let mut watches: Vec<_> = (0..32)
        .map(|number| {
            let mut command = address.get(&format!("/watch/{number}"), &cookie);
            SpawnedProgram::start(&mut command)
        })
        .collect();
    for watch in &mut watches {
        assert_eq!(watch.line(), "HTTP/1.1 200 OK");
    }
    let refused = response(&mut address.get("/watch/more", &cookie));
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    assert!(refused.contains("32 pages watch this bus already"), "{refused}");
    drop(watches.pop());
    eventually("another one may watch", || {
        let mut command = address.get("/watch/more", &cookie);
        let mut watch = SpawnedProgram::start(&mut command);
        let is_watching = watch.line() == "HTTP/1.1 200 OK";
        is_watching.then_some(())
    });
}
