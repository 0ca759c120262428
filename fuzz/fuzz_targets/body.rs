#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| diligence_fuzzing::messages::body(bytes));
