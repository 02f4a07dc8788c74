//! The separate programs `echostack-engine` and `echostack-deep`. They are separate because they take long to build. A
//! program is looked up next to this one, and then in `PATH`.

use std::path::PathBuf;

/// Returns the path of a program.
pub(crate) fn program(name: &str) -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name)).filter(|path| path.exists());
    beside.unwrap_or_else(|| name.into())
}

/// Returns the error message for a program that cannot be started.
pub(crate) fn missing(name: &str) -> String {
    format!(
        "could not start {name}; build it with `cargo build --release` in crates/{name}, and put it next to this program"
    )
}
