//! The target `two_stacks`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| echostack_fuzz::targets::two_stacks(data));
