//! Saved states of real buses: captured from a running bus, and continued by another process.
//!
//! States of earlier programs are golden files in `crates/broker/tests/states`. To add the states of
//! this program, set `DILIGENCE_STATES` to a folder. Then the test writes them there.

mod capture;
mod revive;
mod scenes;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use conformance::{
    ExternalProgram, ScratchFolder, announce, bus_binary, diligence, run_tests, test_case,
};

use crate::capture::CapturedState;
use crate::revive::RevivedBus;
use crate::scenes::{Newcomers, SCENES, well_known_names};

fn main() -> ExitCode {
    let tests = [
        test_case!(the_bus_serves_on_after_its_state_was_captured),
        test_case!(captured_states_continue_in_another_process),
        test_case!(states_of_earlier_programs_continue),
    ];
    run_tests(tests.map(|test| test.requires(diligence())))
}

/// Captures the state of each scene; the program itself must accept it.
fn the_bus_serves_on_after_its_state_was_captured() {
    for scene in SCENES {
        let mut stage = (scene.prepare)();
        let captured = stage.capture();
        check(&captured.state);
        stage.check_alive();
        if let Some(folder) = std::env::var_os("DILIGENCE_STATES") {
            captured.write(Path::new(&folder), scene.name);
        }
        stage.stop();
    }
}

fn captured_states_continue_in_another_process() {
    for scene in SCENES {
        let mut stage = (scene.prepare)();
        let captured = stage.capture();
        let names = stage.names();
        stage.stop();
        let bus = RevivedBus::start(&captured);
        if scene.newcomers == Newcomers::Served {
            assert_eq!(well_known_names(&mut bus.peer()), names, "{}", scene.name);
        }
        bus.stop();
    }
}

fn states_of_earlier_programs_continue() {
    let states = golden_states();
    assert!(states.len() >= SCENES.len(), "only {states:?}");
    for path in states {
        announce(&format!("continuing {}", path.display()));
        let captured = CapturedState::read(&path);
        check(&captured.state);
        let bus = RevivedBus::start(&captured);
        let file = path.file_name().and_then(OsStr::to_str).expect("an ASCII name");
        let scene = SCENES.iter().find(|scene| file.starts_with(scene.name));
        if scene.is_none_or(|scene| scene.newcomers == Newcomers::Served) {
            let mut peer = bus.peer();
            let names = well_known_names(&mut peer);
            assert!(!names.is_empty(), "every scene has well-known names");
            for name in names {
                let owner = peer.ask_bus("GetNameOwner", &name);
                assert!(owner.first_text().starts_with(":1."), "{}", owner.summary());
            }
        }
        bus.stop();
    }
}

/// Checks that the program accepts a state.
fn check(state: &[u8]) {
    let folder = ScratchFolder::new();
    let file = folder.join("state");
    fs::write(&file, state).expect("a scratch folder is writable");
    let file = fs::File::open(file).expect("it was written");
    let _ = ExternalProgram::at(bus_binary()).arg("--check-state").stdin(file).run().success();
}

/// The golden states of all formats.
fn golden_states() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/broker/tests/states");
    let entries = |folder: PathBuf| {
        let entries =
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.map(|entry| entry.expect("a readable folder").path())
    };
    let formats = entries(root).filter(|path| path.is_dir());
    let mut states: Vec<_> = formats.flat_map(entries).collect();
    states.retain(|path| path.extension().is_some_and(|extension| extension == "state"));
    states.sort();
    states
}
