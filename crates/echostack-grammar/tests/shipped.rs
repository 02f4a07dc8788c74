//! Tests of the shipped grammars: our automata against the LR(1) tables they come from, and our trees against lrpar's.
//!
//! `ECHOSTACK_WORDS=10000` tests more words than CI does.

mod grammars;

use std::fmt::Write;
use std::ops::Range;

use cfgrammar::NewlineCache;
use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use echostack::language::{Language, WordKind, all_words, draw};
use echostack::recognize::{Node, Tree, TreeBuilder, Visit};
use echostack::symbol::Input;
use echostack::{Alphabet, Limits, Lookahead, Oracle, Recognizer, SymbolId, Verdict, Word};
use echostack_grammar::{Action, Encoding, Grammar, LrTable};
use lrlex::{DefaultLexeme, DefaultLexerTypes, LRNonStreamingLexer};
use lrpar::{Lexeme, RTParserBuilder, RecoveryKind};
use lrtable::{Minimiser, from_yacc};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn words(default: usize) -> usize {
    std::env::var("ECHOSTACK_WORDS").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

fn symbols(word: &Word) -> Vec<usize> {
    let symbol = |input: Input<'_>| if let Input::Symbol(symbol) = input { symbol.index() } else { unreachable!() };
    word.inputs().map(symbol).collect()
}

/// A textbook LR(1) parser, slow and obvious.
struct Parser<'a>(&'a LrTable);

impl Parser<'_> {
    /// Reduces under a lookahead, and returns the action after that.
    fn settle(&self, stack: &mut Vec<usize>, lookahead: usize) -> Action {
        loop {
            match self.0.action(stack[stack.len() - 1], lookahead) {
                Action::Reduce(production) => {
                    let production = &self.0.productions()[production];
                    stack.truncate(stack.len() - production.right.len());
                    stack.push(self.0.next(stack[stack.len() - 1], production.left).unwrap());
                }
                action => return action,
            }
        }
    }

    fn expected(&self, stack: &[usize]) -> Vec<Lookahead> {
        let end = self.0.terminals();
        let fits = |lookahead: &usize| self.settle(&mut stack.to_vec(), *lookahead) != Action::Error;
        let name =
            |lookahead| if lookahead == end { Lookahead::End } else { Lookahead::Token(SymbolId::new(lookahead)) };
        (0..=end).filter(fits).map(name).collect()
    }

    fn verdict(&self, word: &[usize]) -> Verdict {
        let mut stack = vec![0];
        for (position, &token) in word.iter().enumerate() {
            let before = stack.clone();
            match self.settle(&mut stack, token) {
                Action::Shift(state) => stack.push(state),
                _ => return Verdict::Reject { position: position as u64, expected: self.expected(&before) },
            }
        }
        let before = stack.clone();
        match self.settle(&mut stack, self.0.terminals()) {
            Action::Accept => Verdict::Accept,
            _ => Verdict::Incomplete { expected: self.expected(&before) },
        }
    }
}

#[test]
fn automata_judge_as_the_table_does() {
    for folder in grammars::folders() {
        for encoding in [Encoding::Auto, Encoding::State] {
            let (grammar, _) = Grammar::open(&folder, encoding).unwrap();
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            let mut random = ChaCha8Rng::seed_from_u64(5);
            for kind in WordKind::ALL {
                for _ in 0..words(150) {
                    let word = draw(&grammar, &oracle, kind, 1..=60, &mut random).unwrap();
                    let given = oracle.judge(&word);
                    let wanted = Parser(grammar.table()).verdict(&symbols(&word));
                    assert_eq!(given, wanted, "{grammar} {encoding:?} {kind} {word:?}");
                    assert!(kind != WordKind::Valid || given == Verdict::Accept);
                }
            }
        }
    }
}

#[test]
fn short_words_are_those_of_the_table() {
    for folder in grammars::folders() {
        let (grammar, _) = Grammar::open(&folder, Encoding::Auto).unwrap();
        let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
        let terminals = grammar.table().terminals();
        // The maximum length is chosen so that there are at most 30,000 sequences of this length.
        let longest =
            (1..=12).rev().find(|&length| terminals.checked_pow(length).is_some_and(|all| all <= 30_000)).unwrap_or(1)
                as usize;
        let mut wanted = Vec::new();
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..=longest {
            wanted.extend(all.iter().filter(|word| Parser(grammar.table()).verdict(word) == Verdict::Accept).cloned());
            all = all.iter().flat_map(|word| (0..terminals).map(move |token| [&word[..], &[token]].concat())).collect();
        }
        let given: Vec<Vec<usize>> = all_words(&oracle, longest, 100_000).unwrap().iter().map(symbols).collect();
        assert_eq!(given, wanted, "{grammar}");
    }
}

#[test]
fn covering_words_use_every_production() {
    for folder in grammars::folders() {
        let (grammar, lexer) = Grammar::open(&folder, Encoding::Auto).unwrap();
        let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
        let mut used = std::collections::BTreeSet::new();
        for word in grammar.covering() {
            assert_eq!(oracle.judge(&word), Verdict::Accept, "{grammar} {word:?}");
            let tree = tree(&oracle, &word).unwrap();
            for node in tree.nodes() {
                if let Node::Branch { symbol, children } = node {
                    used.insert((symbol.index(), children.len()));
                }
            }
        }
        let all = grammar.table().productions();
        let all: std::collections::BTreeSet<_> = all.iter().map(|p| (p.left, p.right.len())).collect();
        assert_eq!(used, all, "{grammar}");
        // The lexer produces the tokens of the grammar, and no others.
        let mut names = lexer.unwrap().names().to_vec();
        names.sort();
        let mut terminals = grammar.table().names()[..grammar.table().terminals()].to_vec();
        terminals.sort();
        assert_eq!(names, terminals, "{grammar}");
    }
}

fn tree(oracle: &Oracle, word: &Word) -> Option<Tree> {
    let mut builder = TreeBuilder::new(oracle.automaton().alphabet());
    oracle.judge_with(word, Limits::default(), &mut builder);
    builder.finish()
}

/// Writes a tree with the span of each node; a branch without tokens has none.
fn written(tree: &Tree, tokens: &[Range<usize>], alphabet: &Alphabet) -> String {
    let mut text = String::new();
    let spans = tree.spans(tokens);
    tree.walk(|at, node, visit| match (node, visit) {
        (Node::Token(_), _) => _ = write!(text, "{:?} ", spans[at]),
        (Node::Branch { symbol, .. }, Visit::Enter) => _ = write!(text, "{}[", alphabet.name(*symbol)),
        (Node::Branch { .. }, Visit::Leave) if spans[at].is_empty() => text += "] ",
        (Node::Branch { .. }, Visit::Leave) => _ = write!(text, "]{:?} ", spans[at]),
    });
    text
}

#[test]
fn trees_are_those_of_lrpar() {
    for folder in grammars::folders() {
        let source = std::fs::read_to_string(folder.join("grammar.y")).unwrap();
        let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
        let yacc = YaccGrammar::<u32>::new_with_storaget(kind, &source).unwrap();
        let (_, table) = from_yacc(&yacc, Minimiser::Pager).unwrap();
        let parser = RTParserBuilder::<u32, DefaultLexerTypes<u32>>::new(&yacc, &table).recoverer(RecoveryKind::None);
        for encoding in [Encoding::Auto, Encoding::State] {
            let (grammar, _) = Grammar::open(&folder, encoding).unwrap();
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            let alphabet = grammar.automaton().alphabet();
            let mut random = ChaCha8Rng::seed_from_u64(6);
            for _ in 0..words(150) {
                let word = draw(&grammar, &oracle, WordKind::Valid, 1..=200, &mut random).unwrap();
                // A text with tokens of different lengths, and gaps between them.
                let mut end = 0;
                let spans: Vec<Range<usize>> = (0..word.len())
                    .map(|_| {
                        let start = end + random.random_range(0..3);
                        end = start + random.random_range(1..4);
                        start..end
                    })
                    .collect();
                let text = "x".repeat(end);
                let token = |symbol: &usize| yacc.token_idx(&grammar.table().names()[*symbol]).unwrap().as_storaget();
                let lexemes = symbols(&word).iter().map(token).enumerate().collect::<Vec<_>>().into_iter();
                let lexemes = lexemes
                    .map(|(at, token)| Ok(DefaultLexeme::new(token, spans[at].start, spans[at].len())))
                    .collect();
                let lexer = LRNonStreamingLexer::new(&text, lexemes, NewlineCache::new());
                let (wanted, errors) = parser.parse_map(
                    &lexer,
                    &|lexeme: DefaultLexeme<u32>| {
                        let span = lexeme.span().start()..lexeme.span().end();
                        (format!("{span:?} "), Some(span))
                    },
                    &|rule, children: Vec<(String, Option<Range<usize>>)>| {
                        let covered = children.iter().filter_map(|(_, span)| span.clone());
                        let span = covered.reduce(|first, last| first.start..last.end);
                        let inside: String = children.into_iter().map(|(text, _)| text).collect();
                        let shown = span.as_ref().map_or(String::new(), |span| format!("{span:?}"));
                        (format!("{}[{inside}]{shown} ", yacc.rule_name_str(rule)), span)
                    },
                );
                assert!(errors.is_empty());
                assert_eq!(written(&tree(&oracle, &word).unwrap(), &spans, alphabet), wanted.unwrap().0, "{grammar}");
            }
        }
    }
}

#[test]
fn every_viable_stack_can_become_a_word() {
    for folder in grammars::folders() {
        for encoding in [Encoding::Auto, Encoding::State] {
            let (grammar, _) = Grammar::open(&folder, encoding).unwrap();
            // The viable stacks come from the table, because there are no precedences.
            assert!(grammar.automaton().viability().is_some());
            let oracle = Oracle::strict(grammar.automaton().clone()).unwrap();
            oracle.check_viable(&()).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        }
    }
}
