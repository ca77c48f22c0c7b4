#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solinas_fuzz::targets::ptx::run(data));
