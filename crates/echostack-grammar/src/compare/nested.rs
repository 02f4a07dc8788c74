//! Grammars as deterministic nested-word automata over tokens.
//!
//! An *opener* and its *closer* enclose a part of a production that the rules around it occur in again, such as `[` and `]`
//! around the elements of a list in JSON. With what they enclose, they are a *call*. Once calls are taken out, each group of
//! rules that refer to each other must be left-linear or right-linear. What is between an opener and its closer is then a
//! regular language over tokens and calls (Nederhof 2000), and a finite automaton reads it. The automata are made
//! deterministic as they are used: a state is a set of states. An opener pushes the current set, and leads to what can come
//! after it in any call; a closer leads from the set that is popped to what comes after those calls that are complete.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use echostack::SymbolId;
use echostack::automaton::Part;

use crate::export::Productions;

/// The maximum number of states of the automata, before and after they are made deterministic.
const MAX_STATES: usize = 200_000;

/// Why a grammar is not one of these automata.
pub(super) type Reason = String;

/// A set of states, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Set(u32);

/// The empty set: no word goes on.
const NOTHING: Set = Set(0);

/// What comes next in a production whose calls are taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Item {
    Token(SymbolId),
    Rule(usize),
    Call(usize),
}

/// A part of a production from an opener to its closer.
#[derive(Clone, Debug)]
struct Call {
    opener: SymbolId,
    closer: SymbolId,
    inner: Vec<Item>,
}

/// What a token does in a state.
#[derive(Clone, Debug)]
pub(super) enum Move {
    /// It leads to another state.
    Plain(Set),
    /// It pushes the state, and leads to another one.
    Open(Set),
    /// It pops a state, and goes on from there after these calls.
    Close(BTreeSet<usize>),
}

/// A deterministic nested-word automaton, whose states are made when they are first needed.
pub(super) struct Nested {
    calls: Vec<Call>,
    /// The states after rules that begin in a state, and before rules that end in one.
    after_rules: HashMap<(u32, usize), u32>,
    before_rules: HashMap<(usize, u32), u32>,
    /// The states after a token or a call.
    arcs: HashMap<(u32, Item), Vec<u32>>,
    empty: HashMap<u32, Vec<u32>>,
    states: u32,
    last: u32,
    /// The states in which calls are complete, up to their closers.
    exits: HashMap<u32, usize>,
    sets: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, Set>,
    start: Set,
    /// The state after each opener.
    modules: HashMap<SymbolId, Set>,
    moves: HashMap<(Set, SymbolId), Option<Move>>,
    over: HashMap<(Set, BTreeSet<usize>), Option<Set>>,
}

impl Nested {
    /// Makes the automaton of a grammar.
    pub(super) fn new(grammar: &Productions) -> Result<Self, Reason> {
        let Nesting { calls, rules } = Nesting::of(grammar)?;
        let mut this = Self {
            calls,
            after_rules: HashMap::new(),
            before_rules: HashMap::new(),
            arcs: HashMap::new(),
            empty: HashMap::new(),
            states: 0,
            last: 0,
            exits: HashMap::new(),
            sets: vec![Vec::new()],
            numbers: HashMap::from([(Vec::new(), NOTHING)]),
            start: NOTHING,
            modules: HashMap::new(),
            moves: HashMap::new(),
            over: HashMap::new(),
        };
        let groups = groups(&rules);
        let (first, last) = (this.fresh()?, this.fresh()?);
        this.last = last;
        this.add(first, &[Item::Rule(0)], last, (&rules, &groups))?;
        let mut entries: BTreeMap<SymbolId, Vec<u32>> = BTreeMap::new();
        for call in 0..this.calls.len() {
            let (entry, exit) = (this.fresh()?, this.fresh()?);
            let Call { opener, inner, .. } = this.calls[call].clone();
            this.add(entry, &inner, exit, (&rules, &groups))?;
            entries.entry(opener).or_default().push(entry);
            this.exits.insert(exit, call);
        }
        this.start = this.closure(vec![first])?;
        for (opener, entries) in entries {
            let inner = this.closure(entries)?;
            this.modules.insert(opener, inner);
        }
        Ok(this)
    }

    pub(super) fn start(&self) -> Set {
        self.start
    }

    /// Returns whether a word can end in a state of the outermost level.
    pub(super) fn accepts(&self, set: Set) -> bool {
        self.sets[set.0 as usize].binary_search(&self.last).is_ok()
    }

    fn fresh(&mut self) -> Result<u32, Reason> {
        self.states += 1;
        if self.states as usize > MAX_STATES { Err("its automaton is too large".into()) } else { Ok(self.states - 1) }
    }

    /// Adds ways from a state to another one by a sequence.
    fn add(&mut self, from: u32, items: &[Item], to: u32, rules: Rules<'_>) -> Result<(), Reason> {
        let mut from = from;
        for (at, &item) in items.iter().enumerate() {
            let is_last = at + 1 == items.len();
            let Item::Rule(rule) = item else {
                let next = self.fresh()?;
                self.arcs.entry((from, item)).or_default().push(next);
                from = next;
                continue;
            };
            let group = &rules.1[rule];
            let is_left = if group.is_recursive { group.is_left } else { at == 0 || !is_last };
            if is_left {
                from = self.after_rule(from, rule, rules)?;
                continue;
            }
            let end = if is_last { to } else { self.fresh()? };
            let begin = self.before_rule(rule, end, rules)?;
            self.empty.entry(from).or_default().push(begin);
            if is_last {
                return Ok(());
            }
            from = end;
        }
        self.empty.entry(from).or_default().push(to);
        Ok(())
    }

    /// Returns the state after the words of a rule. Rules that begin with the same rule share the states after it, or each
    /// of them would have a copy.
    fn after_rule(&mut self, from: u32, rule: usize, rules: Rules<'_>) -> Result<u32, Reason> {
        if let Some(&known) = self.after_rules.get(&(from, rule)) {
            return Ok(known);
        }
        let group = &rules.1[rule];
        for &own in &group.rules {
            let end = self.fresh()?;
            self.after_rules.insert((from, own), end);
        }
        for &own in &group.rules {
            let end = self.after_rules[&(from, own)];
            rules.0[own].iter().try_for_each(|items| self.add(from, items, end, rules))?;
        }
        Ok(self.after_rules[&(from, rule)])
    }

    /// Returns the state before the words of a rule that lead to a state. Rules that end with the same rule share them.
    fn before_rule(&mut self, rule: usize, to: u32, rules: Rules<'_>) -> Result<u32, Reason> {
        if let Some(&known) = self.before_rules.get(&(rule, to)) {
            return Ok(known);
        }
        let group = &rules.1[rule];
        for &own in &group.rules {
            let begin = self.fresh()?;
            self.before_rules.insert((own, to), begin);
        }
        for &own in &group.rules {
            let begin = self.before_rules[&(own, to)];
            rules.0[own].iter().try_for_each(|items| self.add(begin, items, to, rules))?;
        }
        Ok(self.before_rules[&(rule, to)])
    }

    /// Returns the set of these states and those that are reached from them without reading anything.
    fn closure(&mut self, states: Vec<u32>) -> Result<Set, Reason> {
        let mut found: BTreeSet<u32> = states.iter().copied().collect();
        let mut open = states;
        while let Some(state) = open.pop() {
            let next = self.empty.get(&state).into_iter().flatten();
            open.extend(next.copied().filter(|&next| found.insert(next)));
        }
        let states: Vec<u32> = found.into_iter().collect();
        let fresh = Set(self.sets.len() as u32);
        let number = *self.numbers.entry(states.clone()).or_insert(fresh);
        if number == fresh {
            if self.sets.len() >= MAX_STATES {
                return Err("its automaton is too large".into());
            }
            self.sets.push(states);
        }
        Ok(number)
    }

    /// Returns the set after tokens and calls, if it is not empty.
    fn after(&mut self, set: Set, items: impl Iterator<Item = Item>) -> Result<Option<Set>, Reason> {
        let mut found = Vec::new();
        for item in items {
            let states = self.sets[set.0 as usize].iter();
            found.extend(states.filter_map(|&state| self.arcs.get(&(state, item))).flatten().copied());
        }
        Ok(Some(self.closure(found)?).filter(|&set| set != NOTHING))
    }

    /// Returns the state after calls that are complete, if there is one.
    pub(super) fn over(&mut self, set: Set, calls: &BTreeSet<usize>) -> Result<Option<Set>, Reason> {
        if let Some(known) = self.over.get(&(set, calls.clone())) {
            return Ok(*known);
        }
        let found = self.after(set, calls.iter().map(|&call| Item::Call(call)))?;
        self.over.insert((set, calls.clone()), found);
        Ok(found)
    }

    /// Returns what a token does in a state; `None` if no word goes on with it. `name` is that of the token.
    pub(super) fn step(
        &mut self,
        set: Set,
        token: SymbolId,
        name: impl Fn() -> String,
    ) -> Result<Option<Move>, Reason> {
        if let Some(known) = self.moves.get(&(set, token)) {
            return Ok(known.clone());
        }
        let plain = self.after(set, [Item::Token(token)].into_iter())?.map(Move::Plain);
        let own = (0..self.calls.len()).filter(|&call| self.calls[call].opener == token);
        let own: Vec<Item> = own.map(Item::Call).collect();
        let module = self.modules.get(&token).copied();
        let open = self.after(set, own.into_iter())?.and(module).map(Move::Open);
        let exits = self.sets[set.0 as usize].iter().filter_map(|state| self.exits.get(state).copied());
        let complete: BTreeSet<usize> = exits.filter(|&call| self.calls[call].closer == token).collect();
        let close = Some(complete).filter(|complete| !complete.is_empty()).map(Move::Close);
        let mut all = [plain, open, close].into_iter().flatten();
        let found = all.next();
        if all.next().is_some() {
            return Err(format!("{} opens or closes something, and in the same place it does not", name()));
        }
        self.moves.insert((set, token), found.clone());
        Ok(found)
    }
}

/// The rules without their calls, and their groups.
type Rules<'a> = (&'a [Vec<Vec<Item>>], &'a [Group]);

/// The rules that a rule and others refer to each other with.
#[derive(Clone, Debug)]
struct Group {
    rules: BTreeSet<usize>,
    is_recursive: bool,
    is_left: bool,
    /// Whether the group is neither left-linear nor right-linear.
    is_nested: bool,
}

/// Returns the group of each rule.
fn groups(rules: &[Vec<Vec<Item>>]) -> Vec<Group> {
    let refers = |rule: usize| {
        let items = rules[rule].iter().flatten();
        items.filter_map(|item| if let Item::Rule(other) = item { Some(*other) } else { None })
    };
    let reached: Vec<BTreeSet<usize>> = (0..rules.len())
        .map(|rule| {
            let mut found = BTreeSet::new();
            let mut open: Vec<usize> = refers(rule).collect();
            while let Some(other) = open.pop() {
                if found.insert(other) {
                    open.extend(refers(other));
                }
            }
            found
        })
        .collect();
    let group = |rule: usize| {
        let others = reached[rule].iter().copied().filter(|&other| reached[other].contains(&rule));
        let own: BTreeSet<usize> = others.chain([rule]).collect();
        let places = |items: &Vec<Item>| -> Vec<usize> {
            let is_own = |at: &usize| matches!(items[*at], Item::Rule(other) if own.contains(&other));
            (0..items.len()).filter(is_own).collect()
        };
        let all = || own.iter().flat_map(|&rule| &rules[rule]);
        let is_left = all().all(|items| matches!(places(items)[..], [] | [0]));
        let is_right = all().all(|items| places(items).iter().all(|&at| at + 1 == items.len()));
        let is_recursive = reached[rule].contains(&rule);
        Group { rules: own, is_recursive, is_left, is_nested: is_recursive && !is_left && !is_right }
    };
    (0..rules.len()).map(group).collect()
}

/// A grammar whose calls are taken out of its productions.
struct Nesting {
    calls: Vec<Call>,
    rules: Vec<Vec<Vec<Item>>>,
}

/// The closers of each opener.
type Brackets = BTreeMap<SymbolId, BTreeSet<SymbolId>>;

impl Nesting {
    /// Finds the openers and closers that are needed, beginning with none.
    fn of(grammar: &Productions) -> Result<Self, Reason> {
        let mut plain = BTreeSet::new();
        loop {
            match Self::without(grammar, &plain)? {
                Ok(this) => return Ok(this),
                // It was taken for an opener, but it is not always closed.
                Err(opener) => _ = plain.insert(opener),
            }
        }
    }

    /// Finds the openers and closers that are needed. Some tokens are no openers; another one may turn out to be none.
    fn without(grammar: &Productions, plain: &BTreeSet<SymbolId>) -> Result<Result<Self, SymbolId>, Reason> {
        let mut brackets = Brackets::new();
        loop {
            let mut this = Self { calls: Vec::new(), rules: Vec::new() };
            match this.take_calls(grammar, &brackets) {
                Ok(()) => {}
                // A rule that is not recursive can have a closer of its own.
                Err((opener, Some(closer))) => {
                    brackets.entry(opener).or_default().insert(closer);
                    continue;
                }
                Err((opener, None)) => return Ok(Err(opener)),
            }
            let groups = groups(&this.rules);
            let Some(group) = groups.iter().find(|group| group.is_nested) else { return Ok(Ok(this)) };
            let before = brackets.clone();
            // The ends of a whole production are more likely to be brackets than what is in its middle, such as the
            // colon and the comma around a value in JSON.
            for find in [around, enclosing] {
                let own = group.rules.iter().flat_map(|&rule| &grammar.rules[rule]);
                let pairs =
                    own.flat_map(|parts| find(parts, &group.rules)).filter(|(opener, _)| !plain.contains(opener));
                pairs.for_each(|(opener, closer)| _ = brackets.entry(opener).or_default().insert(closer));
                if brackets != before {
                    break;
                }
            }
            if brackets == before && !plain.is_empty() {
                return Err("an opener has no closer in the same rule".into());
            }
            if brackets == before {
                let names: Vec<&str> = group.rules.iter().map(|&rule| &*grammar.names[rule]).collect();
                return Err(format!("no tokens enclose what is recursive in {}", names.join(", ")));
            }
        }
    }

    /// Takes the calls out of all productions. If an opener is not closed, it is the error, with a token that can be its
    /// closer.
    fn take_calls(&mut self, grammar: &Productions, brackets: &Brackets) -> Result<(), (SymbolId, Option<SymbolId>)> {
        for own in &grammar.rules {
            let mut bodies = Vec::new();
            for parts in own {
                let items = self.production(parts, brackets).map_err(|opener| match parts[..] {
                    [Part::Token(first), .., Part::Token(last)] if first == opener => {
                        (opener, Some(last).filter(|last| !brackets[&opener].contains(last)))
                    }
                    _ => (opener, None),
                })?;
                bodies.push(items);
            }
            self.rules.push(bodies);
        }
        Ok(())
    }

    /// Takes the calls out of a production. If an opener is not closed, it may be one of the tokens that the production
    /// as a whole encloses, as in `< name > content < / name >`; otherwise, that opener is the error.
    fn production(&mut self, parts: &[Part], brackets: &Brackets) -> Result<Vec<Item>, SymbolId> {
        let calls = self.calls.len();
        let refused = match self.sequence(&mut &parts[..], brackets, None) {
            Ok(items) => return Ok(items),
            Err(refused) => refused,
        };
        self.calls.truncate(calls);
        let [Part::Token(opener), inner @ .., Part::Token(closer)] = parts else { return Err(refused) };
        if !brackets.get(opener).is_some_and(|closers| closers.contains(closer)) {
            return Err(refused);
        }
        let inner = self.sequence(&mut &inner[..], brackets, None).or_else(|_| {
            self.calls.truncate(calls);
            self.sequence(&mut &inner[..], &Brackets::new(), None)
        })?;
        self.calls.push(Call { opener: *opener, closer: *closer, inner });
        Ok(vec![Item::Call(self.calls.len() - 1)])
    }

    /// Takes the calls out of a sequence, up to one of the closers of an opener. If none comes, the opener is the error,
    /// unless no rule follows it: then it is a plain token in this place, such as `{` in a string.
    fn sequence(
        &mut self,
        parts: &mut &[Part],
        brackets: &Brackets,
        until: Option<SymbolId>,
    ) -> Result<Vec<Item>, SymbolId> {
        let mut items = Vec::new();
        while let Some((&part, rest)) = parts.split_first() {
            *parts = rest;
            let token = match part {
                Part::Nonterminal(rule) => {
                    items.push(Item::Rule(rule));
                    continue;
                }
                Part::Token(token) => token,
            };
            if until.is_some_and(|until| brackets[&until].contains(&token)) {
                items.push(Item::Token(token));
                return Ok(items);
            }
            let opens = brackets.get(&token).is_some_and(|closers| {
                let follows = |part: &Part| match part {
                    Part::Nonterminal(_) => true,
                    Part::Token(token) => closers.contains(token),
                };
                rest.iter().any(follows)
            });
            if !opens {
                items.push(Item::Token(token));
                continue;
            }
            let mut inner = self.sequence(parts, brackets, Some(token))?;
            let Some(Item::Token(closer)) = inner.pop() else { return Err(token) };
            items.push(Item::Call(self.calls.len()));
            self.calls.push(Call { opener: token, closer, inner });
        }
        until.map_or(Ok(items), Err)
    }
}

/// An opener and its closer.
type Pair = (SymbolId, SymbolId);

/// Returns the first and the last token of a production that uses some rules, if it begins and ends with tokens.
fn around(parts: &[Part], rules: &BTreeSet<usize>) -> Vec<Pair> {
    let uses = parts.iter().any(|part| matches!(part, Part::Nonterminal(rule) if rules.contains(rule)));
    match *parts {
        [Part::Token(opener), .., Part::Token(closer)] if uses => vec![(opener, closer)],
        _ => Vec::new(),
    }
}

/// Returns the nearest tokens around each use of some rules in a production, if there are tokens on both sides.
fn enclosing(parts: &[Part], rules: &BTreeSet<usize>) -> Vec<Pair> {
    let token = |part: &Part| if let Part::Token(token) = *part { Some(token) } else { None };
    let uses = |at: &usize| matches!(parts[*at], Part::Nonterminal(rule) if rules.contains(&rule));
    let pair = |at: usize| Some((parts[..at].iter().rev().find_map(token)?, parts[at + 1..].iter().find_map(token)?));
    (0..parts.len()).filter(uses).filter_map(pair).collect()
}
