//! Tests of texts for testers: each is what it claims to be, as a judge sees it, and coverage is what parse trees show.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use echostack_grammar::{
    Cover, Encoding, Grammar, Judge, Lexer, ParsedNode, Subject, TextEdit, TextKind, TextParams, TextSampler,
};

/// Returns the folders with grammars in testdata that the judge can be made for in a moment.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata"));
    let all = ["grammars", "wild"].into_iter().flat_map(|name| std::fs::read_dir(root.join(name)).unwrap());
    let mut all: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    all.sort();
    assert!(all.len() > 15);
    all
}

fn subjects() -> impl Iterator<Item = Subject> {
    let own = OWN.iter().map(|&(name, yacc, lexer)| own(name, yacc, lexer));
    folders().into_iter().map(|path| Subject::open_grammar(&path, Encoding::Auto).unwrap()).chain(own)
}

fn own(name: &str, yacc: &str, lexer: &str) -> Subject {
    let grammar = Grammar::new(name, yacc, Encoding::Auto).unwrap();
    Subject::of_grammar(grammar, Some(Lexer::new(lexer).unwrap()))
}

/// Small grammars whose lexers make it hard to spell words.
const OWN: &[(&str, &str, &str)] = &[
    // Operators that run together, and a number that goes on after a dot.
    (
        "operators",
        "%token n PLUS INC DOT RANGE LESS SHIFT\n%%\nS: S o n | n;\no: PLUS | INC | DOT | RANGE | LESS | SHIFT | PLUS PLUS | DOT DOT;\n",
        "%%\n[0-9]+(\\.[0-9]+)? \"n\"\n\\+ \"PLUS\"\n\\+\\+ \"INC\"\n\\. \"DOT\"\n\\.\\. \"RANGE\"\n\\< \"LESS\"\n\\<< \"SHIFT\"\n[ \\n]+ ;\n",
    ),
    // What is skipped is a comment only, in a start state of its own.
    (
        "comments",
        "%token w\n%%\nS: S w | w;\n",
        "%option noyywrap\n%x C\n%%\n[a-z]+ return w;\n\"/*\" BEGIN(C);\n<C>\"*/\" BEGIN(INITIAL);\n<C>[^*]+ ;\n<C>\"*\" ;\n%%\n",
    ),
    // A slash might begin a comment, many bytes before it turns out not to.
    (
        "slashes",
        "%token w SLASH STAR\n%%\nS: S o w | w;\no: SLASH | STAR | SLASH STAR;\n",
        "%%\n[a-z*]+b \"w\"\n/ \"SLASH\"\n\\* \"STAR\"\n/\\*([^*]|\\*+[^*/])*\\*+/ ;\n[ ]+ ;\n",
    ),
    // Two names in a row cannot be separated, and the resolution of conflicts forbids some derivations.
    (
        "inseparable",
        "%token w x\n%nonassoc '<'\n%left '-'\n%%\nS: S '-' S | S '<' S | w | x | w w | w x;\n",
        "%%\n[a-m]+ \"w\"\n[n-z] \"x\"\n\\< \"<\"\n- \"-\"\n",
    ),
    // A string in parts, with expressions inside of it.
    (
        "holes",
        "%token w OPEN CLOSE PART HOLE END\n%%\nE: w | OPEN parts CLOSE;\nparts: | parts PART | parts HOLE E END;\n",
        "%option noyywrap stack\n%x T\n%%\n[a-z]+ return w;\n\\\" { yy_push_state(T); return OPEN; }\n<T>\\\" { yy_pop_state(); return CLOSE; }\n<T>[^\"$]+ return PART;\n<T>\"${\" { yy_push_state(INITIAL); return HOLE; }\n\"}\" { yy_pop_state(); return END; }\n[ \\n]+ ;\n%%\n",
    ),
    // Nothing, in many ways.
    ("nothing", "%token w\n%%\nS: S T | ;\nT: w U;\nU: V W;\nV: ;\nW: ;\n", "%%\nw \"w\"\n"),
];

/// Returns the number of texts to draw: this many, or as many as the environment variable `ECHOSTACK_TEXTS` says.
fn count(default: usize) -> usize {
    std::env::var("ECHOSTACK_TEXTS").map_or(default, |given| given.parse().unwrap())
}

fn judge(subject: &Subject) -> Judge {
    Judge::new(subject.table(&()).unwrap().into()).unwrap()
}

fn texts(subject: &Subject, kind: TextKind, seed: u64) -> TextSampler<'_> {
    let params = TextParams { kind, seed, tokens: 0..=40, ..TextParams::default() };
    TextSampler::new(subject.grammar().unwrap(), subject.lexer(), params)
}

#[test]
fn valid_texts_are_accepted() {
    for subject in subjects() {
        let (judge, grammar) = (judge(&subject), subject.grammar().unwrap());
        let drawn: Vec<String> = texts(&subject, TextKind::Valid, 1).take(count(300)).map(|text| text.text).collect();
        // Up to 40 tokens, of which there is one only.
        assert_eq!(drawn.len(), if subject.name() == "nothing" { 41 } else { count(300) }, "{}", subject.name());
        assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), drawn.len());
        for text in &drawn {
            judge.check(text).unwrap_or_else(|judgement| panic!("{}: {text:?}: {judgement}", subject.name()));
            let (lexemes, fault) = judge.tokens(text);
            let names = grammar.table().names();
            let word: Option<Vec<usize>> =
                lexemes.iter().map(|lexeme| names.iter().position(|name| name == lexeme.name)).collect();
            assert!(fault.is_none() && grammar.table().accepts(&word.unwrap()), "{}: {text:?}", subject.name());
            assert!(lexemes.len() <= 40);
        }
    }
}

#[test]
fn near_misses_are_rejected_where_they_say() {
    for subject in subjects() {
        let judge = judge(&subject);
        let mut seen = BTreeSet::new();
        for text in texts(&subject, TextKind::NearMiss, 2).take(count(500)) {
            let (edit, fault) = text.mistake.unwrap();
            let judgement = judge.check(&text.text).expect_err(&text.text);
            let judged = judgement.fault.unwrap();
            assert_eq!((fault.byte, &fault.kind), (judged.byte, &judged.kind), "{}: {:?}", subject.name(), text.text);
            assert_eq!(fault.place, judged.place);
            seen.insert(edit.name());
        }
        // Where there is one token only, none of its edits but the removal of all tokens is a mistake.
        assert!(seen.len() > if subject.name() == "nothing" { 0 } else { 3 }, "{}: {seen:?}", subject.name());
        assert!(seen.len() <= TextEdit::ALL.len());
    }
}

#[test]
fn the_same_seed_leads_to_the_same_texts() {
    for subject in subjects() {
        for kind in [TextKind::Valid, TextKind::NearMiss] {
            let some = |seed| texts(&subject, kind, seed).take(30).collect::<Vec<_>>();
            assert_eq!(some(7), some(7));
            assert_ne!(some(7), some(8), "{}", subject.name());
        }
        let covering = || texts(&subject, TextKind::Valid, 7).cover(Cover::Pairs).unwrap().collect::<Vec<_>>();
        assert_eq!(covering(), covering());
    }
}

/// A production as its names.
type Names = (String, Vec<String>);

fn names(node: ParsedNode<'_>) -> Names {
    (node.kind().to_string(), node.children().map(|child| child.kind().to_string()).collect())
}

/// Adds each node of a tree as a production, and as a pair with its parent.
fn add(node: ParsedNode<'_>, above: Option<(Names, usize)>, used: &mut BTreeSet<(Option<(Names, usize)>, Names)>) {
    // A token has no children, and its kind is not that of a rule.
    let own = names(node);
    for (place, child) in node.children().enumerate() {
        add(child, Some((own.clone(), place)), used);
    }
    used.insert((above, own));
}

/// Returns the pairs of productions that texts use, as their parse trees show.
fn used<'t>(
    subject: &Subject,
    judge: &Judge,
    texts: impl Iterator<Item = &'t str>,
) -> BTreeSet<(Option<(Names, usize)>, Names)> {
    let mut used = BTreeSet::new();
    for text in texts {
        add(judge.parse(text).unwrap().root(), None, &mut used);
    }
    let table = subject.grammar().unwrap().table();
    let name = |symbol: usize| table.names()[symbol].clone();
    let productions: BTreeSet<Names> = table
        .productions()
        .iter()
        .map(|production| (name(production.left), production.right.iter().map(|&symbol| name(symbol)).collect()))
        .collect();
    used.retain(|(_, own)| productions.contains(own));
    used
}

#[test]
fn coverage_is_what_parse_trees_show() {
    for subject in subjects() {
        let judge = judge(&subject);
        let mut covering = texts(&subject, TextKind::Valid, 3).cover(Cover::Productions).unwrap();
        let drawn: Vec<String> = covering.by_ref().map(|text| text.text).collect();
        let coverage = covering.coverage();
        let productions: BTreeSet<Names> =
            used(&subject, &judge, drawn.iter().map(String::as_str)).into_iter().map(|(_, own)| own).collect();
        // Rules that occur twice count twice, but no tree shows which was used.
        let table = subject.grammar().unwrap().table();
        let distinct: BTreeSet<(usize, &[usize])> =
            table.productions().iter().map(|production| (production.left, &production.right[..])).collect();
        assert_eq!(distinct.len(), table.productions().len(), "{}", subject.name());
        assert_eq!(productions.len(), coverage.reached, "{}", subject.name());
        let lists = [&coverage.forbidden, &coverage.unwritable, &coverage.missing];
        assert_eq!(coverage.reached + lists.map(Vec::len).iter().sum::<usize>(), coverage.total);
        let inseparable = if subject.name() == "inseparable" { &["S: \"w\" \"w\""][..] } else { &[] };
        assert_eq!(coverage.missing, inseparable, "{}: {coverage:?}", subject.name());

        let mut covering = texts(&subject, TextKind::Valid, 3).cover(Cover::Pairs).unwrap();
        let drawn: Vec<String> = covering.by_ref().map(|text| text.text).collect();
        let pairs = used(&subject, &judge, drawn.iter().map(String::as_str));
        assert_eq!(pairs.len(), covering.coverage().reached, "{}", subject.name());
        // Each text uses something that those before it did not.
        let mut before = 0;
        for count in 1..=drawn.len().min(30) {
            let now = used(&subject, &judge, drawn[..count].iter().map(String::as_str)).len();
            assert!(now > before, "{}", subject.name());
            before = now;
        }
    }
}

#[test]
fn exactly_the_pairs_that_some_short_word_uses_are_reached() {
    let grammars = [
        "%left '+'\n%right '^'\n%nonassoc '<'\n%%\nE: E '+' E | E '^' E | E '<' E | 'n';\n",
        "%expect 1\n%%\nS: 'i' S | 'i' S 'e' S | 'x';\n",
        "%%\nS: A 'x' | B 'y';\nA: 'a' C | ;\nB: 'b' C;\nC: | 'c' C;\n",
        "%left '+'\n%left '*'\n%precedence '-'\n%%\nS: E | S ';' E;\nE: E '+' E | E '*' E | '-' E | 'n';\n",
    ];
    for yacc in grammars {
        let grammar = Grammar::new("small", yacc, Encoding::Auto).unwrap();
        let letters: Vec<String> = grammar.table().names()[..grammar.table().terminals()].to_vec();
        let mut lexer = "%%\n".to_string();
        letters.iter().for_each(|letter| writeln!(lexer, "[{letter}] \"{letter}\"").unwrap());
        let lexer = lexer.replace("[^]", "\\^").replace("[-]", "-");
        let subject = Subject::of_grammar(grammar, Some(Lexer::new(&lexer).unwrap()));
        let judge = judge(&subject);
        // Every text of up to seven letters that is valid.
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..7 {
            let end = all.len();
            for number in from..end {
                letters.iter().for_each(|letter| all.push(format!("{}{letter}", all[number])));
            }
            from = end;
        }
        all.retain(|text| judge.check(text).is_ok());
        let expected = used(&subject, &judge, all.iter().map(String::as_str));
        let mut covering = texts(&subject, TextKind::Valid, 5).cover(Cover::Pairs).unwrap();
        let drawn: Vec<String> = covering.by_ref().map(|text| text.text).collect();
        assert_eq!(used(&subject, &judge, drawn.iter().map(String::as_str)), expected, "{yacc}");
        let coverage = covering.coverage();
        assert_eq!(coverage.reached, expected.len());
        assert!(coverage.missing.is_empty(), "{yacc}: {:?}", coverage.missing);
        assert!(drawn.len() <= expected.len());
    }
}

#[test]
fn spliced_texts_are_valid_and_new() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/json"));
    let subject = Subject::open_grammar(path, Encoding::Auto).unwrap();
    let judge = judge(&subject);
    let examples = ["[1, -2.5e+3, \"x\"]", "{\"a\": {\"b\": [null, true]}}", " { \"key\" : [ ] } ", "[[],[[]]]"];
    let mut texts = texts(&subject, TextKind::Spliced, 4);
    for example in examples {
        texts.add_example(example).unwrap();
    }
    let fault = texts.add_example("[1, }").unwrap_err();
    assert_eq!((fault.byte, fault.place.line, fault.place.column), (4, 1, 5));
    let drawn: Vec<String> = texts.take(200).map(|text| text.text).collect();
    assert_eq!(drawn.len(), 200);
    for text in &drawn {
        judge.check(text).unwrap();
        assert!(!examples.contains(&text.as_str()));
        // Nothing comes from anywhere else.
        assert!(text.split(['[', ']', '{', '}', ',', ':', ' ']).all(|part| examples.concat().contains(part)), "{text}");
    }
    assert!(drawn.iter().any(|text| text.contains("\"key\"") && text.contains("-2.5e+3")));
}

#[test]
fn lengths_are_as_asked_for() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/lua"));
    let subject = Subject::open_grammar(path, Encoding::Auto).unwrap();
    let judge = judge(&subject);
    for (tokens, characters) in
        [(5..=8, 0..=usize::MAX), (0..=1000, 200..=220), (100..=120, 0..=usize::MAX), (0..=9, 0..=30)]
    {
        let params = TextParams { tokens: tokens.clone(), characters: characters.clone(), ..TextParams::default() };
        let texts = TextSampler::new(subject.grammar().unwrap(), subject.lexer(), params);
        let drawn: Vec<String> = texts.take(50).map(|text| text.text).collect();
        assert_eq!(drawn.len(), 50, "{tokens:?} {characters:?}");
        for text in drawn {
            assert!(tokens.contains(&judge.tokens(&text).0.len()));
            assert!(characters.contains(&text.chars().count()));
        }
    }
}

#[test]
fn without_a_lexer_texts_are_names() {
    let grammar = Grammar::new("sums", "%token NUM\n%%\nS: S '+' NUM | NUM;\n", Encoding::Auto).unwrap();
    let oracle = |text: &str| text.split(" + ").all(|part| part == "NUM");
    let kinds = [(TextKind::Valid, true), (TextKind::NearMiss, false)];
    for (kind, valid) in kinds {
        let params = TextParams { kind, ..TextParams::default() };
        let drawn: Vec<_> = TextSampler::new(&grammar, None, params).take(20).collect();
        assert_eq!(drawn.len(), 20);
        assert!(drawn.iter().all(|text| oracle(&text.text) == valid && text.mistake.is_none() == valid), "{drawn:?}");
    }
}

#[test]
fn hostile_grammars_lead_to_no_text_but_to_an_end() {
    // The shortest word has 2^70 tokens.
    let mut long = "%%\nA0: A1 A1;\n".to_string();
    (1..70).for_each(|n| writeln!(long, "A{n}: A{} A{};", n + 1, n + 1).unwrap());
    long += "A70: 'x';\n";
    let unlexed = "%%\nS: 'a' | 'b' S;\n".to_string();
    // It has 2^19 tokens: more than are asked for, but few enough to be written a thousand times.
    let mut few = "%%\nA0: A1 A1;\n".to_string();
    (1..19).for_each(|n| writeln!(few, "A{n}: A{} A{};", n + 1, n + 1).unwrap());
    few += "A19: 'x';\n";
    let x = "%%\nx \"x\"\n";
    for (yacc, lexer) in [(long, x), (few, x), (unlexed, "%%\nb \"b\"\n")] {
        let grammar = Grammar::new("hostile", &yacc, Encoding::Auto).unwrap();
        let lexer = Lexer::new(lexer).unwrap();
        for kind in TextKind::ALL {
            let params = TextParams { kind, tokens: 0..=1000, ..TextParams::default() };
            assert_eq!(TextSampler::new(&grammar, Some(&lexer), params).next(), None);
        }
        let mut covering = TextSampler::new(&grammar, Some(&lexer), TextParams::default()).cover(Cover::Pairs).unwrap();
        assert_eq!(covering.next(), None);
        assert_eq!(covering.coverage().reached, 0);
    }
}

#[test]
fn hostile_lexers_do_not_take_long() {
    let lexers = [
        // 2^40 ways lead to the end of the first rule, and the second one keeps their states apart.
        "%%\n[ab]{40}x \"p\"\n[ab]*aa[ab]*y \"q\"\n[ ]+ ;\n",
        // Long strings.
        "%%\n[a-z]{3000} \"p\"\n[0-9]{2000,4000} \"q\"\n[ ]+ ;\n",
        // Each token may turn out to be the beginning of a long one.
        "%%\nq \"q\"\nq[^@]*@ \"p\"\n[ ]+ ;\n",
    ];
    for lexer in lexers {
        let subject = own("hostile", "%token p q\n%%\nS: p | q | q S;\n", lexer);
        let judge = judge(&subject);
        let drawn: Vec<String> = texts(&subject, TextKind::Valid, 1).take(20).map(|text| text.text).collect();
        assert_eq!(drawn.len(), 20, "{lexer}");
        drawn.iter().for_each(|text| assert!(judge.check(text).is_ok(), "{text}"));
        assert!(texts(&subject, TextKind::NearMiss, 1).take(5).all(|text| judge.check(&text.text).is_err()));
    }
}

#[test]
fn tokens_of_start_states_that_no_text_leads_to_are_unwritable() {
    let lexer = "%option noyywrap\n%x C\n%%\n[a-z]+ return w;\n<C>z return z;\n[ \\n]+ ;\n%%\n";
    let subject = own("unreached", "%token w z\n%%\nS: w | S z | S w;\n", lexer);
    let mut covering = texts(&subject, TextKind::Valid, 1).cover(Cover::Productions).unwrap();
    assert!(covering.by_ref().count() > 0);
    let coverage = covering.coverage();
    assert_eq!((coverage.reached, &coverage.unwritable[..]), (2, &["S: S \"z\"".to_string()][..]));
}

#[test]
fn covering_texts_have_the_lengths_that_are_asked_for() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/grammars/lua"));
    let subject = Subject::open_grammar(path, Encoding::Auto).unwrap();
    let judge = judge(&subject);
    for (tokens, is_enough) in [(0..=3, false), (0..=200, true), (100..=200, true)] {
        let params = TextParams { tokens: tokens.clone(), ..TextParams::default() };
        let sampler = TextSampler::new(subject.grammar().unwrap(), subject.lexer(), params);
        let mut covering = sampler.cover(Cover::Productions).unwrap();
        assert!(covering.by_ref().all(|text| tokens.contains(&judge.tokens(&text.text).0.len())), "{tokens:?}");
        let missing = covering.coverage().missing;
        assert_eq!(missing.is_empty(), is_enough, "{tokens:?}: {missing:?}");
    }
}
