#![no_main]

use dyno_fuzz::Target;

libfuzzer_sys::fuzz_target!(|input: &[u8]| Target::Traffic.run(input));
