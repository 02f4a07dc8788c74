//! The names of the last version still work, with a hint.

mod common;

use common::{echostack, good, text, told};

#[test]
fn options_that_named_a_language_still_work() {
    let folder = tempfile::tempdir().unwrap();
    let [model, table, work] = ["m", "t", "w"].map(|name| folder.path().join(name).display().to_string());
    let grammar = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/dyck1");
    let same = |old: &[&str], new: &[&str], hint: &str| {
        let output = echostack(old, b"");
        let message = text(&output.stderr);
        assert!(output.status.success() && message.contains(hint), "{old:?}: {message}");
        assert_eq!(text(&output.stdout), good(new), "{old:?}");
    };
    let sample = ["sample", "task:dyck1", "--all", "4"];
    same(&["sample", "--task", "dyck1", "--all", "4"], &sample, "hint: `--task dyck1` is written `task:dyck1` now");
    same(&["--threads", "1", "sample", "--all", "4", "--task=dyck1"], &sample, "hint: `--task=dyck1`");
    let sample = ["sample", grammar, "--all", "4"];
    same(&["sample", "--grammar", grammar, "--all", "4"], &sample, "hint: `--grammar");
    good(&["learn", "--task", "dyck1", "-o", &model]);
    let evaluate = ["evaluate", &model, "--against", "task:dyck1", "--count", "5"];
    same(&["evaluate", &model, "--task", "dyck1", "--count", "5"], &evaluate, "hint: `--task dyck1`");
    let extract = ["extract", &model, "--against", "task:dyck1"];
    same(
        &["extract", &model, "--equivalent-to", "task:dyck1"],
        &extract,
        "`--equivalent-to` is written `--against` now",
    );
    let export = ["export", &model, "--format", "lark"];
    same(&["extract", &model, "--format", "lark"], &export, "`echostack export --format` now");
    good(&["construct", "--automaton", "task:dyck1", "-o", &table]);
    good(&["sample", "--task", "dyck1", "--work", &work]);
    let bench = ["lab", "bench", "--work", &work, "--help"];
    assert_eq!(good(&["bench", "--work", &work, "--help"]), good(&bench));
    // Nothing is said if only errors are to be printed.
    assert_eq!(told(&["sample", "--task", "dyck1", "--all", "1", "--quiet"]), (0, String::new()));
}

#[test]
fn other_arguments_stay_as_they_are() {
    let (code, message) = told(&["learn", "--task"]);
    assert_eq!((code, message.contains("hint")), (2, false), "{message}");
    let (_, message) = told(&["tasks", "--task", "json"]);
    assert!(message.contains("unexpected argument '--task'"), "{message}");
    assert_eq!(told(&["--threads"]).0, 2);
}

#[test]
fn the_help_has_every_command_in_a_group() {
    let help = good(&["--help"]);
    for group in ["Everyday:", "Machines and proofs:", "Research:", "Many files:", "Shell:"] {
        assert!(help.contains(&format!("\n{group}\n")), "{help}");
    }
    let folder = tempfile::tempdir().unwrap();
    good(&["man", &folder.path().display().to_string()]);
    for page in std::fs::read_dir(folder.path()).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        let Some(command) = name.strip_prefix("echostack-").map(|name| name.trim_end_matches(".1")) else { continue };
        if !command.contains('-') {
            assert!(help.contains(&format!("\n  {command} ")), "{command} is not in the help");
        }
    }
}
