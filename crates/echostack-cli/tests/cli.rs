//! Tests of the command line as users see it: the real binary, its output and its exit codes.

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{echostack, good, json, learned, peak_kib, text};

use echostack::language::{WordKind, examples};
use echostack::tasks::{Split, Task};
use echostack::teach::{Answer, ContextFile, Corpus, Depth, write_contexts};
use echostack::{Model, Oracle};

#[test]
fn learn_check_and_evaluate() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:anbn", "--negatives", "0.5", "--strict", "--lookahead", "symbol"]);
    let check = |input: &[u8], more: &[&str]| {
        let output = echostack(&[&["check", &model], more].concat(), input);
        (text(&output.stdout), output.status.code().unwrap())
    };
    assert_eq!(check(b"a a b b\n", &[]), ("-:1: accept\n".into(), 0));
    assert_eq!(check(b"aabb\r\nab", &["--chars"]), ("-:1: accept\n-:2: accept\n".into(), 0));
    let wrong = "-:1: reject at token 4: unexpected a, expected b\n-:2: incomplete, expected b\n";
    assert_eq!(check(b"a a b a b\na a b\n", &[]), (wrong.into(), 1));
    assert_eq!(check(b"ab\nab!\n", &["--chars", "--quiet"]), (String::new(), 1));
    let unknown = "-:1: reject at token 2: unexpected \u{e9}, expected a or b\n";
    assert_eq!(check("a\u{e9}b".as_bytes(), &["--chars"]), (unknown.into(), 1));
    assert_eq!(check(b"\n", &[]), ("-:1: incomplete, expected a\n".into(), 1));
    let (line, code) = check(b"a b b\n", &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["verdict"], "reject");
    assert_eq!((value["position"].as_u64(), code), (Some(2), 1));
    // With several files, each line of the output names its file.
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&one, "a b\n").unwrap();
    std::fs::write(&two, "a a b b\nb\n").unwrap();
    let (lines, code) = check(b"", &[&one, &two]);
    assert_eq!(code, 1);
    assert!(lines.starts_with(&format!("{one}:1: accept\n{two}:1: accept\n{two}:2: reject at token 1")));

    let value = json(&["evaluate", &model, "--against", "task:anbn", "--count", "50", "--json"]);
    for key in ["error", "near_miss_error", "random_error", "wrong", "near_miss_wrong", "random_wrong"] {
        assert_eq!(value[key], 0, "{key}");
    }
    let value = json(&["inspect", &model, "--json"]);
    assert_eq!((value["mode"].as_str(), value["lookahead"].as_str()), (Some("strict"), Some("symbol")));
    assert_eq!(value["manifest"]["task"], "anbn");
    assert!(good(&["inspect", &model]).contains("reads      a b"));
}

#[test]
fn a_long_word_is_read_as_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:anbn", "--negatives", "0.5"]);
    let word = |a: usize, b: usize| [vec![b'a'; a], vec![b'b'; b]].concat();
    let run = |input: &[u8]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_echostack"))
            .args(["check", &model, "--chars", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input).unwrap();
        // Everything except what is left in the pipe has been read by now, including the point of maximum depth.
        let kib = peak_kib(&child);
        drop(stdin);
        (child.wait().unwrap().code().unwrap(), kib)
    };
    let (code, kib) = run(&word(100_000, 100_000));
    assert_eq!(code, 0);
    assert!(kib.is_none_or(|kib| kib < 256 << 10), "{kib:?} KiB");
    assert_eq!(run(&word(100_000, 100_001)).0, 1);
}

#[test]
fn sampling_repeats_with_the_seed() {
    let sample = |more: &[&str]| good(&[&["sample", "task:dyck2", "--count", "20"], more].concat());
    assert_eq!(sample(&["--seed", "3"]), sample(&["--seed", "3"]));
    assert_ne!(sample(&["--seed", "3"]), sample(&["--seed", "4"]));
    assert_eq!(sample(&["--kind", "near-miss", "--chars"]).lines().count(), 20);
    assert!(
        sample(&["--kind", "random", "--chars"]).lines().all(|line| line.bytes().all(|byte| b"()[]".contains(&byte)))
    );
}

#[test]
fn a_work_item_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work.json").display().to_string();
    for reservoir in ["cycle", "random", "legendre"] {
        good(&["lab", "work", "task:dyck1", "--reservoir", reservoir, "-o", &work]);
        let value = json(&["lab", "bench", "--work", &work, "--json", "--threads", "1"]);
        assert_eq!(value["error"], 0., "{reservoir}");
        assert!(value["train_s"].as_f64().unwrap() > 0. && value["test_tokens"].as_u64().unwrap() > 5000);
    }
}

#[test]
fn an_automaton_teaches_too() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = good(&["tasks", "--json"]);
    let anbn = tasks.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let anbn = anbn.into_iter().find(|task| task["task"] == "anbn").unwrap();
    let automaton = folder.path().join("anbn.json").display().to_string();
    std::fs::write(&automaton, anbn["automaton"].to_string()).unwrap();
    let model = learned(folder.path(), &[&automaton, "--tests", "600", "--test-length", "60"]);
    let measured = json(&["evaluate", &model, "--against", &automaton, "--max-length", "80", "--json"]);
    for field in ["error", "wrong", "unexpected", "near_miss_wrong", "near_miss_unexpected", "random_wrong"] {
        assert_eq!(measured[field], 0, "{field}");
    }
    let tree = echostack(&["parse", &model], b"a a b b\na b b\n");
    assert_eq!(text(&tree.stdout), "(S a (S a (S) b) b)\n");
    assert_eq!(text(&tree.stderr), "-:2: reject at token 3: unexpected b, expected the end\n");
    assert_eq!(tree.status.code(), Some(1));
    assert_eq!(good(&["sample", &automaton, "--all", "5"]), "a b\na a b b\n");
}

#[test]
fn contexts_of_a_corpus_teach_a_machine_that_is_proved_right() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("contexts.jsonl").display().to_string();
    let written = |stack: usize, wrong: bool| {
        let depth = Depth { stack, before: 0 };
        let mut corpus = Corpus::new(depth);
        let task = Task::Dyck2;
        let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
        let (language, mut random) = (task.language().unwrap(), Split::Train.generator(2));
        for kind in WordKind::ALL {
            let traces = examples(&*language, &oracle, kind, 1..=50, 300, &mut random);
            traces.iter().for_each(|trace| corpus.add(trace).unwrap());
        }
        let mut contexts = corpus.contexts();
        let shifted = contexts.iter().find(|context| context.exercise.answer == Answer::Shift(true)).cloned();
        if let Some(mut lie) = shifted.filter(|_| wrong) {
            (lie.exercise.answer, lie.count, lie.source) = (Answer::Shift(false), 1, "a lie".into());
            contexts.push(lie);
        }
        let file_of = ContextFile { alphabet: task.alphabet(), depth, contexts };
        write_contexts(&mut std::fs::File::create(&file).unwrap(), &file_of).unwrap();
    };
    written(4, false);
    let model = learned(folder.path(), &["--contexts", &file]);
    assert!(good(&["certify", &model, "--against", "dyck2"]).starts_with("proved"));

    let refused = |more: &[&str]| {
        let output = echostack(&[&["learn", "--contexts", &file, "-o", &model], more].concat(), b"");
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert!(refused(&["--lookahead", "reservoir"]).contains("--lookahead does not fit the contexts"));
    written(4, true);
    let told = refused(&[]);
    assert!(told.contains("count 1, first in a lie: refuse") && told.contains("--majority"), "{told}");
    let model = learned(folder.path(), &["--contexts", &file, "--majority"]);
    assert!(good(&["certify", &model, "--against", "dyck2"]).starts_with("proved"));
    written(0, false);
    assert!(refused(&[]).contains("the contexts contradict each other"));
    std::fs::write(&file, "{}\n").unwrap();
    assert!(refused(&[]).contains("could not use"));
}

#[test]
fn certify_writes_the_automaton_that_it_compares_with() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:anbn", "--prove"]);
    let automaton = folder.path().join("automaton.json").display().to_string();
    good(&["certify", &model, "--against", "task:anbn", "--write-automaton", &automaton]);
    assert_eq!(std::fs::read_to_string(&automaton).unwrap(), Task::Anbn.automaton().unwrap().to_json());
    assert!(good(&["certify", &model, "--against", &automaton]).starts_with("proved"));
}

#[test]
fn the_search_for_a_proof_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:dyck2", "--prove", "--seconds", "600"]);
    let other = folder.path().join("other").display().to_string();
    for command in [
        &["certify", &model, "--against", "dyck2"][..],
        &["extract", &model],
        &["extract", &model, "--against", "dyck2"],
        &["construct", "dyck2", "-o", &other],
        &["learn", "task:dyck2", "--prove", "-o", &other],
    ] {
        let output = echostack(&[command, &["--seconds", "0"]].concat(), b"");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {told}");
        assert!(told.contains("the time is up: nothing was proved in 0 seconds"), "{command:?}: {told}");
    }
    assert!(!Path::new(&other).exists());
    let output = echostack(&["certify", &model, "--against", "dyck2", "--max-cells", "5"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("the search ended at the limit of 5 cells (--max-cells)"));
    let output = echostack(&["learn", "task:dyck2", "--no-prove", "--seconds", "1", "-o", &other], b"");
    assert!(text(&output.stderr).contains("--seconds limits the search for a proof"));
}

/// Returns the smallest limit with which a command succeeds, and what it says of the next smaller one.
fn boundary(command: &[&str], option: &str, input: &[u8]) -> (u64, String) {
    let run = |most: u64| echostack(&[command, &[&format!("{option}{most}")]].concat(), input);
    let (mut refused, mut enough) = (0, 1 << 24);
    assert!(!run(refused).status.success() && run(enough).status.success(), "{command:?} {option}");
    while enough - refused > 1 {
        let middle = refused.midpoint(enough);
        *(if run(middle).status.success() { &mut enough } else { &mut refused }) = middle;
    }
    let output = run(refused);
    (enough, text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn limits_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:dyck2", "--prove"]);
    let loaded = Model::load(&model).unwrap();
    let size = std::fs::metadata(&model).unwrap().len();
    let table = folder.path().join("t").display().to_string();
    good(&["compile", &model, "-o", &table]);
    let states = Model::load(&table).unwrap().table().unwrap().states() as u64;
    let symbols = loaded.alphabet().len() as u64;
    let sums = folder.path().join("sums");
    std::fs::create_dir(&sums).unwrap();
    let (yacc, lex) = ("%%\nS: S '+' 'n' | 'n';\n", "%%\n[0-9]+ \"n\"\n\\+ \"+\"\n");
    std::fs::write(sums.join("grammar.y"), yacc).unwrap();
    std::fs::write(sums.join("lexer.l"), lex).unwrap();
    let sums = sums.display().to_string();
    let sample = &["sample", &sums, "--count", "1"][..];
    let check = &["check", &model][..];
    let word = b"( [ ] )";
    let cases: [(&[&str], &str, u64, &str); 13] = [
        (sample, "--grammar-limits=bytes=", yacc.len().max(lex.len()) as u64, "bytes or more"),
        (sample, "--grammar-limits=symbols=", 3, "3 symbols or more"),
        (sample, "--grammar-limits=productions=", 2, "2 productions or more"),
        (sample, "--grammar-limits=states=", 5, "5 states or more"),
        (sample, "--grammar-limits=entries=", 15, "entries in its LR(1) table"),
        (sample, "--grammar-limits=transitions=", 18, "transitions between its states or more"),
        (sample, "--grammar-limits=lexer_states=", 7, "7 states or more"),
        (check, "--model-limits=bytes=", size, "bytes or more"),
        (check, "--model-limits=symbols=", symbols, "symbols or more"),
        (check, "--model-limits=neurons=", 256, "256 neurons or more"),
        (&["check", &table], "--model-limits=states=", states, "states or more"),
        (check, "--max-depth=", 4, "the limit on depth was reached"),
        (check, "--max-actions=", 1, "the limit on actions was reached"),
    ];
    for (command, option, most, message) in cases {
        let (found, told) = boundary(command, option, word);
        assert!(found == most && told.contains(message), "{command:?} {option}: {found} instead of {most}, {told}");
    }
    let (centers, told) = boundary(check, "--model-limits=centers=", word);
    assert!(centers > 4 && told.contains("the limit is"), "{centers}: {told}");
}

#[test]
fn tasks_completions_and_man_pages_are_there() {
    let tasks = good(&["tasks"]);
    assert_eq!(tasks.lines().count(), 9);
    assert!(good(&["tasks", "--rules"]).contains("(( S ), ε, 3, S)"));
    for line in good(&["tasks", "--json"]).lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(good(&["completions", shell]).contains("evaluate"));
    }
    let folder = tempfile::tempdir().unwrap();
    good(&["man", &folder.path().display().to_string()]);
    assert!(folder.path().join("echostack-learn.1").exists());
}

#[test]
fn mistakes_are_reported_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let no_model = folder.path().join("text").display().to_string();
    std::fs::write(&no_model, "no model").unwrap();
    let model = learned(folder.path(), &["task:dyck1", "--count", "20"]);
    let json = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/grammars/json").display().to_string();
    let cases: [(&[&str], &str); 22] = [
        (&["sample", "task:dyck1", "--max-length", "18446744073709551615"], "and at most 1000000"),
        (&["learn", "-o", "x"], "<LANGUAGE|--traces <FILE>|--contexts <FILE>"),
        (&["learn", "/no/such/grammar", "-o", "x"], "there is no grammar, automaton or task /no/such/grammar"),
        (&["learn", "--traces", &no_model, "-o", "x"], "the first line must be a header"),
        (&["sample", &no_model], "this is not an automaton in JSON"),
        (&["learn", "task:dyck4", "-o", "x"], "there is no task \"dyck4\""),
        (&["learn", "task:dyck1", "--neurons", "0", "-o", "x"], "neurons is 0"),
        (&["learn", "task:dyck1", "--negatives", "2", "-o", "x"], "--negatives is 2"),
        (
            &["learn", "task:anbn", "--no-prove", "--max-length", "1", "-o", "x"],
            "anbn has no valid words with 1 to 1 tokens",
        ),
        (&["learn", "task:dyck1", "-o", "/no/such/folder/x"], "could not write /no/such/folder/x"),
        (&["check", "/no/such/model"], "could not read /no/such/model as a table or a machine"),
        (&["check", &model, "--model-limits", "neurons=2"], "neurons or more; the limit is 2"),
        (
            &["certify", &model, "--against", "task:dyck1", "--model-limits", "bytes=100"],
            "101 bytes or more; the limit is 100",
        ),
        (&["learn", "grammar:/dev/zero", "-o", "x"], "could not use the grammar"),
        (&["sample", &json, "--grammar-limits", "productions=10"], "productions or more; the limit is 10"),
        (&["sample", &json, "--grammar-limits", "lexer_states=9"], "states or more; the limit is 9"),
        (&["sample", &json, "--grammar-limits", "teeth=32"], "bytes, symbols, productions, states"),
        (&["sample", &json, "--grammar-limits", "bytes=100"], "the limit is 100"),
        (&["check", "/dev/zero", "--model-limits", "bytes=1000000"], "the limit is 1000000"),
        (&["check", &no_model], "this is not an echostack model"),
        (&["check", &model, "/no/such/words"], "could not read /no/such/words"),
        (&["evaluate", &model, "--against", "task:json"], "the machine reads the tokens ( )"),
    ];
    for (arguments, message) in cases {
        let output = echostack(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

/// Runs the console sessions of a page, one after the other in the same folder, and compares their output with the
/// page. With `ECHOSTACK_REWRITE=1`, what differs is written into the page.
fn runs_as_shown(page: &str, least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rewrite = std::env::var("ECHOSTACK_REWRITE").is_ok_and(|value| value == "1");
    let path_of_page = root.join(page);
    let page = std::fs::read_to_string(&path_of_page).unwrap();
    let mut rewritten = page.clone();
    let folder = tempfile::tempdir().unwrap();
    for shown in ["testdata", "docs"] {
        std::os::unix::fs::symlink(root.join(shown), folder.path().join(shown)).unwrap();
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_echostack")).parent().unwrap().display().to_string();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap());
    let mut sessions = 0;
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for step in block.split("$ ").skip(1).filter(|step| !step.starts_with("cargo")) {
            // A here document ends with a line of its own.
            let end = if step.lines().next().unwrap().contains("<<'END'") { "\nEND\n" } else { "\n" };
            let (command, shown) = step.split_once(end).unwrap();
            let command = &format!("{command}{}", end.trim_end());
            let run = Command::new("sh")
                .args(["-c", &format!("{{ {command}\n}} 2>&1")])
                .env("PATH", &path)
                .current_dir(folder.path())
                .output()
                .unwrap();
            // Lines of progress appear only if the machine is slow.
            let lines = text(&run.stdout);
            let lines: String = lines.split_inclusive('\n').filter(|line| !line.starts_with("progress: ")).collect();
            sessions += 1;
            if rewrite && without_times(&lines) != without_times(shown) {
                let step_of = |shown: &str| format!("$ {command}\n{shown}");
                rewritten = rewritten.replacen(&step_of(shown), &step_of(&lines), 1);
            } else {
                assert_eq!(without_times(&lines), without_times(shown), "$ {command}");
            }
        }
    }
    if rewritten != page {
        std::fs::write(&path_of_page, rewritten).unwrap();
    }
    assert!(sessions >= least, "{sessions} commands");
}

#[test]
fn the_readme_shows_real_sessions() {
    runs_as_shown("README.md", 10);
}

#[test]
fn the_page_on_getting_started_shows_real_sessions() {
    runs_as_shown("docs/getting-started.md", 10);
}

#[test]
fn the_pages_on_concepts_show_real_sessions() {
    runs_as_shown("docs/concepts/reservoirs.md", 2);
    runs_as_shown("docs/concepts/stacks.md", 2);
    runs_as_shown("docs/concepts/teaching.md", 1);
    runs_as_shown("docs/concepts/proving.md", 2);
}

#[test]
fn the_page_on_grammars_shows_real_sessions() {
    runs_as_shown("docs/grammars.md", 12);
}

#[test]
fn the_page_on_texts_for_testers_shows_real_sessions() {
    runs_as_shown("docs/texts.md", 12);
}

#[test]
fn the_page_on_certificates_shows_real_sessions() {
    runs_as_shown("docs/certificates.md", 6);
}

#[test]
fn the_page_on_reading_back_shows_real_sessions() {
    runs_as_shown("docs/reading-back.md", 6);
}

#[test]
fn the_page_on_traces_shows_real_sessions() {
    runs_as_shown("docs/traces.md", 15);
}

#[test]
fn the_page_on_inferring_shows_real_sessions() {
    runs_as_shown("docs/infer.md", 23);
}

#[test]
fn the_pages_on_comparing_show_real_sessions() {
    runs_as_shown("docs/compare.md", 6);
    runs_as_shown("docs/compare-formats.md", 3);
}

#[test]
fn the_page_on_language_models_shows_real_sessions() {
    runs_as_shown("docs/constrain.md", 5);
}

#[test]
fn the_page_on_tasks_runs_as_shown() {
    runs_as_shown("docs/add-a-task.md", 4);
}

#[test]
fn the_page_on_tables_shows_real_sessions() {
    runs_as_shown("docs/tables.md", 10);
}

#[test]
fn the_page_on_embedding_shows_real_sessions() {
    runs_as_shown("docs/embed.md", 9);
}

#[test]
#[ignore = "needs the program echostack-engine next to echostack"]
fn the_page_on_many_files_shows_real_sessions() {
    runs_as_shown("docs/scale.md", 11);
}

/// A table gives the same verdicts as its machine, also on a stream, wherever the stream is cut.
#[test]
fn a_table_takes_the_place_of_its_machine() {
    let folder = tempfile::tempdir().unwrap();
    let model = learned(folder.path(), &["task:anbn", "--prove"]);
    let table = folder.path().join("t").display().to_string();
    good(&["compile", &model, "-o", &table]);
    let same = |input: &[u8], more: &[&str]| {
        let [first, second] = [&model, &table].map(|path| echostack(&[&["check", path], more].concat(), input));
        assert_eq!((text(&first.stdout), first.status.code()), (text(&second.stdout), second.status.code()));
        text(&second.stdout)
    };
    same(b"a a b b\n\na a b a b\na a b\n", &[]);
    same(b"a a b b\r\n  a b  ", &["--json"]);
    same(b"", &[]);
    same("aab\u{e9}\nab\n".as_bytes(), &["--chars"]);
    same(b"a \xff b\n", &["--chars"]);
    assert!(same(b"a abc b\n", &[]).contains("unexpected abc"));
    // Longer than the read buffer, with tokens that cross its boundary.
    let long: Vec<u8> = [b"a ".repeat(70_001), b"  b".repeat(70_001)].concat();
    assert_eq!(same(&long, &[]), "-:1: accept\n");
    assert!(same(&long, &["--max-depth", "50000"]).contains("the limit on depth was reached"));
    let [trees, same_trees] = [&model, &table].map(|path| echostack(&["parse", path], b"a a b b\na b\n").stdout);
    assert_eq!(text(&trees), text(&same_trees));
    assert_eq!(json(&["evaluate", &table, "--against", "task:anbn", "--count", "50", "--json"])["random_wrong"], 0);
    let output = echostack(&["inspect", &table], b"");
    assert!(text(&output.stdout).contains("states"), "{}", text(&output.stderr));
}

/// Replaces each number before " ms" by N, because times differ from run to run, and so do the numbers of texts in a comparison,
/// because a program on a busy computer can take too long to answer.
fn without_times(text: &str) -> String {
    let text = text.replace(" text seen", " texts seen").replace(" text in ", " texts in ");
    let numbers = [" ms", " texts seen", " queries for ", " texts in "];
    numbers.iter().fold(text, |text, after| {
        let parts: Vec<&str> = text.split(after).collect();
        let (last, firsts) = parts.split_last().unwrap();
        let cut = |part: &&str| part.trim_end_matches(|c: char| c.is_ascii_digit()).to_string() + "N" + after;
        firsts.iter().map(cut).collect::<String>() + last
    })
}
