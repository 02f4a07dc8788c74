//! The sandbox in which a program can be run.

use std::path::Path;

/// The reason why there is no sandbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The program bwrap is not installed, or does not work here.
    #[error("the sandbox needs the program bwrap (package bubblewrap), which could not be run here: {0}")]
    Missing(String),
}

/// A sandbox made by bubblewrap: no network, no other processes, and a file system that cannot be written to, except
/// for an empty temporary folder.
#[derive(Clone, Debug)]
pub struct Sandbox {
    program: &'static str,
}

impl Sandbox {
    /// Returns the sandbox, after a test that it works on this system.
    ///
    /// # Errors
    /// If bubblewrap is not installed, or is not allowed to work.
    pub fn new() -> Result<Self, SandboxError> {
        let this = Self { program: "bwrap" };
        let words = this.wrap(vec!["true".to_string()], None);
        let (program, arguments) = words.split_first().ok_or_else(|| SandboxError::Missing(String::new()))?;
        match std::process::Command::new(program).args(arguments).output() {
            Ok(output) if output.status.success() => Ok(this),
            Ok(output) => Err(SandboxError::Missing(String::from_utf8_lossy(&output.stderr).trim().to_string())),
            Err(error) => Err(SandboxError::Missing(error.to_string())),
        }
    }

    /// Returns the command that runs another command in the sandbox, where the folder with the texts can be read.
    pub(super) fn wrap(&self, command: Vec<String>, folder: Option<&Path>) -> Vec<String> {
        let options =
            "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent --new-session";
        let mut words = vec![self.program.to_string()];
        words.extend(options.split(' ').map(str::to_string));
        if let Some(folder) = folder {
            let folder = folder.display().to_string();
            words.extend(["--ro-bind".to_string(), folder.clone(), folder]);
        }
        words.push("--".to_string());
        words.extend(command);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_comes_last_and_its_folder_can_be_read() {
        let sandbox = Sandbox { program: "bwrap" };
        let words = |folder| sandbox.wrap(vec!["lint".to_string(), "--strict".to_string()], folder);
        assert!(words(None).ends_with(&["--", "lint", "--strict"].map(String::from)));
        assert!(["--unshare-all", "--die-with-parent"].iter().all(|option| words(None).contains(&option.to_string())));
        let with = words(Some(Path::new("/texts")));
        assert!(with.windows(3).any(|words| words == ["--ro-bind", "/texts", "/texts"]));
    }
}
