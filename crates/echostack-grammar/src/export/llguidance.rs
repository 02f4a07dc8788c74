//! Writes grammars over tokens for llguidance, where its lexer finds the same tokens.
//!
//! The lexer of llguidance takes the longest match of those tokens that can come next, and of what is skipped. It does not
//! go back if a longer match does not come about. A lexer in the sense of flex takes the longest match of all tokens. The
//! two find the same tokens in every text that is accepted if the following holds wherever a rule A can match, and some
//! character can make the match longer: either nothing that may follow A begins with this character, so that A cannot have
//! ended there; or the longer match is one of A's own token, of what is skipped, or of a token that can come wherever A's
//! token can, so that llguidance admits it as well. A keyword that begins a statement, for example, stands where a name
//! can begin one.
//!
//! A keyword where no name can stand, such as `select` in SQL, is not read in this way: llguidance would find `select` and
//! the name `x` in `selectx`. Such grammars are spelled out in contexts (see [`spell`](super::spell)), in which that name
//! is forbidden, and what is skipped becomes a part of the rules. The tokens stay whole, as expressions with exceptions.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

use echostack::automaton::Part;
use echostack::spelling::{Case, Names, as_written, identifier};
use echostack::{Alphabet, SymbolId};

use super::chars::Chars;
use super::ebnf::Style;
use super::productions::Productions;
use super::regex::{self, Dialect};
use super::scanner::{Scanner, literal};

/// The maximum number of states in which tokens are compared.
const MAX_STATES: usize = 20_000;

/// Writes a grammar over tokens, or returns `None` if llguidance would not find the same tokens.
pub(super) fn tokens(productions: &Productions, scanner: &Scanner, alphabet: &Alphabet) -> Option<String> {
    let chars = Chars::new(&scanner.dfa);
    if !finds_the_same(productions, scanner, &chars) {
        return None;
    }
    let grammar = productions.ebnf();
    let mut names = Names::numbered("_").without(["start"]);
    let rules: Vec<String> = grammar.names.iter().map(|name| names.take(&as_written(name).to_lowercase())).collect();
    let mut lexer = Vec::new();
    let mut terminals = String::new();
    for (number, rule) in scanner.rules.iter().enumerate() {
        // A text that another rule has as well belongs to the first of them.
        let earlier = scanner.before(number).unwrap_or_else(|_| (0..number).collect()).into_iter();
        let earlier: Vec<String> =
            earlier.map(|other| regex::write(&scanner.rules[other].pattern, Dialect::Python)).collect();
        match (literal(&rule.pattern), rule.token) {
            (Some(text), Some(_)) if earlier.is_empty() => lexer.push(regex::lark_string(&text)),
            (_, token) => {
                let own = match token {
                    Some(token) => identifier(alphabet.name(token), Case::Upper),
                    None if rule.skip => "SKIPPED".to_string(),
                    None => "OTHER".to_string(),
                };
                let name = names.take(&own);
                let except = match earlier.len() {
                    0 => String::new(),
                    _ => format!(" & ~/{}/", earlier.join("|")),
                };
                let pattern = regex::write(&rule.pattern, Dialect::Python);
                let _ = writeln!(terminals, "{name}: /{pattern}/{except}");
                lexer.push(name);
            }
        }
    }
    let token = |token: &SymbolId| {
        let own: Vec<&str> = scanner.rules_of(*token).map(|rule| lexer[rule].as_str()).collect();
        if own.len() == 1 { own[0].to_string() } else { format!("({})", own.join(" | ")) }
    };
    let skipped: Vec<&str> =
        (0..lexer.len()).filter(|&rule| scanner.rules[rule].skip).map(|rule| lexer[rule].as_str()).collect();
    let mut out = String::new();
    if skipped.is_empty() {
        let _ = writeln!(out, "start: {}", rules[0]);
    } else {
        // What is ignored is ignored between tokens. It may also come first, and last.
        out.push_str("%llguidance {\"allow_initial_skip\": true}\n");
        let _ = writeln!(out, "start: {} ({})?", rules[0], skipped.join(" | "));
    }
    let style = Style { names: &rules, token: &token, empty: "\"\"" };
    for (name, alternatives) in rules.iter().zip(&grammar.rules) {
        let _ = writeln!(out, "{name}: {}", style.alternatives(alternatives).join("\n    | "));
    }
    out.push('\n');
    out.push_str(&terminals);
    skipped.iter().for_each(|name| _ = writeln!(out, "%ignore {name}"));
    Some(out)
}

/// Returns whether llguidance finds the same tokens in every text that is accepted, as described above.
fn finds_the_same(productions: &Productions, scanner: &Scanner, chars: &Chars) -> bool {
    let choices = choices(productions);
    // Without the states, nothing is known of other tokens.
    let admits = |first: SymbolId, second: SymbolId| {
        let at_each = |states: &Vec<BTreeSet<SymbolId>>| {
            states.iter().all(|tokens| !tokens.contains(&first) || tokens.contains(&second))
        };
        first == second || choices.as_ref().is_some_and(at_each)
    };
    never_goes_back(productions, scanner, chars, |rule, longer| {
        let [rule, longer] = [rule, longer].map(|number| &scanner.rules[number]);
        longer.skip || rule.token.zip(longer.token).is_some_and(|(own, longer)| admits(own, longer))
    })
}

/// Returns whether the tokens of a grammar that is spelled out in contexts can be left whole: no rule matches at the
/// beginning of a longer match that may not come about. Where it does come about, the contexts forbid what would come
/// after the shorter one.
pub(super) fn reads_contexts(productions: &Productions, scanner: &Scanner) -> bool {
    never_goes_back(productions, scanner, &Chars::new(&scanner.dfa), |_, _| true)
}

/// Returns whether the longest match never has to be given up for a shorter one. Where a rule matches and the next
/// character makes a match of a second one, that is told by `is_read`, which is given both; nothing else may follow the
/// first rule there.
fn never_goes_back(
    productions: &Productions,
    scanner: &Scanner,
    chars: &Chars,
    is_read: impl Fn(usize, usize) -> bool,
) -> bool {
    let adjacent = productions.adjacent();
    let count = scanner.rules.len();
    // The characters that each rule can begin with.
    let begins: Vec<Vec<(char, char)>> = (0..count)
        .map(|rule| {
            let useful = chars.useful(rule as u32);
            let own = chars.states[0].next.iter().filter(|&&(_, _, to)| useful[to]);
            own.map(|&(from, to, _)| (from, to)).collect()
        })
        .collect();
    let follows = |rule: usize, other: usize| match (scanner.rules[rule].token, scanner.rules[other].token) {
        _ if scanner.rules[other].skip => true,
        (Some(first), Some(second)) => adjacent.contains(&(first, second)),
        (None, second) => scanner.rules[rule].skip && second.is_some(),
        (_, None) => false,
    };
    let followers: Vec<BTreeSet<(char, char)>> = (0..count)
        .map(|rule| (0..count).filter(|&other| follows(rule, other)).flat_map(|other| begins[other].clone()).collect())
        .collect();
    chars.states.iter().all(|state| {
        let Some(rule) = state.rule.map(|rule| rule as usize) else { return true };
        state.next.iter().all(|&(from, to, target)| {
            let is_harmless = chars.states[target].rule.is_some_and(|longer| is_read(rule, longer as usize));
            is_harmless || !followers[rule].iter().any(|&(begin, end)| begin <= to && from <= end)
        })
    })
}

/// Returns the tokens that can be shifted in each state of the LR(0) automaton of a grammar, or `None` if it is too large.
///
/// If a token can come after the beginning of a word, there is a state for that beginning in which it is shifted, after
/// those reductions that come before it. All other tokens that are shifted in that state can come there, too.
fn choices(productions: &Productions) -> Option<Vec<BTreeSet<SymbolId>>> {
    let start = closure(productions, (0..productions.rules[0].len()).map(|production| (0, production, 0)));
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    let mut states = Vec::new();
    while let Some(items) = open.pop() {
        if seen.len() > MAX_STATES {
            return None;
        }
        let nexts: BTreeSet<Part> = items.iter().filter_map(|item| part_after(productions, item)).collect();
        let token = |part: &Part| if let Part::Token(token) = *part { Some(token) } else { None };
        states.push(nexts.iter().filter_map(token).collect());
        for next in nexts {
            let moved = items.iter().filter(|item| part_after(productions, item) == Some(next));
            let after = closure(productions, moved.map(|&(rule, production, at)| (rule, production, at + 1)));
            if seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    Some(states)
}

/// A nonterminal, one of its productions, and how many of its parts were read.
type Item = (usize, usize, usize);

fn part_after(productions: &Productions, &(rule, production, at): &Item) -> Option<Part> {
    productions.rules[rule][production].get(at).copied()
}

/// Returns items with those of all nonterminals that come next in them.
fn closure(productions: &Productions, items: impl Iterator<Item = Item>) -> BTreeSet<Item> {
    let mut open: Vec<Item> = items.collect();
    let mut found: BTreeSet<Item> = open.iter().copied().collect();
    while let Some(item) = open.pop() {
        if let Some(Part::Nonterminal(next)) = part_after(productions, &item) {
            let begins = (0..productions.rules[next].len()).map(|production| (next, production, 0));
            open.extend(begins.filter(|&begin| found.insert(begin)));
        }
    }
    found
}
