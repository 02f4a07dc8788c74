//! Languages whose tokens are given, learned by both learners, and positions of failures.

use std::sync::atomic::{AtomicUsize, Ordering};

use echostack_infer::program::{Program, Reply};
use echostack_infer::{Ending, InferError, Inferred, Settings, infer};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn given(lexer: &str, reductions: bool) -> Settings {
    Settings { lexer: Some(lexer.to_string()), reductions, tests: 1000, ..Settings::default() }
}

/// Compares a language with its oracle on all strings of some tokens, with spaces between them.
fn agree(inferred: &Inferred, oracle: &dyn Fn(&str) -> bool, tokens: &[&str], longest: usize) {
    let language = inferred.language().unwrap();
    let mut layer = vec![Vec::new()];
    for _ in 0..=longest {
        for word in &layer {
            let text = word.join(" ");
            assert_eq!((inferred.accepts(&text), language.accepts(&text)), (oracle(&text), oracle(&text)), "{text:?}");
        }
        layer = layer
            .iter()
            .flat_map(|word| tokens.iter().map(move |&token| [word.as_slice(), &[token]].concat()))
            .collect();
    }
}

const LISTS: &str = "%%\n[a-z]+ \"NAME\"\n\\[ \"[\"\n\\] \"]\"\n, \",\"\n[ ]+ ;\n";

/// Lists of names in brackets, such as `[ a , [ ] ]`.
fn lists(text: &str) -> bool {
    fn item<'t>(mut tokens: &'t [&'t str]) -> Option<&'t [&'t str]> {
        let (&first, rest) = tokens.split_first()?;
        if first != "[" {
            return Some(rest).filter(|_| first.chars().all(char::is_alphabetic));
        }
        tokens = rest;
        if tokens.first() == Some(&"]") {
            return Some(&tokens[1..]);
        }
        loop {
            tokens = item(tokens)?;
            let (&next, rest) = tokens.split_first()?;
            match next {
                "," => tokens = rest,
                "]" => return Some(rest),
                _ => return None,
            }
        }
    }
    let tokens: Vec<&str> = text.split_whitespace().collect();
    item(&tokens).is_some_and(<[&str]>::is_empty)
}

#[test]
fn given_tokens_are_used_as_they_are() {
    let examples = texts(&["ab", "[ ]", "[ x ]", "[ a , b ]", "[ a , [ c , d ] ]"]);
    let inferred = infer(&examples, &lists, &given(LISTS, false), &()).unwrap();
    assert_eq!(*inferred.ending(), Ending::Settled);
    let files = inferred.language().unwrap().files();
    assert_eq!(files.lexer, LISTS);
    assert!(files.grammar.contains("Brackets: '[' ']'") && files.grammar.contains("'NAME'"), "{}", files.grammar);
    agree(&inferred, &lists, &["a", "[", "]", ","], 6);
}

/// Palindromes with a center.
fn palindromes(text: &str) -> bool {
    let word: Vec<&str> = text.split_whitespace().collect();
    let center = word.len() / 2;
    word.len() % 2 == 1
        && word.iter().eq(word.iter().rev())
        && word.iter().enumerate().all(|(at, token)| if at == center { *token == "c" } else { "ab".contains(token) })
}

const PALINDROMES: &str = "%%\na \"a\"\nb \"b\"\nc \"c\"\n[ ]+ ;\n";

#[test]
fn palindromes_are_learned_as_reductions() {
    let examples = texts(&["c", "a c a", "b a c a b", "a a c a a", "b b c b b", "a b c b a"]);
    let inferred = infer(&examples, &palindromes, &given(PALINDROMES, true), &()).unwrap();
    assert_eq!(*inferred.ending(), Ending::Settled, "{:?}", inferred.log());
    agree(&inferred, &palindromes, &["a", "b", "c"], 9);
    // The first learner has no visible brackets to find.
    let mut settings = given(PALINDROMES, false);
    settings.asking.queries = 12_000;
    let inferred = infer(&examples, &palindromes, &settings, &()).unwrap();
    assert!(matches!(inferred.ending(), Ending::NotSettled(_)));
}

/// Statements with a dangling else.
fn dangling(text: &str) -> bool {
    // Each `else` belongs to one `if` before it, as with brackets that need not be closed.
    let word: Vec<&str> = text.split_whitespace().collect();
    let (mut at, mut open) = (0, 0);
    loop {
        match word.get(at) {
            Some(&"if") => (at, open) = (at + 1, open + 1),
            Some(&"x") => {
                at += 1;
                match word.get(at) {
                    None => return true,
                    Some(&"else") if open > 0 => (at, open) = (at + 1, open - 1),
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
}

#[test]
fn a_dangling_else_is_learned_as_reductions_and_not_settled_as_modules() {
    let lexer = "%%\nif \"if\"\nelse \"else\"\nx \"x\"\n[ ]+ ;\n";
    let examples = texts(&["x", "if x", "if x else x", "if if x else x", "if if x else x else x", "if x else if x"]);
    let inferred = infer(&examples, &dangling, &given(lexer, true), &()).unwrap();
    assert_eq!(*inferred.ending(), Ending::Settled, "{:?}", inferred.log());
    agree(&inferred, &dangling, &["if", "else", "x"], 9);
    let mut settings = given(lexer, false);
    settings.asking.queries = 12_000;
    let inferred = infer(&examples, &dangling, &settings, &()).unwrap();
    assert!(matches!(inferred.ending(), Ending::NotSettled(_)), "{:?}", inferred.log());
}

#[test]
fn a_lexer_that_does_not_fit_is_refused() {
    let failed = |lexer: &str, reductions| infer(&texts(&["ab"]), &lists, &given(lexer, reductions), &()).unwrap_err();
    assert!(matches!(failed("%%\n[ \"A\"\n", false), InferError::Lexer(_)));
    assert!(matches!(failed("%%\na \"A\"\n", true), InferError::Unread { .. }));
    let settings = Settings { reductions: true, ..Settings::default() };
    assert!(matches!(infer(&texts(&["ab"]), &lists, &settings, &()), Err(InferError::NoLexer)));
}

/// An oracle that says where a text fails, with a shift by which it is wrong.
struct Places<'a> {
    asked: &'a AtomicUsize,
    early: usize,
}

/// Returns where a text of brackets around `x` fails.
fn place(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut done = false;
    for (at, letter) in text.chars().enumerate() {
        match letter {
            '(' if !done => depth += 1,
            'x' if !done => done = true,
            ')' if done && depth > 0 => depth -= 1,
            _ => return Some(at),
        }
    }
    (depth > 0 || !done).then(|| text.chars().count())
}

impl Program for Places<'_> {
    fn ask(&self, text: &str) -> Reply {
        self.asked.fetch_add(1, Ordering::Relaxed);
        place(text).map_or(Reply::Yes, |at| Reply::NoAt(at.saturating_sub(self.early)))
    }
}

#[test]
fn positions_save_queries_and_wrong_ones_are_noticed() {
    let examples = texts(&["x", "(x)", "((x))"]);
    let plain = infer(&examples, &|text: &str| place(text).is_none(), &Settings::default(), &()).unwrap();
    let asked = AtomicUsize::new(0);
    for early in [0, 1] {
        asked.store(0, Ordering::Relaxed);
        let inferred = infer(&examples, &Places { asked: &asked, early }, &Settings::default(), &()).unwrap();
        assert_eq!(*inferred.ending(), Ending::Settled);
        assert_eq!(inferred.language().unwrap().files().lexer, plain.language().unwrap().files().lexer);
        assert_eq!(asked.load(Ordering::Relaxed), inferred.queries());
        if early == 0 {
            assert!(inferred.derived() > 0 && inferred.queries() < plain.queries(), "{}", inferred.queries());
        } else {
            // The texts up to the character before the failure are not dead, which valid texts show.
            assert!(inferred.derived() == 0 && inferred.log()[0].contains("contradict"), "{:?}", inferred.log());
        }
        for text in ["x", "(((x)))", "(x", "x)", "()", ""] {
            assert_eq!(inferred.accepts(text), place(text).is_none(), "{text:?}");
        }
    }
}

/// Lists of names, numbers and two words, with spaces and comments between any of them.
fn records(text: &str) -> bool {
    let mut rest = text;
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let run = |is: fn(char) -> bool| rest.find(|letter| !is(letter)).unwrap_or(rest.len());
        let length = match first {
            '#' => run(|letter| letter != '\n'),
            'a'..='z' => run(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit()),
            '0'..='9' => run(|letter| letter.is_ascii_digit()),
            ' ' | '\n' | '[' | ']' | ',' | '=' => 1,
            _ => return false,
        };
        let (token, after) = rest.split_at(length);
        // A number must not touch a name.
        if first.is_ascii_digit() && after.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            return false;
        }
        if !matches!(first, ' ' | '\n' | '#') {
            tokens.push(match token {
                "on" | "off" => "value",
                _ if first.is_ascii_digit() => "value",
                _ if first.is_ascii_lowercase() => "name",
                _ => token,
            });
        }
        rest = after;
    }
    value(&tokens).is_some_and(<[&str]>::is_empty)
}

/// Returns the tokens after a value.
fn value<'t>(tokens: &'t [&'t str]) -> Option<&'t [&'t str]> {
    let (&first, mut rest) = tokens.split_first()?;
    match first {
        "value" => return Some(rest),
        "[" => {}
        _ => return None,
    }
    if rest.first() == Some(&"]") {
        return Some(&rest[1..]);
    }
    loop {
        let [name, equals, after @ ..] = rest else { return None };
        if (*name, *equals) != ("name", "=") {
            return None;
        }
        rest = value(after)?;
        let (&next, after) = rest.split_first()?;
        match next {
            "," => rest = after,
            "]" => return Some(after),
            _ => return None,
        }
    }
}

#[test]
fn tokens_are_found_before_there_is_a_grammar() {
    let examples = texts(&[
        "[]",
        "12",
        "[ retries = 3, verbose = on ]",
        "[x1=0,\n  inner = [ flag = off, deep = [ a = 7 ] ] # a comment\n]",
        "[size=100, off1 = off, other = [ ]]",
    ]);
    let settings = Settings { tokens: true, tests: 1000, ..Settings::default() };
    let inferred = infer(&examples, &records, &settings, &()).unwrap();
    assert_eq!(*inferred.ending(), Ending::Settled, "{:?}", inferred.log());
    let lexer = &inferred.language().unwrap().files().lexer;
    for rule in ["\"NAME\"", "\"NUMBER\"", "off|on", "\\#[^\\n]* ;"] {
        assert!(lexer.contains(rule), "{rule}: {lexer}\n{:?}", inferred.log());
    }
    for text in ["[ on1 = 5 ]", "[onoff=off]", "[a=1,b=2]#c", "[ a = on#]\n]"] {
        assert!(records(text) && inferred.accepts(text), "{text:?}: {lexer}");
    }
    for text in ["[ on = 5 ]", "[ a = 1b ]", "[a=1 b=2]", "[a=[]", "name"] {
        assert!(!records(text) && !inferred.accepts(text), "{text:?}: {lexer}");
    }
}

/// Without spaces between tokens, characters are used.
#[test]
fn characters_are_used_if_no_tokens_are_found() {
    let sums = |text: &str| text.split('+').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
    let settings = Settings { tokens: true, tests: 500, ..Settings::default() };
    let inferred = infer(&texts(&["1", "12+3", "4+5+67"]), &sums, &settings, &()).unwrap();
    assert_eq!(*inferred.ending(), Ending::Settled);
    assert!(inferred.log()[0].contains("spaces can be inserted at few places only"), "{:?}", inferred.log());
}
