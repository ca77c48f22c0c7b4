#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solinas_fuzz::targets::lease_messages::run(data));
