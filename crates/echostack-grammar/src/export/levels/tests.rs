//! Levels as people would write them, and random grammars whose words are listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use echostack::automaton::Part;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::lr::build::build;
use crate::rules::Rules;
use crate::text::error::GrammarError;
use crate::text::limits::GrammarLimits;
use crate::text::source::Source;

fn table(text: &str) -> Result<LrTable, GrammarError> {
    let source = Source { file: None, text };
    let rules = crate::yacc::reading::rules(source)?.0;
    Ok(build(source, &rules, &GrammarLimits::default())?.0)
}

/// Writes a grammar, one nonterminal in each line.
fn written(table: &LrTable, productions: &Productions) -> String {
    let part = |part: &Part| match *part {
        Part::Token(token) => table.names[token.index()].clone(),
        Part::Nonterminal(number) => productions.names[number].clone(),
    };
    let right = |parts: &Vec<Part>| parts.iter().map(part).collect::<Vec<_>>().join(" ");
    let rules = productions.names.iter().zip(&productions.rules);
    let line = |(name, own): (&String, &Vec<Vec<Part>>)| {
        format!("{name}: {}\n", own.iter().map(right).collect::<Vec<_>>().join(" | "))
    };
    rules.map(line).collect()
}

#[test]
fn levels_are_as_people_write_them() {
    for (text, expected) in EXAMPLES {
        let table = table(text).unwrap();
        let levels = levels(&table).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(written(&table, &levels), expected, "{text}");
        same_words(&table, &levels, 6, text);
    }
}

/// Returns the table of the rewritten grammar.
fn rewritten(table: &LrTable, levels: &Productions) -> LrTable {
    let productions = plain(levels, table.terminals);
    let rules = Rules::plain(table.terminals, levels.rules.len(), table.terminals, productions);
    let source = Source { file: None, text: "" };
    let (table, _) = build(source, &rules, &GrammarLimits::default()).unwrap();
    assert!(!table.has_resolutions);
    table
}

/// Compares the words of two parsers up to a length, or up to a shorter one if there are too many.
fn same_words(table: &LrTable, levels: &Productions, longest: usize, text: &str) {
    let other = rewritten(table, levels);
    for word in words(table.terminals, longest) {
        let accepted = table.accepts(&word);
        assert_eq!(accepted, other.accepts(&word), "{word:?}, {accepted}\n{text}\n{}", written(table, levels));
    }
}

/// Returns all words up to a length, or up to a shorter one if there are too many.
fn words(terminals: usize, longest: usize) -> Vec<Vec<usize>> {
    let (mut words, mut from) = (vec![Vec::new()], 0);
    for _ in 0..longest {
        if (words.len() - from) * terminals > 50_000 {
            break;
        }
        let longer = |word: &Vec<usize>| (0..terminals).map(|token| [&word[..], &[token]].concat()).collect::<Vec<_>>();
        let longer: Vec<Vec<usize>> = words[from..].iter().flat_map(longer).collect();
        from = words.len();
        words.extend(longer);
    }
    words
}

/// Lists the words of a grammar up to a length, by applying productions until there are no new ones.
fn derived(table: &LrTable, levels: &Productions, longest: usize) -> BTreeSet<Vec<usize>> {
    let mut known: Vec<BTreeSet<Vec<usize>>> = vec![BTreeSet::new(); levels.rules.len()];
    loop {
        let before: usize = known.iter().map(BTreeSet::len).sum();
        for production in plain(levels, table.terminals) {
            let mut words = BTreeSet::from([Vec::new()]);
            for &symbol in &production.right {
                let token = BTreeSet::from([vec![symbol]]);
                let next = if symbol < table.terminals { &token } else { &known[symbol - table.terminals] };
                let longer = words.iter().flat_map(|word: &Vec<usize>| {
                    let fitting = next.iter().filter(|more| word.len() + more.len() <= longest);
                    fitting.map(|more| [&word[..], more].concat())
                });
                words = longer.collect();
            }
            known[production.left - table.terminals].extend(words);
        }
        if known.iter().map(BTreeSet::len).sum::<usize>() == before {
            return known.swap_remove(0);
        }
    }
}

/// Right sides: t is a terminal, n a nonterminal, and x the nonterminal itself.
const OPERATORS: [&str; 10] = ["xtx", "xtx", "xtx", "tx", "tx", "xt", "txt", "xtxtx", "xtxt", "ttx"];
const OTHERS: [&str; 12] = ["n", "tn", "tnt", "tntn", "ntn", "nt", "xx", "nn", "tt", "t", "tnn", ""];

/// Draws a grammar with many conflicts and random precedences. Mostly, it has operators.
fn random_grammar(random: &mut ChaCha8Rng) -> String {
    let terminals = &["a", "b", "c", "d"][..random.random_range(2..=4)];
    let nonterminals = &["S", "A", "B"][..random.random_range(1..=3)];
    let mut declared = terminals.to_vec();
    declared.shuffle(random);
    declared.truncate(random.random_range(0..=declared.len() * 2));
    let mut text = "%expect 900 %expect-rr 900\n%token a b c d p\n%start S\n".to_string();
    let kinds = ["left", "right", "nonassoc", "precedence"];
    let levels: Vec<&[&str]> = declared.chunk_by(|_, _| random.random_bool(0.3)).collect();
    for levels in levels {
        writeln!(text, "%{} {}", kinds.choose(random).unwrap(), levels.join(" ")).unwrap();
    }
    text += "%%\n";
    let plain = random.random_bool(0.6);
    for &left in nonterminals {
        let mut shapes = vec!["t"];
        shapes.extend(OPERATORS.sample(random, 3).take(random.random_range(0..=3)));
        shapes.extend(OTHERS.sample(random, 2).filter(|_| !plain));
        if plain && left != "B" {
            shapes.push("tnt");
        }
        for shape in shapes {
            let mut symbol = |kind: char| match kind {
                'x' => left,
                'n' => nonterminals.choose(random).unwrap(),
                _ => terminals.choose(random).unwrap(),
            };
            let right: Vec<&str> = shape.chars().map(&mut symbol).collect();
            let lender = format!(" %prec {}", symbol('t'));
            let lent = if random.random_bool(0.2) { lender.as_str() } else { "" };
            writeln!(text, "{left}: {}{lent};", right.join(" ")).unwrap();
        }
    }
    text
}

/// Changes a grammar in one place, in a way that keeps its shape.
fn mutated(levels: &Levels, random: &mut ChaCha8Rng) -> Option<Levels> {
    let mut levels = levels.clone();
    let level = random.random_range(0..levels.symbols.len());
    let rules = &mut levels.productions.rules;
    let at = random.random_range(0..rules[level].len());
    if random.random_bool(0.4) {
        rules[level].remove(at);
        levels.origins[level].remove(at);
        return Some(levels);
    }
    if random.random_bool(0.3) {
        // An alternative of another level of the same nonterminal is added.
        let others = (0..rules.len()).filter(|&other| other != level && levels.symbols[other] == levels.symbols[level]);
        let other = *others.collect::<Vec<_>>().choose(random)?;
        let number = random.random_range(0..rules[other].len());
        let (parts, origin) = (rules[other][number].clone(), levels.origins[other][number]);
        if rules[level].contains(&parts) || parts == [Part::Nonterminal(level)] {
            return None;
        }
        rules[level].push(parts);
        levels.origins[level].push(origin);
        return Some(levels);
    }
    let places = (0..rules[level][at].len()).filter_map(|place| match rules[level][at][place] {
        Part::Nonterminal(number) => Some((place, number)),
        Part::Token(_) => None,
    });
    let (place, number) = *places.collect::<Vec<_>>().choose(random)?;
    let others = (0..levels.symbols.len()).filter(|&other| other != number);
    let others = others.filter(|&other| levels.symbols[other] == levels.symbols[number]);
    let other = *others.collect::<Vec<_>>().choose(random)?;
    rules[level][at][place] = Part::Nonterminal(other);
    Some(levels)
}

#[test]
fn random_grammars_have_the_same_words_and_changes_are_found() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let (mut mutations, mut different, mut not_shown) = (0, 0, 0);
    let count = std::env::var("ECHOSTACK_GRAMMARS").map_or(200, |count| count.parse().unwrap());
    let mut grammars = 0;
    while grammars < count {
        let text = random_grammar(&mut random);
        let Some(table) = table(&text).ok().filter(|table| table.has_resolutions) else { continue };
        grammars += 1;
        let found = levels(&table);
        let outcome = match &found {
            Ok(_) => "rewritten".to_string(),
            Err(LevelsError::Depends { .. }) => "depends on what follows".to_string(),
            Err(error) => format!("{error:?}"),
        };
        if std::env::var("ECHOSTACK_SHOW").is_ok_and(|show| outcome.contains(&show)) {
            println!("{outcome}\n{text}{:?}", found.as_ref().map(|levels| written(&table, levels)));
        }
        *outcomes.entry(outcome).or_default() += 1;
        let Ok(levels) = found else { continue };
        same_words(&table, &levels, if table.terminals > 3 { 6 } else { 7 }, &text);
        let longest = if table.terminals > 3 { 4 } else { 5 };
        let accepted: BTreeSet<Vec<usize>> =
            words(table.terminals, longest).into_iter().filter(|word| table.accepts(word)).collect();
        assert_eq!(derived(&table, &levels, longest), accepted, "{text}\n{}", written(&table, &levels));
        let levels = checked(&table).unwrap();
        for _ in 0..4 {
            let Some(mutated) = mutated(&levels, &mut random) else { continue };
            mutations += 1;
            let differs = derived(&table, &mutated.productions, longest) != accepted;
            let refused = same_actions::check(&table, &mutated).is_err();
            assert!(refused || !differs, "{text}\n{}", written(&table, &mutated.productions));
            different += usize::from(differs);
            not_shown += usize::from(refused && !differs);
        }
    }
    println!("{grammars} grammars: {outcomes:?}");
    println!("{mutations} changes: {different} found by listing words and refused, {not_shown} refused only");
    assert!(outcomes["rewritten"] > count / 2 && different > mutations / 2);
}

/// Grammars, and how they are rewritten.
const EXAMPLES: [(&str, &str); 10] = [
    (
        "%left '+' '-'\n%left '*' '/'\n%%\nexp: exp '+' exp | exp '-' exp | exp '*' exp | exp '/' exp | '(' exp ')' | 'n';",
        "exp: exp + term | exp - term | term\nterm: term * factor | term / factor | factor\nfactor: ( exp ) | n\n",
    ),
    // A sign binds less tightly than a power, which may have a sign on its right.
    (
        "%left '+'\n%precedence SIGN\n%right '^'\n%%\nx: x '+' x | '-' x %prec SIGN | x '^' x | 'n';",
        "x: x + x_power | x_power\nx_power: - x_power | x_primary ^ x_power | x_primary\nx_primary: n\n",
    ),
    // What is not associative cannot be chained.
    (
        "%nonassoc '<'\n%left '+'\n%%\ne: e '<' e | e '+' e | 'n';",
        "e: term < term | term\nterm: term + factor | factor\nfactor: n\n",
    ),
    (
        "%right '?' ':'\n%left '+'\n%precedence '!'\n%%\ne: e '?' e ':' e | e '+' e | e '!' | 'n';",
        "e: term ? e : e | term\nterm: term + factor | factor\nfactor: factor ! | n\n",
    ),
    // A word that begins with NOT ends where a comparison ends, so it is an operand only on the right.
    (
        "%token NOT\n%left '&'\n%right NOT\n%nonassoc '='\n%left '+'\n%%\nc: c '&' c | NOT c | c '=' c | c '+' c | 'x';",
        "c: c & c_equality | c_equality\nc_equality: c_sum_2 = c_sum | c_sum\nc_sum: c_sum_2 + c_not | c_not\n\
         c_sum_2: c_sum_2 + c_primary | c_primary\nc_not: NOT c_equality | c_primary\nc_primary: x\n",
    ),
    (
        "%token IN BETWEEN\n%left '|'\n%nonassoc IN BETWEEN\n%%\n\
         c: c '|' c | c IN '(' l ')' | c BETWEEN c '&' c %prec BETWEEN | 'x';\nl: c | l ',' c;",
        "c: c | c_between | c_between\nc_between: c_postfix BETWEEN c & c_primary | c_postfix\n\
         c_postfix: c_postfix IN ( l ) | c_primary\nc_primary: x\nl: c | l , c\n",
    ),
    // An else belongs to the nearest if.
    (
        "%expect 1\n%%\nstmt: 'if' stmt | 'if' stmt 'else' stmt | 'while' stmt | 'x' ';' | '{' stmts '}';\n\
         stmts: | stmts stmt;",
        "stmt: if stmt | if matched_stmt else stmt | while stmt | simple_stmt\n\
         matched_stmt: if matched_stmt else matched_stmt | while matched_stmt | simple_stmt\n\
         simple_stmt: x ; | { stmts }\nstmts:  | stmts stmt\n",
    ),
    // The same, but by way of another nonterminal.
    (
        "%expect 1\n%%\ns: l | 'x';\nl: 'if' s | 'if' s 'else' s | 'do' s;",
        "s: l | x\ns_primary: matched_l | x\nl: if s | if s_primary else s | do s\n\
         matched_l: if s_primary else s_primary | do s_primary\n",
    ),
    // What is written one after the other, without an operator.
    (
        "%left '+'\n%left 'n'\n%precedence CALL\n%%\nexp: exp exp %prec CALL | exp '+' exp | 'n';",
        "exp: exp + term | term\nterm: term factor | factor\nfactor: n\n",
    ),
    // The first of two productions wins.
    ("%expect-rr 1\n%%\ns: a 'x' | b 'x' | b 'y';\na: 'n';\nb: 'n';", "s: a x | b y\na: n\nb: n\n"),
];

#[test]
fn what_depends_on_the_beginning_of_another_nonterminal_is_refused() {
    // Before "d", "e" may come before b; before "a" it may not, because the "a" would belong to b.
    let table = table("%expect 1\n%%\ns: b s | 'a' | 'd';\nb: 'c' | b 'a' | 'e' b;").unwrap();
    let refused = levels(&table).unwrap_err();
    let depends = LevelsError::Depends { nonterminal: "s".into(), production: "s: b s".into(), symbol: "b".into() };
    assert_eq!(refused, depends);
}
