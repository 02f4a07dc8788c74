//! Names of the last version: commands and options that have another name now still work, with a hint.
//!
//! Arguments are rewritten before they are parsed, so that nothing else knows the old names.

use std::ffi::OsString;
use std::path::Path;

use echostack_grammar::Subject;

/// The commands that belong to `echostack lab` now.
const LABORATORY: [&str; 2] = ["bench", "reproduce"];
/// The commands that work on a language, which is an argument now.
const ON_A_LANGUAGE: [&str; 4] = ["construct", "learn", "sample", "teach"];
/// The options that named a language, and what its name begins with now. `--grammar` read any file as a grammar.
const LANGUAGES: [(&str, &str); 3] = [("--task", "task:"), ("--grammar", "grammar:"), ("--automaton", "")];
/// The formats that `extract` wrote, and `export` writes now.
const EXPORTED: [&str; 5] = ["yacc", "flex", "lark", "gbnf", "llguidance"];
/// The options of all commands that have a value, behind which a command may follow.
const WITH_VALUE: [&str; 3] = ["--threads", "--model-limits", "--grammar-limits"];

/// Returns the arguments with today's names, and a hint for each that was renamed.
pub(crate) fn renamed(arguments: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let readable: Option<Vec<String>> = arguments.iter().map(|argument| Some(argument.to_str()?.to_string())).collect();
    let Some(mut readable) = readable else { return (arguments, Vec::new()) };
    let hints = rename(&mut readable);
    (readable.into_iter().map(OsString::from).collect(), hints)
}

fn rename(arguments: &mut Vec<String>) -> Vec<String> {
    let mut hints = Vec::new();
    let Some(at) = position_of_command(arguments) else { return hints };
    let command = arguments[at].clone();
    rename_languages(arguments, at, &command, &mut hints);
    if LABORATORY.contains(&command.as_str()) {
        hints.push(hint(&format!("echostack {command}"), &format!("echostack lab {command}")));
        arguments.insert(at, "lab".to_string());
    }
    if command == "sample" && replace_option(arguments, at, "--work", |path| vec!["-o".into(), path]).is_some() {
        hints.push(hint("echostack sample --work FILE", "echostack lab work -o FILE"));
        arguments.splice(at..=at, ["lab".to_string(), "work".to_string()]);
    }
    if command == "extract" {
        if EXPORTED.iter().any(|name| value_of(&arguments[at..], "--format") == Some(*name)) {
            hints.push(hint("echostack extract --format", "echostack export --format"));
            arguments[at] = "export".to_string();
        }
        let against = |language| vec!["--against".into(), language];
        if replace_option(arguments, at, "--equivalent-to", against).is_some() {
            hints.push(hint("--equivalent-to", "--against"));
        }
    }
    hints
}

/// Rewrites the options that named a language: as an argument, or as the language that a model is compared with.
fn rename_languages(arguments: &mut Vec<String>, at: usize, command: &str, hints: &mut Vec<String>) {
    let is_argument = ON_A_LANGUAGE.contains(&command);
    if !is_argument && command != "evaluate" {
        return;
    }
    for (option, prefix) in LANGUAGES {
        let language = |name: String| {
            let known = name.starts_with(prefix) || is_grammar(option, &name);
            let name = if known { name } else { format!("{prefix}{name}") };
            if is_argument { vec![name] } else { vec!["--against".into(), name] }
        };
        if let Some((old, new)) = replace_option(arguments, at, option, language) {
            hints.push(hint(&old, &new));
        }
    }
}

fn hint(old: &str, new: &str) -> String {
    format!("hint: `{old}` is written `{new}` now")
}

/// Returns whether the value of `--grammar` is known to be one without a prefix.
fn is_grammar(option: &str, name: &str) -> bool {
    option == "--grammar" && Subject::is_grammar(Path::new(name))
}

/// Returns the place of the command, which is the first argument that is neither an option nor the value of one.
fn position_of_command(arguments: &[String]) -> Option<usize> {
    let mut at = 1;
    while arguments.get(at)?.starts_with('-') {
        at += if WITH_VALUE.contains(&arguments[at].as_str()) { 2 } else { 1 };
    }
    Some(at)
}

/// Returns the value of an option, written as `--option value` or `--option=value`.
fn value_of<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|argument| is_option(argument, option))?;
    match arguments[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => arguments.get(at + 1).map(String::as_str),
    }
}

fn is_option(argument: &str, option: &str) -> bool {
    argument.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Replaces an option of the command with its value, and returns both forms. Without a value, the option stays, and is
/// refused later.
fn replace_option(
    arguments: &mut Vec<String>,
    command: usize,
    option: &str,
    new: impl FnOnce(String) -> Vec<String>,
) -> Option<(String, String)> {
    let value = value_of(&arguments[command..], option)?.to_string();
    let at = command + arguments[command..].iter().position(|argument| is_option(argument, option))?;
    let end = if arguments[at].contains('=') { at } else { at + 1 };
    let (old, new) = (arguments[at..=end].join(" "), new(value));
    let written = new.join(" ");
    arguments.splice(at..=end, new);
    Some((old, written))
}
