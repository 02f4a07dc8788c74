//! Rules with two stacks: the decisions of a machine with two stacks, and the rules that a teacher or a Turing machine
//! has for them.

use std::fmt;
use std::sync::Arc;

use crate::suffix::StackSuffix;
use crate::symbol::{Alphabet, Lookahead, SymbolId};

/// One of the two stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Which {
    /// The first stack, onto which tokens are shifted.
    First,
    /// The second stack.
    Second,
}

impl Which {
    /// Both stacks, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// Returns 0 for the first stack and 1 for the second.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What an action does to one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Change {
    /// The number of symbols to pop.
    pub pop: u32,
    /// The symbols to push then, the topmost last.
    pub push: Vec<SymbolId>,
}

impl Change {
    /// Returns whether the stack stays as it is because nothing is popped or pushed.
    pub fn is_none(&self) -> bool {
        self.pop == 0 && self.push.is_empty()
    }
}

/// What a machine with two stacks does in one step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TwoStackStep {
    /// Change the first and the second stack, and decide again.
    Act([Change; 2]),
    /// Rest. Before a token, `true` shifts it onto the first stack, and `false` refuses it. At the end of the word, the
    /// machine halts, and `true` accepts.
    Rest(bool),
}

/// A decision: a step, and what is written in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decision {
    /// The step.
    pub step: TwoStackStep,
    /// The number of the output symbol that is written, if any.
    pub output: Option<u32>,
}

impl Decision {
    /// The decision where no rule fits: refuse the token, or halt without accepting.
    pub const REFUSE: Self = Self { step: TwoStackStep::Rest(false), output: None };
}

/// A rule: in configurations with these suffixes and this lookahead, take this decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoStackRule {
    /// The suffixes of the first and of the second stack.
    pub suffixes: [StackSuffix; 2],
    /// What is next; `None` for anything.
    pub next: Option<Lookahead>,
    /// The decision.
    pub decision: Decision,
    /// The name of the rule in messages, such as the entry of a Turing machine's table that it comes from.
    pub name: Arc<str>,
}

/// The maximum number of symbols of a suffix, and of those that one action pushes onto a stack.
pub const MAX_SUFFIX: usize = 8;
/// The maximum number of rules.
pub const MAX_RULES: usize = 1 << 16;

/// The reason why rules were rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TwoStackRulesError {
    /// There are too many rules.
    #[error("{0} rules were given; there can be at most {MAX_RULES}")]
    TooMany(usize),
    /// A symbol or an output is not declared.
    #[error("{0}: it names a symbol that is not declared")]
    Symbol(Arc<str>),
    /// A suffix or a push is too long.
    #[error("{0}: a suffix and a push have at most {MAX_SUFFIX} symbols")]
    Long(Arc<str>),
    /// A rule pops more than it looks at.
    #[error("{0}: it pops more symbols than its suffix has")]
    Pop(Arc<str>),
    /// An action changes nothing, and would be taken for ever.
    #[error("{0}: it neither pops nor pushes, so it would be taken for ever")]
    Nothing(Arc<str>),
}

/// Rules with two stacks, in order: the first that fits decides.
///
/// ```
/// use echostack::turing::Teacher;
/// let text = "two stacks\ninput a b\n| | a -> shift\na | | b -> | a\n^ | a | b -> shift\n^ | ^ | end -> accept\n";
/// let rules = Teacher::read(text)?.rules().clone();
/// assert_eq!(rules.alphabet().terminals().len(), 2);
/// # Ok::<(), echostack::turing::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoStackRules {
    alphabet: Arc<Alphabet>,
    outputs: Vec<String>,
    rules: Vec<TwoStackRule>,
    /// The rules for each lookahead, in order.
    by_next: Vec<Vec<usize>>,
}

/// What suffixes of both stacks say about the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// On all stacks with these suffixes, the rule with this number decides; `None` if none fits.
    By(Option<usize>),
    /// The decision depends on what is beneath the suffix of this stack.
    Open(Which),
}

impl TwoStackRules {
    /// Creates rules.
    ///
    /// # Errors
    /// See [`TwoStackRulesError`].
    pub fn new(
        alphabet: Arc<Alphabet>,
        outputs: Vec<String>,
        rules: Vec<TwoStackRule>,
    ) -> Result<Self, TwoStackRulesError> {
        if rules.len() > MAX_RULES {
            return Err(TwoStackRulesError::TooMany(rules.len()));
        }
        for rule in &rules {
            check(rule, &alphabet, outputs.len())?;
        }
        let fits = |next: Lookahead| {
            let numbered = rules.iter().enumerate();
            numbered.filter(|(_, rule)| rule.next.is_none_or(|own| own == next)).map(|(number, _)| number).collect()
        };
        let by_next = alphabet.lookaheads().map(fits).collect();
        Ok(Self { alphabet, outputs, rules, by_next })
    }

    /// Returns the alphabet: the tokens are its terminals, and what else can be on a stack its nonterminals.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// Returns the names of the output symbols.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Returns the rules, in order.
    pub fn rules(&self) -> &[TwoStackRule] {
        &self.rules
    }

    fn candidates(&self, next: Lookahead) -> impl Iterator<Item = usize> {
        self.by_next[next_number(next, &self.alphabet)].iter().copied()
    }

    /// Returns the decision in a configuration.
    pub fn decide(&self, stacks: [&[SymbolId]; 2], next: Lookahead) -> &Decision {
        let fits = |rule: &&TwoStackRule| rule.suffixes.iter().zip(stacks).all(|(suffix, stack)| suffix.matches(stack));
        let rule = self.candidates(next).map(|number| &self.rules[number]).find(fits);
        rule.map_or(&Decision::REFUSE, |rule| &rule.decision)
    }

    /// Returns which rule decides on all stacks with these suffixes.
    pub(super) fn decided(&self, suffixes: [&StackSuffix; 2], next: Lookahead) -> Decided {
        for number in self.candidates(next) {
            let own = &self.rules[number].suffixes;
            if own.iter().zip(suffixes).any(|(own, given)| !own.overlaps(given)) {
                continue;
            }
            return match Which::BOTH.into_iter().find(|&which| !own[which.index()].covers(suffixes[which.index()])) {
                Some(which) => Decided::Open(which),
                None => Decided::By(Some(number)),
            };
        }
        Decided::By(None)
    }

    /// Returns the decision of the rule with this number, or that where no rule fits.
    pub(super) fn decision(&self, rule: Option<usize>) -> &Decision {
        rule.map_or(&Decision::REFUSE, |number| &self.rules[number].decision)
    }

    /// Returns the name of the rule with this number in messages.
    pub(super) fn name(&self, rule: Option<usize>) -> &str {
        rule.map_or("no rule", |number| &self.rules[number].name)
    }
}

/// Returns the number of a lookahead: that of the token or, for the end, the number of tokens.
pub(super) fn next_number(next: Lookahead, alphabet: &Alphabet) -> usize {
    next.token().map_or(alphabet.terminals().len(), SymbolId::index)
}

/// Returns the lookahead with this number, if there is one.
pub(super) fn next_of(number: usize, alphabet: &Alphabet) -> Option<Lookahead> {
    match number.cmp(&alphabet.terminals().len()) {
        std::cmp::Ordering::Less => Some(Lookahead::Token(SymbolId::new(number))),
        std::cmp::Ordering::Equal => Some(Lookahead::End),
        std::cmp::Ordering::Greater => None,
    }
}

fn check(rule: &TwoStackRule, alphabet: &Alphabet, outputs: usize) -> Result<(), TwoStackRulesError> {
    let name = || rule.name.clone();
    let known = |symbol: &SymbolId| alphabet.contains(*symbol);
    let next_known = rule.next.and_then(Lookahead::token).is_none_or(|token| alphabet.is_terminal(token));
    let output_known = rule.decision.output.is_none_or(|output| (output as usize) < outputs);
    if !next_known || !output_known || !rule.suffixes.iter().all(|suffix| suffix.symbols().iter().all(known)) {
        return Err(TwoStackRulesError::Symbol(name()));
    }
    if rule.suffixes.iter().any(|suffix| suffix.depth() > MAX_SUFFIX) {
        return Err(TwoStackRulesError::Long(name()));
    }
    let TwoStackStep::Act(changes) = &rule.decision.step else { return Ok(()) };
    for (change, suffix) in changes.iter().zip(&rule.suffixes) {
        if !change.push.iter().all(known) {
            return Err(TwoStackRulesError::Symbol(name()));
        }
        if change.push.len() > MAX_SUFFIX {
            return Err(TwoStackRulesError::Long(name()));
        }
        if change.pop as usize > suffix.depth() {
            return Err(TwoStackRulesError::Pop(name()));
        }
    }
    if changes.iter().all(Change::is_none) { Err(TwoStackRulesError::Nothing(name())) } else { Ok(()) }
}

/// Displays a decision with the names of its symbols.
pub(super) fn display<'a>(decision: &'a Decision, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
    Shown { decision, alphabet }
}

struct Shown<'a> {
    decision: &'a Decision,
    alphabet: &'a Alphabet,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.decision.step {
            TwoStackStep::Rest(true) => f.write_str("shift")?,
            TwoStackStep::Rest(false) => f.write_str("refuse")?,
            TwoStackStep::Act(changes) => {
                for (which, Change { pop, push }) in ["first", "; second"].iter().zip(changes) {
                    write!(f, "{which} stack: pop {pop}, push")?;
                    push.iter().try_for_each(|&symbol| write!(f, " {}", self.alphabet.plain_name(symbol)))?;
                    if push.is_empty() {
                        f.write_str(" nothing")?;
                    }
                }
            }
        }
        self.decision.output.map_or(Ok(()), |output| write!(f, "; write output {output}"))
    }
}
