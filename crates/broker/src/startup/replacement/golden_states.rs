//! The states of earlier programs in `crates/broker/tests/states`, which this program must be able
//! to continue. CONTRIBUTING.md says how to add the states of this program.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::{DecodedState, check_state, read_state};
use crate::event_loop::RestoredLoop;
use crate::saved_state::{FORMAT, StateWriter};

/// All golden states, each with the number of its format.
fn golden_states() -> Vec<(u8, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/states");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder of the tree");
        entries.map(|entry| entry.expect("a folder of the tree").path()).collect::<Vec<_>>()
    };
    let mut states = Vec::new();
    for folder in entries(&root) {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("an ASCII name");
        let format = name.strip_prefix("format-").and_then(|format| format.parse().ok());
        let format = format.expect("the name of a folder is format-NUMBER");
        let of_format = entries(&folder);
        let of_format =
            of_format.into_iter().filter(|path| path.extension().is_some_and(|it| it == "state"));
        states.extend(of_format.map(|path| (format, path)));
    }
    states.sort();
    assert!(!states.is_empty(), "golden states are missing");
    states
}

/// Encodes a state again after decoding it.
fn encoded_again(state: &[u8]) -> Vec<u8> {
    let DecodedState { numbers, process, event_loop } = DecodedState::read(state).expect("a state");
    let mut writer = StateWriter::with_header(Cursor::new(Vec::new())).expect("memory");
    writer.write(&numbers).expect("numbers can be encoded");
    writer.write(&process).expect("settings can be encoded");
    RestoredLoop::encode_again(event_loop, &mut writer).expect("a state");
    writer.finish().expect("memory").into_inner()
}

#[test]
fn states_of_earlier_programs_can_be_continued() {
    for (format, path) in golden_states() {
        let state = fs::read(&path).expect("a file of the tree");
        let path = path.display();
        assert_eq!(state[FORMAT_AT], format, "{path} is in the folder of another format");
        let memory = sys::memory::sealed("state", &state).expect("there is memory");
        if let Err(error) = check_state(memory.into()) {
            panic!(
                "this program cannot continue the bus of {path}: {error}\n\
                 Running buses could not be replaced by it. A new field must be the last of its \
                 structure and have a default. After any other change of a saved structure, \
                 increase the number of the format in saved_state/mod.rs. If the program then no \
                 longer reads this format, delete the folder and mention it in CHANGELOG.md."
            );
        }
    }
}

#[test]
fn there_are_states_of_the_current_format_with_all_fields() {
    let states = golden_states();
    let is_current = |(format, path): &(u8, PathBuf)| {
        let state = fs::read(path).expect("a file of the tree");
        *format == FORMAT && encoded_again(&state) == state
    };
    assert!(
        states.iter().any(is_current),
        "no file in crates/broker/tests/states/format-{FORMAT} has all fields that this program \
         saves. Keep the files, and add states of this program:\n\
         cargo build && DILIGENCE_STATES=$PWD/crates/broker/tests/states \
         cargo test -p diligence-conformance --test saved_states -- serves_on\n\
         DILIGENCE_BLESS=1 cargo test -p diligence-broker golden_states"
    );
}

#[test]
fn restored_states_have_everything_that_was_saved() {
    for (_, path) in golden_states() {
        let state = fs::read(&path).expect("a file of the tree");
        let version = DecodedState::read(&state).expect("a state").process.version;
        let restored = read_state(&state).expect("it can be continued");
        let text = format!("version: {version}\n{}", restored.description());
        testkit::golden::check(path.with_extension("txt"), &text);
    }
}

#[test]
fn truncated_states_are_rejected() {
    for (_, path) in golden_states() {
        let state = fs::read(&path).expect("a file of the tree");
        let step = (state.len() / TRUNCATIONS).max(1);
        let near_the_ends = (0..200).chain(state.len() - 200..state.len());
        for len in near_the_ends.chain((0..state.len()).step_by(step)) {
            let read = read_state(&state[..len]);
            assert!(read.is_err(), "{}, truncated to {len} bytes", path.display());
        }
    }
}

#[test]
fn states_of_other_formats_are_rejected_with_both_numbers() {
    let (_, path) = golden_states().pop().expect("there are golden states");
    let mut state = fs::read(path).expect("a file of the tree");
    for format in (0..=u8::MAX).filter(|format| *format != FORMAT) {
        state[FORMAT_AT] = format;
        let error = read_state(&state).err().expect("the format is unknown").to_string();
        let expected =
            format!("the state has format {format}, but this program reads format {FORMAT}");
        assert!(error.contains(&expected), "{error}");
    }
}

/// The position of the number of the format.
const FORMAT_AT: usize = 16;

/// The number of lengths to which each state is truncated.
const TRUNCATIONS: usize = 300;
