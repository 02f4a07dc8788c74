//! A grammar that people would write, with exactly the texts of a hypothesis.
//!
//! Everything but [`decide`] proposes: which texts are tokens and what is skipped (`boundaries`, `pieces`), small
//! expressions in place of automata (`term`, `graph`, `eliminate`), rules and their names (`rules`, `roles`, `names`).
//! What is proposed is compared with the hypothesis on all texts, and dropped if it is not shown to be equal.

mod boundaries;
mod characters;
mod eliminate;
mod forms;
mod given;
mod graph;
mod names;
mod net;
mod pieces;
mod roles;
mod rules;
mod term;
mod way;
mod words;
mod work;

use std::collections::BTreeMap;

use echostack_grammar::{Encoding, Equality, Grammar, Lexer, Subject, equality};

use self::characters::Characters;
use self::forms::Forms;
use self::net::{Label, Net};
pub(crate) use self::pieces::set;
use self::rules::{Finder, Part, Rules, TooLarge};
use self::way::Way;
pub(crate) use self::words::Words;
use self::work::Work;
use super::export::Files;
use crate::learn::automaton::Automaton;
use crate::text::symbols::Symbols;

/// The most places of a hypothesis, in characters. Larger ones are not for people.
const MAX_PLACES: usize = 500;
/// How often other expressions are tried if a grammar is not LR(1).
const MAX_PICKS: usize = 60;
/// The numbers of other expressions that are tried alone and in pairs.
const PICKS: (usize, usize) = (8, 4);
/// The steps of work that a parser takes, for each character of its grammar.
const TABLE: usize = 1000;
/// The most traps of which each is left out to see whether it is needed.
const MAX_TRAPS: usize = 12;

/// A readable form.
#[derive(Clone, Debug)]
pub(crate) struct Readable {
    pub(crate) files: Files,
    net: Net,
    rules: Rules,
    traps: Vec<String>,
    comment: String,
}

/// A readable form, and what was tried.
#[derive(Debug, Default)]
pub(crate) struct Attempt {
    pub(crate) found: Option<Readable>,
    /// What was proposed and refused, in sentences.
    pub(crate) refused: Vec<String>,
}

/// Looks for a readable form of a hypothesis. `exact` is the same language as a grammar that is not readable.
pub(crate) fn readable(automaton: &Automaton, symbols: &Symbols, exact: &Subject, comment: &str) -> Attempt {
    let (mut attempt, work) = (Attempt::default(), Work::default());
    if symbols.lexer().is_some() {
        attempt.try_net(Net::of_given(automaton, symbols), symbols, exact, comment, ("with the given tokens", &work));
        return attempt;
    }
    let characters = Characters::new(automaton, symbols);
    if characters.moves.len() > MAX_PLACES {
        attempt.refused.push(format!("the hypothesis has {} states over characters", characters.moves.len()));
        return attempt;
    }
    let mut seen = Vec::new();
    for way in Way::ALL {
        if work.is_over() {
            attempt.refused.push("the search took too many steps, so that other forms were not tried".to_string());
            break;
        }
        let Some(net) = Net::of_characters(&characters, way, &work) else {
            attempt.refused.push(format!("{}: the tokens would be too large", way.describe()));
            continue;
        };
        if seen.contains(&net) {
            continue;
        }
        seen.push(net.clone());
        if attempt.try_net(net, symbols, exact, comment, (&way.describe(), &work)) {
            break;
        }
    }
    attempt
}

impl Attempt {
    /// Tries one set of tokens. Returns whether there is a readable form now.
    fn try_net(
        &mut self,
        mut net: Net,
        symbols: &Symbols,
        exact: &Subject,
        comment: &str,
        (how, work): (&str, &Work),
    ) -> bool {
        let whole = net.symbol(Label::Whole);
        let finder = Finder::new(&net, whole, work);
        let found = finder.and_then(|mut finder| conflict_free(&mut finder, &net, symbols, (comment, work)));
        let (rules, files) = match found {
            Ok(Ok(found)) => found,
            Ok(Err(conflict)) => {
                self.refused.push(format!("{how}: the rules are not LR(1): {conflict}"));
                return false;
            }
            Err(TooLarge) => {
                self.refused.push(format!("{how}: the rules would be too large"));
                return false;
            }
        };
        let (mut found, mut shown) = ((files, Vec::new()), Ok(()));
        if let Err(reason) = decide(&found.0, exact, work) {
            self.refused.push(format!("{how}: {reason}"));
            let trapped = |traps: &[String]| {
                let files = written(&Forms { net: &net, rules: &rules, traps }, symbols, comment);
                decide(&files, exact, work).map(|()| (files, traps.to_vec()))
            };
            match least(&net.traps, &trapped) {
                Some(Ok(trapped)) => found = trapped,
                Some(Err(reason)) => shown = Err(Some(reason)),
                None => shown = Err(None),
            }
        }
        match shown {
            Ok(()) => {
                let (files, traps) = found;
                self.found = Some(Readable { files, net, rules, traps, comment: comment.to_string() });
            }
            Err(reason) => self.refused.extend(reason.map(|reason| format!("{how}, words apart: {reason}"))),
        }
        self.found.is_some()
    }
}

/// Returns the smallest rules that are LR(1), or the first conflict.
fn conflict_free(
    finder: &mut Finder<'_>,
    net: &Net,
    symbols: &Symbols,
    (comment, work): (&str, &Work),
) -> Result<Result<(Rules, Files), String>, TooLarge> {
    let parts = finder.parts();
    let numbers = |most: usize| (0..most.min(PICKS.0)).collect::<Vec<_>>();
    let mut picks: Vec<BTreeMap<Part, usize>> = vec![BTreeMap::new()];
    for number in numbers(usize::MAX).into_iter().skip(1) {
        let own = parts.iter().filter(|(_, count)| number < *count);
        picks.extend(own.map(|(part, _)| BTreeMap::from([(part.clone(), number)])));
    }
    for (at, (one, ones)) in parts.iter().enumerate() {
        for (two, twos) in &parts[at + 1..] {
            for number in 1..(*ones).min(PICKS.1) {
                let others = 1..(*twos).min(PICKS.1);
                picks.extend(others.map(|other| BTreeMap::from([(one.clone(), number), (two.clone(), other)])));
            }
        }
    }
    let mut first = None;
    for pick in picks.into_iter().take(MAX_PICKS) {
        let rules = match finder.rules(&pick) {
            Ok(rules) => rules,
            Err(TooLarge) if first.is_some() => continue,
            Err(TooLarge) => return Err(TooLarge),
        };
        let files = written(&Forms { net, rules: &rules, traps: &[] }, symbols, comment);
        if !work.take(TABLE * files.grammar.len()) {
            return Err(TooLarge);
        }
        match Grammar::new("readable", &files.grammar, Encoding::Auto) {
            Ok(_) => return Ok(Ok((rules, files))),
            Err(error) => _ = first.get_or_insert_with(|| error.to_string()),
        }
    }
    Ok(Err(first.unwrap_or_default()))
}

/// Leaves out traps one after the other, as long as what is left is shown to be equal. Without traps there is nothing to try.
fn least<T>(traps: &[String], decide: &dyn Fn(&[String]) -> Result<T, String>) -> Option<Result<T, String>> {
    if traps.is_empty() {
        return None;
    }
    let mut found = decide(traps);
    let mut kept = traps.to_vec();
    for trap in traps.iter().take(if found.is_ok() { MAX_TRAPS } else { 0 }) {
        let fewer: Vec<String> = kept.iter().filter(|own| *own != trap).cloned().collect();
        if let Ok(fewest) = decide(&fewer) {
            (kept, found) = (fewer, Ok(fewest));
        }
    }
    Some(found)
}

fn written(forms: &Forms<'_>, symbols: &Symbols, comment: &str) -> Files {
    forms.files(symbols.lexer().map(Lexer::source), comment)
}

/// Decides whether a grammar with its lexer has the texts of another one. If that is not shown, says why.
fn decide(files: &Files, exact: &Subject, work: &Work) -> Result<(), String> {
    let grammar = Grammar::new("readable", &files.grammar, Encoding::Auto).map_err(|error| error.to_string())?;
    let lexer = Lexer::new(&files.lexer).map_err(|error| error.to_string())?;
    let own = Subject::of_grammar(grammar, Some(lexer));
    match equality(&own, exact, work) {
        Equality::Equal => Ok(()),
        Equality::Different { text, first } => {
            let verdict = if first { "accepts" } else { "rejects" };
            Err(format!("not the same language, since it {verdict} {text:?}"))
        }
        Equality::NotComparable { reason, .. } => Err(format!("not shown to be the same language: {reason}")),
        other => Err(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LISTS, automaton, lists, lists_learned, texts};
    use crate::write::grammar::InferredGrammar;

    fn exact() -> Subject {
        let lexer = Lexer::new("%%\n\\[ \"[\"\n\\] \"]\"\n, \",\"\nx \"x\"\n").unwrap();
        let rules = "%start L\n%%\nL: 'x' | '[' ']' | '[' E ']'; E: L | E ',' L;\n";
        Subject::of_grammar(Grammar::new("lists", rules, Encoding::Auto).unwrap(), Some(lexer))
    }

    #[test]
    fn what_is_shown_to_be_equal_is_used() {
        let (hypothesis, _) = lists_learned();
        let attempt = readable(automaton(&hypothesis), &hypothesis.symbols, &exact(), "Lists.");
        let files = attempt.found.unwrap().files;
        let expected = "// Lists.\n// echostack: inline Items\n%start Value\n%%\nValue: 'x' | Brackets;\nBrackets: '[' ']' | '[' Items ']';\n\
                        Items: Value | Items ',' Value;\n";
        assert_eq!(files.grammar, expected);
        let ebnf = "Value ::= \"x\" | Brackets    /* \"x\" */\nBrackets ::= \"[\" (Value (\",\" Value)*)? \"]\"    /* \"[]\" */\n";
        assert_eq!(files.ebnf.as_deref(), Some(ebnf));
        assert_eq!(attempt.refused, [""; 0]);
        // Every text is judged as the oracle does, not only equal to another grammar.
        let language = InferredGrammar::of(&hypothesis, &[], "").unwrap();
        assert!(texts(LISTS, 6).iter().all(|text| language.accepts(text) == lists(text)));
    }

    /// The language that it is compared with has another text, so nothing is used, and each attempt says why.
    #[test]
    fn what_is_not_equal_is_refused() {
        let (hypothesis, _) = lists_learned();
        let lexer = Lexer::new("%%\n\\[ \"[\"\n\\] \"]\"\n, \",\"\nx|y \"x\"\n").unwrap();
        let grammar = Grammar::new("lists", exact().grammar().unwrap().source(), Encoding::Auto).unwrap();
        let other = Subject::of_grammar(grammar, Some(lexer));
        let attempt = readable(automaton(&hypothesis), &hypothesis.symbols, &other, "");
        assert!(attempt.found.is_none());
        assert!(!attempt.refused.is_empty());
        assert!(
            attempt.refused.iter().all(|reason| reason.ends_with("since it rejects \"y\"")),
            "{:?}",
            attempt.refused
        );
    }
}
