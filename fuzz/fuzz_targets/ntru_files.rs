#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solinas_fuzz::targets::ntru_files::run(data));
