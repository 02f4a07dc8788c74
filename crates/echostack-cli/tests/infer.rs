//! `echostack infer` and `echostack learn --examples`, as programs.

use std::path::Path;
use std::process::{Command, Output};

fn echostack(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_echostack")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with examples of lists of x in parentheses, and an oracle that stays open.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let examples = folder.path().join("examples");
    std::fs::create_dir(&examples).unwrap();
    for (number, example) in ["x", "(x)", "x(x)x", "()"].iter().enumerate() {
        std::fs::write(examples.join(number.to_string()), example).unwrap();
    }
    let script = "import json, sys\n\
                  for line in sys.stdin:\n    \
                      text = json.loads(line)\n    \
                      depth = 0\n    \
                      valid = len(text) > 0\n    \
                      for letter in text:\n        \
                          depth += {'(': 1, ')': -1, 'x': 0}.get(letter, -9999)\n        \
                          valid = valid and depth >= 0\n    \
                      print('true' if valid and depth == 0 else 'false', flush=True)\n";
    std::fs::write(folder.path().join("oracle.py"), script).unwrap();
    folder
}

const ORACLE: [&str; 5] = ["--examples", "examples", "--oracle", "python3 oracle.py", "--persistent"];

#[test]
fn a_language_is_inferred_and_the_answers_are_kept() {
    let folder = prepared();
    let run = |workers: &str, output: &str| {
        let arguments = [&["infer"], &ORACLE[..], &["--workers", workers, "-o", output]].concat();
        let output = echostack(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
    assert!(run("1", "a").contains("learned a language from 4 examples"));
    run("3", "b");
    for file in ["grammar.y", "lexer.l"] {
        assert_eq!(read(&format!("a/{file}")), read(&format!("b/{file}")));
    }
    // The second run in the same folder asks nothing.
    let answers = read("a/answers.jsonl");
    run("1", "a");
    assert_eq!(read("a/answers.jsonl"), answers);
    assert!(read("a/report.md").contains("agree on all"));
    // The result is compared with a grammar that is known, and with one that is wrong.
    for (rules, code, wanted) in [
        ("S: T | S T; T: 'x' | '(' ')' | '(' S ')';", 0, "equal to known.y: the same texts, of all lengths"),
        ("S: | S 'x' | S '(' S ')';", 1, "not equal to known.y: only known.y has \"\""),
        ("S: T | S T; T: 'x' | '(' U; U: ')' | S ')';", 1, "characters: known: no tokens enclose"),
    ] {
        std::fs::write(folder.path().join("known.y"), format!("%start S\n%%\n{rules}\n")).unwrap();
        std::fs::write(folder.path().join("known.l"), "%%\nx \"x\"\n\\( \"(\"\n\\) \")\"\n").unwrap();
        let arguments = [&["infer"], &ORACLE[..], &["-o", "a", "--against", "known.y"]].concat();
        let output = echostack(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(wanted), "{}", text(&output.stderr));
    }
    // The answers of another program are refused.
    let other = ["infer", "--examples", "examples", "--oracle", "true", "-o", "a"];
    let output = echostack(folder.path(), &other);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("they are those of `python3 oracle.py`"), "{}", text(&output.stderr));
}

/// Names, and lists of them in parentheses: a list is flat in the tree, as in the EBNF, and a message shows a name. The same
/// holds for a machine, which has the grammar in its manifest, and with the names that somebody gave.
#[test]
fn trees_and_messages_are_those_of_the_ebnf() {
    let folder = prepared();
    let write = |name: &str, content: &str| std::fs::write(folder.path().join(name), content).unwrap();
    let script = "import json, re, sys\n\
                  for line in sys.stdin:\n    \
                      text, before = json.loads(line), None\n    \
                      text = re.sub('[a-z][a-z0-9]*', 'x', text) if text.isascii() and 'X' not in text else ''\n    \
                      while text != before:\n        \
                          before, text = text, re.sub('[(]x(,x)*[)]', 'x', text)\n    \
                      print('true' if text == 'x' else 'false', flush=True)\n";
    write("names.py", script);
    std::fs::create_dir(folder.path().join("names")).unwrap();
    for (number, example) in ["a1", "(b)", "((a,b),cd)"].iter().enumerate() {
        write(&format!("names/{number}"), example);
    }
    write("good", "(a,(b1,c),d)");
    write("bad", "(a,)");
    write("theirs.y", "%start List\n%%\nList: 'WORD' | Group; Group: '(' Inner ')'; Inner: List | Inner ',' List;\n");
    write("theirs.l", "%%\n[a-z][0-9a-z]* \"WORD\"\n\\( \"(\"\n\\) \")\"\n, \",\"\n");
    let infer = ["infer", "--examples", "names", "--oracle", "python3 names.py", "--persistent", "-o", "out"];
    let run = |arguments: &[&str]| {
        let output = echostack(folder.path(), arguments);
        text(&output.stdout) + &text(&output.stderr)
    };
    run(&infer);
    let ebnf = std::fs::read_to_string(folder.path().join("out/grammar.ebnf")).unwrap();
    assert!(
        ebnf.starts_with("Value ::= NAME | Parens    /* \"a\" */\nParens ::= \"(\" Value (\",\" Value)* \")\""),
        "{ebnf}"
    );
    let tree =
        "(Value (Parens \"(\" (Value a) , (Value (Parens \"(\" (Value b1) , (Value c) \")\")) , (Value d) \")\"))\n";
    let message = "unexpected ')', expected NAME (such as a) or '('\n";
    assert_eq!(run(&["parse", "out", "good"]), tree);
    assert!(run(&["check", "out", "bad"]).contains(message), "{}", run(&["check", "out", "bad"]));
    run(&["compile", "out", "-o", "table.safetensors"]);
    assert_eq!(run(&["parse", "table.safetensors", "good"]), tree);
    assert!(run(&["check", "table.safetensors", "bad"]).contains(message));
    // The names of a grammar that somebody wrote stay, the way that lists are shown, too.
    assert!(run(&[&infer[..], &["--against", "theirs.y"]].concat()).contains("equal to theirs.y"));
    assert_eq!(run(&["parse", "out", "good"]), tree.replace("Value", "List").replace("Parens", "Group"));
    assert!(run(&["check", "out", "bad"]).contains("expected WORD (such as a) or '('\n"));
    let grammar = std::fs::read_to_string(folder.path().join("out/grammar.y")).unwrap();
    assert!(grammar.contains("Inner: List | Inner ',' List;"), "{grammar}");
    // A lexer that was given keeps its names, too.
    let given = ["--tokens", "theirs.l", "-o", "given"];
    run(&[&infer[..6], &given[..]].concat());
    let grammar = std::fs::read_to_string(folder.path().join("given/grammar.y")).unwrap();
    assert!(grammar.contains("Value: 'WORD' | Parens;"), "{grammar}");
}

#[test]
fn examples_and_an_oracle_become_a_proved_machine() {
    let folder = prepared();
    let arguments = [&["learn"], &ORACLE[..], &["--prove", "-o", "model.safetensors"]].concat();
    let output = echostack(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("proved correct on every word"));
    let report = std::fs::read_to_string(folder.path().join("model.inferred/report.md")).unwrap();
    assert!(report.contains("**The machine and the grammar**: proved"));
    std::fs::write(folder.path().join("text"), "((x)x())").unwrap();
    assert_eq!(echostack(folder.path(), &["check", "model.safetensors", "text"]).status.code(), Some(0));
    std::fs::write(folder.path().join("text"), "((x)x()").unwrap();
    assert_eq!(echostack(folder.path(), &["check", "model.safetensors", "text"]).status.code(), Some(1));
}

#[test]
fn valid_and_invalid_texts_without_a_program_give_a_guess() {
    let folder = prepared();
    let write = |name: &str, texts: &[&str]| {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        for (number, text) in texts.iter().enumerate() {
            std::fs::write(folder.path().join(name).join(number.to_string()), text).unwrap();
        }
    };
    write("more", &["x", "xx", "(x)", "((x))", "()", "(())", "x(x)x", "()()", "((x)(x))"]);
    write("invalid", &["", "(", ")", "(x", "x)", ")(", "(()", "())"]);
    let run = |arguments: &[&str]| {
        let output = echostack(folder.path(), arguments);
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, said) = run(&["infer", "--examples", "more", "--invalid", "invalid", "--hold-out", "0.2", "-o", "g"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("guessed a language from 8 valid texts and 7 invalid texts") && !said.contains("learned"));
    assert!(said.contains("of 1 valid ones are rejected") && said.contains("of 1 invalid ones accepted"), "{said}");
    let report = std::fs::read_to_string(folder.path().join("g/report.md")).unwrap();
    assert!(report.starts_with("# A guess, not a learned language"), "{report}");
    assert_eq!(run(&["learn", "g", "--prove", "-o", "g.safetensors"]).0, Some(0));
    let contradicted = run(&["infer", "--examples", "more", "--invalid", "more", "-o", "h"]);
    assert_eq!(contradicted.0, Some(2));
    assert!(contradicted.1.contains("is invalid, but a valid text is the same"), "{}", contradicted.1);
    let alone = run(&["infer", "--examples", "more", "-o", "h"]);
    assert_eq!(alone, (Some(2), "echostack: give --examples and --oracle, or --examples and --invalid\n".into()));
}

#[test]
fn a_run_that_does_not_converge_never_says_learned() {
    let folder = prepared();
    for (command, output) in [("infer", "out"), ("learn", "machine")] {
        let arguments = [&[command], &ORACLE[..], &["--queries", "1500", "-o", output]].concat();
        let output = echostack(folder.path(), &arguments);
        let message = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{message}");
        assert!(!message.contains("learned") && message.contains("limit of 1500 queries"), "{message}");
    }
}

#[test]
fn mistakes_of_the_user_are_explained() {
    let folder = prepared();
    let cases: [(&[&str], &str); 5] = [
        (&["--examples", "examples", "--oracle", "false", "-o", "o1"], "accepts none of the 4 examples"),
        (&["--examples", "examples", "--oracle", "/no/such/program", "-o", "o2"], "could not be started"),
        (&["--examples", "nowhere", "--oracle", "true", "-o", "o3"], "could not read the examples in nowhere"),
        (&["--examples", "examples", "--oracle", "'a", "-o", "o4"], "a quotation mark that is not closed"),
        (&["--examples", "examples", "--oracle", "true", "--workers", "0", "-o", "o5"], "--workers is 0"),
    ];
    for (arguments, message) in cases {
        let output = echostack(folder.path(), &[&["infer"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let folder = prepared();
    let by_exit_code = ["--examples", "examples", "--oracle", "true {}"];
    for (more, message) in [
        (&["--learner", "reductions"][..], "--learner reductions needs the tokens: give --tokens"),
        (&["--position", "("], "is not a regular expression"),
        (&["--position", "at"], "has 0 groups, but needs one"),
        (&["--tokens", "missing.l"], "could not read the lexer: missing.l"),
    ] {
        let output = echostack(folder.path(), &[&["infer", "-o", "out"], &by_exit_code[..], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}
