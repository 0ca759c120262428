#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzzing::states::state(bytes));

// Few changes of bytes keep the lengths in a state correct.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], len: usize, max_len: usize, seed: u32| {
    fuzzing::states::mutate(data, len, max_len, seed)
});
