#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solinas_fuzz::targets::bgv_files::run(data));
