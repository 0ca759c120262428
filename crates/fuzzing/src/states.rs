//! The fuzzing target for saved states of a bus, which a program reads when it replaces another one.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use bus::Bus;
use testkit::damaged;
use testkit::random::Random;

use crate::seed::Seed;

/// Reads a state: it is rejected, or everything that it describes is consistent. The bus in an
/// accepted state can be saved and restored again.
pub fn state(bytes: &[u8]) {
    let restored = match broker::startup::read_state(bytes) {
        Ok(restored) => restored,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    if !passes(|| restored.check()) {
        return;
    }
    let saved = rmp_serde::to_vec(restored.bus()).expect("every state can be saved");
    let again: Bus = rmp_serde::from_slice(&saved).expect("a saved state can be restored");
    again.check();
    let saved_again = rmp_serde::to_vec(&again).expect("every state can be saved");
    assert_eq!(saved_again, saved, "the saved state of the restored bus");
}

/// Whether a check does not panic. A panic of the check means that the state is rejected, so it is
/// neither printed nor reported to the fuzzer, whose hook would end the process.
fn passes(check: impl FnOnce()) -> bool {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let checked = panic::catch_unwind(AssertUnwindSafe(check));
    panic::set_hook(hook);
    checked.is_ok()
}

/// Changes the first `len` bytes of `data`, for libFuzzer. Returns the new length, at most
/// `max_len`.
pub fn mutate(data: &mut [u8], len: usize, max_len: usize, seed: u32) -> usize {
    let mut state = data[..len].to_vec();
    damaged::state(&mut state, &mut Random::from_seed(seed.into()));
    let len = state.len().min(max_len);
    data[..len].copy_from_slice(&state[..len]);
    len
}

/// The golden states of the broker.
pub fn golden() -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../broker/tests/states");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder of the tree");
        entries.map(|entry| entry.expect("a folder of the tree").path()).collect::<Vec<_>>()
    };
    let mut seeds = Vec::new();
    for folder in entries(&root) {
        let format = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in entries(&folder) {
            if file.extension().is_some_and(|extension| extension == "state") {
                let name = file.file_stem().unwrap_or_default().to_string_lossy();
                let bytes = fs::read(&file).expect("a file of the tree");
                seeds.push((format!("{format}-{name}"), bytes));
            }
        }
    }
    seeds.sort();
    seeds
}
