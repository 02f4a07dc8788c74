//! Contraction: from an automaton over characters to a lexer and an automaton over tokens.
//!
//! *Hubs* are the states in which structure is possible: where a module begins, where a word can be opened or closed, and
//! where the text can end. A token is a text of plain symbols from a hub to the next one. All hubs are followed at the
//! same time. If a token would begin with another token, the state inside the longer one becomes a hub, too. So no token
//! is the beginning of another, the lexer needs no states, and texts that lead every hub to the same hub are one token.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::regex::{Arcs, Regex, TooLarge};
use crate::learn::automaton::{Automaton, Place};
use crate::learn::learner::{Closed, Module, State};
use crate::text::symbols::{Sym, Symbols};

/// The maximum number of states of the lexer.
const MAX_STATES: usize = 20_000;

/// A token, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TokenId(usize);

impl TokenId {
    pub(crate) fn at(self) -> usize {
        self.0
    }
}

/// The texts of a token.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) regex: Regex,
    /// A shortest text.
    pub(crate) text: String,
    /// The names of the given tokens that it stands for, if tokens were given.
    pub(crate) given: Vec<String>,
}

/// An automaton over tokens.
#[derive(Clone, Debug)]
pub(crate) struct Contracted {
    pub(crate) tokens: Vec<Token>,
    pub(crate) start: Vec<Option<State>>,
    pub(crate) moves: BTreeMap<Place, BTreeMap<TokenId, State>>,
    pub(crate) over: BTreeMap<Place, BTreeMap<Closed, State>>,
    /// The ways to close a word of each class: the opener, the module and its last state, and the closer.
    pub(crate) closings: BTreeMap<Closed, Vec<(TokenId, Place, TokenId)>>,
    pub(crate) accepting: BTreeSet<State>,
}

/// Where one of the hubs has led.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Track {
    /// Nowhere.
    Dead,
    /// To a place inside a token.
    At(Place),
    /// To a hub.
    Done(Place),
    /// An opener or closer, before and after it was read.
    Before(Sym),
    After(Sym),
}

type Node = Vec<Track>;

/// Contracts an automaton.
pub(crate) fn contract(automaton: &Automaton, symbols: &Symbols) -> Result<Contracted, TooLarge> {
    let ends: BTreeSet<Sym> = automaton
        .closings
        .values()
        .flatten()
        .flat_map(|&(module, _, closer)| [automaton.opener(module), Some(closer)])
        .flatten()
        .collect();
    let mut hubs = first_hubs(automaton);
    let product = loop {
        match Product::new(automaton, &hubs, &ends)? {
            Ok(product) => break product,
            Err(inside) => hubs.extend(inside),
        }
    };
    product.finish(automaton, symbols, &hubs)
}

/// Treats every symbol as a token. The result is exact, but large if the symbols are classes of characters.
pub(crate) fn keep_symbols(automaton: &Automaton, symbols: &Symbols) -> Contracted {
    let mut used: BTreeSet<Sym> =
        automaton.parts.iter().flat_map(|p| &p.plain).flat_map(|m| m.keys().copied()).collect();
    for &(module, _, closer) in automaton.closings.values().flatten() {
        used.extend(automaton.opener(module).into_iter().chain([closer]));
    }
    let numbers: HashMap<Sym, TokenId> = used.iter().enumerate().map(|(at, &symbol)| (symbol, TokenId(at))).collect();
    let tokens = used.iter().map(|&symbol| Token {
        regex: label(symbol, symbols),
        text: symbols.text(symbol),
        given: symbols.names(symbol).into_iter().map(String::from).collect(),
    });
    let places =
        || automaton.modules().flat_map(|module| automaton.live[module.at()].iter().map(move |&state| (module, state)));
    Contracted {
        tokens: tokens.collect(),
        start: automaton.parts.iter().map(|part| part.start).collect(),
        moves: places()
            .map(|place| (place, automaton.plain(place).iter().map(|(symbol, &to)| (numbers[symbol], to)).collect()))
            .collect(),
        over: places().map(|place| (place, automaton.over(place).clone())).collect(),
        closings: closings(automaton, &numbers),
        accepting: automaton.accepting.clone(),
    }
}

fn closings(
    automaton: &Automaton,
    numbers: &HashMap<Sym, TokenId>,
) -> BTreeMap<Closed, Vec<(TokenId, Place, TokenId)>> {
    let way = |&(module, state, closer): &(Module, State, Sym)| {
        let opener = numbers.get(&automaton.opener(module)?)?;
        Some((*opener, (module, state), *numbers.get(&closer)?))
    };
    automaton.closings.iter().map(|(&class, ways)| (class, ways.iter().filter_map(way).collect())).collect()
}

fn label(symbol: Sym, symbols: &Symbols) -> Regex {
    match symbols.members(symbol) {
        Some(members) => Regex::Class(members.clone()),
        None => Regex::Text(symbols.text(symbol)),
    }
}

fn first_hubs(automaton: &Automaton) -> BTreeSet<Place> {
    let mut hubs: BTreeSet<Place> = automaton.accepting.iter().map(|&state| (Module::TOP, state)).collect();
    for module in automaton.modules() {
        hubs.extend(automaton.parts[module.at()].start.map(|start| (module, start)));
        for &state in &automaton.live[module.at()] {
            let over = automaton.over((module, state));
            if !over.is_empty() {
                hubs.insert((module, state));
                hubs.extend(over.values().map(|&target| (module, target)));
            }
        }
    }
    hubs.extend(automaton.closings.values().flatten().map(|&(module, state, _)| (module, state)));
    hubs.retain(|(module, state)| automaton.live[module.at()].contains(state));
    hubs
}

/// All hubs, followed at the same time.
struct Product {
    /// The states inside tokens; the first one is the beginning.
    nodes: Vec<Node>,
    /// The ends of tokens.
    outcomes: Vec<Node>,
    /// The symbols from a node to a node or an outcome.
    edges: Vec<BTreeMap<Result<usize, usize>, Vec<Sym>>>,
}

impl Product {
    /// Follows all hubs. If a token begins with another, the places inside the longer token are the error.
    fn new(
        automaton: &Automaton,
        hubs: &BTreeSet<Place>,
        ends: &BTreeSet<Sym>,
    ) -> Result<Result<Self, Vec<Place>>, TooLarge> {
        let start: Node =
            hubs.iter().map(|&hub| Track::At(hub)).chain(ends.iter().map(|&end| Track::Before(end))).collect();
        let mut this = Self { nodes: vec![start.clone()], outcomes: Vec::new(), edges: Vec::new() };
        let (mut nodes, mut outcomes) = (HashMap::from([(start, 0)]), HashMap::new());
        while this.edges.len() < this.nodes.len() {
            if this.nodes.len() > MAX_STATES {
                return Err(TooLarge);
            }
            let mut moves: BTreeMap<Sym, Node> = BTreeMap::new();
            let node = &this.nodes[this.edges.len()];
            for (at, &track) in node.iter().enumerate() {
                let mut go = |symbol: Sym, to: Track| {
                    moves.entry(symbol).or_insert_with(|| vec![Track::Dead; node.len()])[at] = to;
                };
                match track {
                    Track::At(place) => {
                        for (&symbol, &target) in automaton.plain(place) {
                            let target = (place.0, target);
                            go(symbol, if hubs.contains(&target) { Track::Done(target) } else { Track::At(target) });
                        }
                    }
                    Track::Before(symbol) => go(symbol, Track::After(symbol)),
                    Track::Dead | Track::Done(_) | Track::After(_) => {}
                }
            }
            let mut edges: BTreeMap<Result<usize, usize>, Vec<Sym>> = BTreeMap::new();
            for (symbol, node) in moves {
                let done = node.iter().any(|track| matches!(track, Track::Done(_) | Track::After(_)));
                let inside =
                    node.iter().filter_map(|track| if let Track::At(place) = track { Some(*place) } else { None });
                let inside: Vec<Place> = inside.collect();
                if done && !inside.is_empty() {
                    return Ok(Err(inside));
                }
                let (list, known) =
                    if done { (&mut this.outcomes, &mut outcomes) } else { (&mut this.nodes, &mut nodes) };
                let number = *known.entry(node.clone()).or_insert_with(|| {
                    list.push(node);
                    list.len() - 1
                });
                edges.entry(if done { Err(number) } else { Ok(number) }).or_default().push(symbol);
            }
            this.edges.push(edges);
        }
        Ok(Ok(this))
    }

    fn finish(self, automaton: &Automaton, symbols: &Symbols, hubs: &BTreeSet<Place>) -> Result<Contracted, TooLarge> {
        let order: Vec<Place> = hubs.iter().copied().collect();
        let mut tokens = Vec::new();
        let mut moves: BTreeMap<Place, BTreeMap<TokenId, State>> =
            order.iter().map(|&place| (place, BTreeMap::new())).collect();
        let mut numbers: HashMap<Sym, TokenId> = HashMap::new();
        for (number, outcome) in self.outcomes.iter().enumerate() {
            let token = TokenId(number);
            for (at, track) in outcome.iter().enumerate() {
                match *track {
                    Track::Done((_, target)) => _ = moves.entry(order[at]).or_default().insert(token, target),
                    Track::After(symbol) => _ = numbers.insert(symbol, token),
                    _ => {}
                }
            }
            tokens.push(self.token(number, symbols)?);
        }
        Ok(Contracted {
            tokens,
            start: automaton.parts.iter().map(|part| part.start).collect(),
            moves,
            over: order.iter().map(|&place| (place, automaton.over(place).clone())).collect(),
            closings: closings(automaton, &numbers),
            accepting: automaton.accepting.clone(),
        })
    }

    /// Returns the token of an outcome.
    fn token(&self, outcome: usize, symbols: &Symbols) -> Result<Token, TooLarge> {
        let end = self.nodes.len();
        let mut back: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (from, edges) in self.edges.iter().enumerate() {
            for &to in edges.keys().filter(|&&to| to.is_ok() || to == Err(outcome)) {
                back.entry(to.unwrap_or(end)).or_default().push(from);
            }
        }
        let (mut good, mut open) = (BTreeSet::from([end]), vec![end]);
        while let Some(state) = open.pop() {
            open.extend(back.get(&state).into_iter().flatten().copied().filter(|&from| good.insert(from)));
        }
        let mut arcs = Arcs::new();
        for &from in good.iter().filter(|&&state| state != end) {
            for (&to, labels) in &self.edges[from] {
                let to = match to {
                    Ok(to) => to,
                    Err(number) if number == outcome => end,
                    Err(_) => continue,
                };
                let regex = labels.iter().map(|&symbol| label(symbol, symbols)).reduce(Regex::or);
                if let Some(regex) = regex.filter(|_| good.contains(&to)) {
                    arcs.insert((from, to), regex);
                }
            }
        }
        let text = self.shortest(outcome, symbols);
        let regex = Regex::of(arcs, 0, end)?.ok_or(TooLarge)?;
        Ok(Token { regex, text, given: Vec::new() })
    }

    /// Returns a shortest text of an outcome.
    fn shortest(&self, outcome: usize, symbols: &Symbols) -> String {
        let mut texts: BTreeMap<usize, String> = BTreeMap::from([(0, String::new())]);
        let mut layer = vec![0];
        while !layer.is_empty() {
            let mut next = Vec::new();
            for state in layer {
                for (&to, labels) in &self.edges[state] {
                    let step = labels.first().map_or(String::new(), |&symbol| symbols.text(symbol));
                    let text = format!("{}{step}", texts[&state]);
                    match to {
                        Err(number) if number == outcome => return text,
                        Ok(to) if !texts.contains_key(&to) => {
                            texts.insert(to, text);
                            next.push(to);
                        }
                        _ => {}
                    }
                }
            }
            layer = next;
        }
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::automaton::Part;
    use crate::testing::{automaton, lists_learned, symbol, teacher};

    /// Every symbol of lists is a token of its own, in both ways.
    #[test]
    fn symbols_with_structure_around_them_are_tokens() {
        let (hypothesis, _) = lists_learned();
        let texts = |contracted: &Contracted| -> BTreeSet<String> {
            contracted.tokens.iter().map(|token| token.text.clone()).collect()
        };
        let contracted = contract(automaton(&hypothesis), &hypothesis.symbols).unwrap();
        let kept = keep_symbols(automaton(&hypothesis), &hypothesis.symbols);
        assert_eq!(texts(&contracted), ["[", "]", ",", "x"].map(String::from).into());
        assert_eq!(texts(&contracted), texts(&kept));
        assert_eq!(contracted.closings.len(), kept.closings.len());
    }

    /// Of the words `ab`, `ac` and `b`, the first two lead to the same end, and the states inside are left out.
    #[test]
    fn states_within_tokens_are_left_out() {
        let all = |_: &str| true;
        let teacher = teacher(&all, "abc");
        let [a, b, c] = ['a', 'b', 'c'].map(|letter| symbol(&teacher, letter));
        let moves = |moves: &[(Sym, u32)]| moves.iter().map(|&(symbol, to)| (symbol, State(to))).collect();
        let plain = vec![moves(&[(a, 1), (b, 2)]), moves(&[(b, 2), (c, 2)]), moves(&[])];
        let part = Part { start: Some(State(0)), over: vec![BTreeMap::new(); 3], plain };
        let words = Automaton::new((vec![], vec![]), vec![part], BTreeMap::new(), BTreeSet::from([State(2)]));
        let contracted = contract(&words, &teacher.symbols).unwrap();
        let [token] = &contracted.tokens[..] else { panic!("{} tokens", contracted.tokens.len()) };
        let regex = ::regex::Regex::new(&format!("^(?:{})$", token.regex)).unwrap();
        assert!(["ab", "ac", "b"].iter().all(|text| regex.is_match(text)) && !regex.is_match("a"));
        assert_eq!((token.text.as_str(), contracted.moves.len()), ("b", 2));
    }
}
