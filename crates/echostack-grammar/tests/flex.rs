//! Tests of lexers in the dialect of flex.

mod programs;

use std::fmt::Write;

use echostack_grammar::Lexer;
use programs::run;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the tokens of a text as names and texts, and an exclamation mark where no token begins.
fn tokens(lexer: &Lexer, text: &str) -> String {
    let (lexemes, fault) = lexer.tokens(text);
    let mut shown: Vec<String> =
        lexemes.iter().map(|lexeme| format!("{}:{}", lexeme.name, &text[lexeme.start..lexeme.end])).collect();
    shown.extend(fault.map(|_| "!".to_string()));
    shown.join(" ")
}

fn read(rules: &str) -> Lexer {
    let source = format!("%option noyywrap\nDIGIT [0-9]\nWORD ({{DIGIT}}|[[:alpha:]])+\n%x S\n%s T\n%%\n{rules}\n");
    Lexer::new(&source).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn patterns_are_those_of_flex() {
    for (pattern, text, expected) in [
        (r#""a.b"*"#, "a.ba.b", "X:a.ba.b"),
        (r#""a\"\n""#, "a\"\n", "X:a\"\n"),
        (r"a*", "aa", "X:aa"),
        (r"{DIGIT}{2,3}", "1234", "X:123 !"),
        (r"{DIGIT}{2,}", "12345", "X:12345"),
        (r"{DIGIT}{2}", "123", "X:12 !"),
        (r"{WORD}-", "a1-", "X:a1-"),
        (r"a+?b", "aab", "X:aab"),
        (r"ab|cd", "cd", "X:cd"),
        (r"(a|b)+", "abba", "X:abba"),
        (r"[]a-]+", "]a-", "X:]a-"),
        (r"[^]a]+", "b]", "X:b !"),
        (r"[[:digit:][:upper:]_]+", "A1_a", "X:A1_ !"),
        (r"[[:^digit:]]", "é", "X:é"),
        (r"[a-z]{-}[aeiou]{+}[0-9]+", "b1a", "X:b1 !"),
        (r".+", "ab\n", "X:ab !"),
        (r"(?s:.)+", "a\nb", "X:a\nb"),
        (r"(?i:if)", "iF", "X:iF"),
        (r"(?i:a(?-i:b)[c-d])", "AbD", "X:AbD"),
        (r"a(?# a comment)b", "ab", "X:ab"),
        (r"\x41\101\.\{\*", "AA.{*", "X:AA.{*"),
        (r"[\x80-\xff]+", "éa", "X:é !"),
        (r"[\0-\177]+", "aé", "X:a !"),
        (r"a$b", "a$b", "X:a$b"),
        (r"é+", "éé", "X:éé"),
        (r#"[ "]+"#, "\" \"", "X:\" \""),
    ] {
        let lexer = read(&format!("{pattern}  {{ return X; }}"));
        assert_eq!(tokens(&lexer, text), expected, "{pattern}");
    }
}

#[test]
fn actions_say_which_token_and_which_state() {
    let lexer = read(
        r#"
    int local = 0;
%{
    /* code before the first rule */
%}
a       |
b       return(A);
"c"     { if (local) { puts("}"); } return A; /* return B; */ }
d       { return yy::parser::token::D; }
e       return yy::parser::make_E (loc);
[+*/-]  { return (int) yytext[0]; }
\n      return '\n';
"("     { yy_push_state(S); return *yytext; }
"<"     BEGIN T;
" "     /* skipped */
<S>{
    ")"     { yy_pop_state(); return ')'; }
    /* a comment */
    [^)]+   ECHO;
}
<T>">"  { BEGIN(0); }
<T>x    %{
            return X;
        %}
<*>"~"  return TILDE;
<<EOF>> { yyterminate(); }
%%
int main() { return yylex(); } "#,
    );
    let text = "abc de+\n(~)< x~>";
    assert_eq!(tokens(&lexer, text), "A:a A:b A:c D:d E:e +:+ \\n:\n (:( ):) X:x TILDE:~");
    // Without the start state T, there is no x; in S, the longest match counts, not the tilde.
    assert_eq!(tokens(&lexer, "x"), "!");
    let warnings: Vec<String> = lexer.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["32:1: rules for <<EOF>> are left out: the end of the text is the end of the word"]);
    let lexer = Lexer::new("%option case-insensitive\n%%\nif { return IF; }\n").unwrap();
    assert_eq!(tokens(&lexer, "iFIf"), "IF:iF IF:If");
}

#[test]
fn definitions_that_double_each_other_are_refused() {
    let mut doubling = "A0 a\n".to_string();
    (1..60).for_each(|level| writeln!(doubling, "A{level} {{A{}}}{{A{}}}", level - 1, level - 1).unwrap());
    let error = Lexer::new(&format!("{doubling}%%\n{{A59}} return X;\n")).unwrap_err().to_string();
    assert!(error.contains("the patterns have more than 65536 parts"), "{error}");
}

/// Writes a random pattern.
fn pattern(random: &mut ChaCha8Rng, depth: usize) -> String {
    let atoms = [
        "a",
        "b",
        "c",
        "\"ab\"",
        "\"a\\n\"",
        "[ab]",
        "[^a]",
        ".",
        "\\n",
        "{D}",
        "[a-c]{-}[b]",
        "(?i:a)",
        "[[:lower:]]",
    ];
    if depth == 0 {
        return atoms[random.random_range(0..atoms.len())].to_string();
    }
    let mut inner = || pattern(random, depth - 1);
    let (one, other) = (inner(), inner());
    match random.random_range(0..8) {
        0 => format!("({one}|{other})"),
        1 => format!("({one})*"),
        2 => format!("({one})+?"),
        3 => format!("({one}){{1,2}}"),
        4 => format!("({one})?{other}"),
        _ => format!("{one}{other}"),
    }
}

#[test]
#[ignore = "needs flex and a C compiler"]
fn tokens_are_those_of_flex() {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let folder = tempfile::tempdir().unwrap();
    let (mut compared, mut found) = (0, 0);
    for _ in 0..150 {
        let mut rules = String::new();
        for number in 0..random.random_range(1..4) {
            writeln!(rules, "{} return T{number};", pattern(&mut random, 3)).unwrap();
        }
        let main = "int main(void) { int t; while ((t = yylex())) printf(\"T%d:%d \", t - 1, yyleng); return 0; }";
        let source = format!(
            "%option noyywrap\n%{{\nenum {{ T0 = 1, T1, T2, T3 }};\n%}}\nD [bc]\n%%\n{rules}.|\\n return T3;\n%%\n{main}\n"
        );
        let Ok(lexer) = Lexer::new(&source) else { continue };
        std::fs::write(folder.path().join("lexer.l"), &source).unwrap();
        run(folder.path(), "flex", &["-w", "lexer.l"], "").unwrap();
        run(folder.path(), "cc", &["-w", "-o", "lexer", "lex.yy.c"], "").unwrap();
        for _ in 0..10 {
            let letters = ['a', 'b', 'c', 'A', '\n', ' '];
            let length = random.random_range(0..40);
            let text: String = (0..length).map(|_| letters[random.random_range(0..letters.len())]).collect();
            let (expected, _) = run(folder.path(), "./lexer", &[], &text).unwrap();
            let (lexemes, fault) = lexer.tokens(&text);
            let own: Vec<String> =
                lexemes.iter().map(|lexeme| format!("{}:{} ", lexeme.name, lexeme.end - lexeme.start)).collect();
            assert_eq!((own.concat(), fault), (expected, None), "{source}\n{text:?}");
            found += lexemes.len();
        }
        compared += 1;
    }
    println!("{compared} lexers, {found} tokens");
    assert!(compared > 50);
}

#[test]
fn a_damaged_lexer_leads_to_a_value() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/wild");
    let mut random = ChaCha8Rng::seed_from_u64(24);
    let parts =
        ["{", "}", "\"", "'", "[", "]", "(", ")", "<", ">", "%%", "%{", "%}", "/*", "\\", "|", "\n", "é", "\0", "*"];
    let (mut lexers, mut errors) = (0, 0);
    for name in ["calculator", "conf", "filter", "shell", "sql", "statements"] {
        let source = std::fs::read_to_string(folder.join(name).join("lexer.l")).unwrap();
        for _ in 0..60 {
            let mut text = source.clone();
            for _ in 0..random.random_range(1..3) {
                let from = random.random_range(0..text.len());
                let from = (0..=from).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                let to = text.len().min(from + random.random_range(0..3));
                let to = (to..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(from);
                text.replace_range(from..to, parts[random.random_range(0..parts.len())]);
            }
            *if Lexer::new(&text).is_ok() { &mut lexers } else { &mut errors } += 1;
        }
    }
    assert!(lexers > 40 && errors > 40, "{lexers} lexers and {errors} errors");
}
