//! The machine with two stacks: a reservoir, two stacks, and trained readouts that see the states of both.

use std::borrow::Cow;
use std::sync::Arc;

use super::memory::{Memory, MemorySource};
use super::rules::{Change, Decision, TwoStackStep, Which, next_number};
use super::run::{Decider, RunLimits, TwoStackRun, Watcher, run};
use crate::machine::{LabelledHead, StateStack};
use crate::manifest::Manifest;
use crate::readout::{DecisionScratch, Head, Projection, Side};
use crate::reservoir::{Drive, Reservoir, encode};
use crate::simd::Simd;
use crate::symbol::{Alphabet, Input, Lookahead, SymbolId};

/// The readouts that are asked before one lookahead. Their projection has the first stack in the place of the input and
/// the second stack in the place of the stack.
#[derive(Clone, Debug)]
pub(super) struct Readouts {
    pub(super) pop: [LabelledHead<u32>; 2],
    pub(super) push: [LabelledHead<Vec<SymbolId>>; 2],
    pub(super) shift: LabelledHead<bool>,
    pub(super) output: LabelledHead<Option<u32>>,
}

/// What a decision needs of a readout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    /// The readout is not asked.
    Nothing,
    /// This class.
    Class(usize),
    /// A class that it does not have.
    Missing,
}

/// A readout of a machine with two stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TwoStackReadout {
    /// The number of symbols to pop from a stack.
    Pop(Which),
    /// The symbols to push onto a stack.
    Push(Which),
    /// Whether to shift or, at the end of the word, to accept.
    Shift,
    /// The symbol to write.
    Output,
}

impl TwoStackReadout {
    /// All readouts, in the order in which files and certificates have them.
    pub const ALL: [Self; 6] = [
        Self::Pop(Which::First),
        Self::Push(Which::First),
        Self::Pop(Which::Second),
        Self::Push(Which::Second),
        Self::Shift,
        Self::Output,
    ];

    /// Returns the readout's name in messages and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pop(Which::First) => "pop1",
            Self::Push(Which::First) => "push1",
            Self::Pop(Which::Second) => "pop2",
            Self::Push(Which::Second) => "push2",
            Self::Shift => "shift",
            Self::Output => "output",
        }
    }
}

impl Readouts {
    pub(super) fn head(&self, readout: TwoStackReadout) -> &Head {
        match readout {
            TwoStackReadout::Pop(which) => &self.pop[which.index()].head,
            TwoStackReadout::Push(which) => &self.push[which.index()].head,
            TwoStackReadout::Shift => &self.shift.head,
            TwoStackReadout::Output => &self.output.head,
        }
    }

    /// Returns the class of a readout that a decision needs.
    pub(super) fn class(&self, readout: TwoStackReadout, decision: &Decision) -> Needed {
        fn place<L: PartialEq>(labels: &[L], label: &L) -> Needed {
            labels.iter().position(|own| own == label).map_or(Needed::Missing, Needed::Class)
        }
        let none = Change::default();
        let change = |which: Which| match &decision.step {
            TwoStackStep::Act(changes) => &changes[which.index()],
            TwoStackStep::Rest(_) => &none,
        };
        match readout {
            TwoStackReadout::Pop(which) => place(&self.pop[which.index()].labels, &change(which).pop),
            TwoStackReadout::Push(which) => place(&self.push[which.index()].labels, &change(which).push),
            TwoStackReadout::Output => place(&self.output.labels, &decision.output),
            TwoStackReadout::Shift => match &decision.step {
                TwoStackStep::Rest(shift) => place(&self.shift.labels, shift),
                TwoStackStep::Act(_) => Needed::Nothing,
            },
        }
    }

    /// Returns the decision of these classes, which are those of [`TwoStackReadout::ALL`]. The class of shift is only needed if there
    /// is no action.
    pub(super) fn decision(&self, mut class: impl FnMut(TwoStackReadout, &Head) -> Option<usize>) -> Option<Decision> {
        let mut of = |readout| class(readout, self.head(readout));
        let mut changes = [Change::default(), Change::default()];
        for which in Which::BOTH {
            let pop = self.pop[which.index()].labels[of(TwoStackReadout::Pop(which))?];
            let push = self.push[which.index()].labels[of(TwoStackReadout::Push(which))?].clone();
            changes[which.index()] = Change { pop, push };
        }
        let output = self.output.labels[of(TwoStackReadout::Output)?];
        let step = if changes.iter().all(Change::is_none) {
            TwoStackStep::Rest(self.shift.labels[of(TwoStackReadout::Shift)?])
        } else {
            TwoStackStep::Act(changes)
        };
        Some(Decision { step, output })
    }
}

/// A trained reservoir machine with two stacks, which docs/two-stacks.md defines.
///
/// ```
/// use echostack::turing::{TwoStackLearning, Teacher};
/// use echostack::recognize::Outcome;
///
/// // A Turing machine that accepts words with as many a as b, one after the other: a^n b^n.
/// let text = "turing machine\ninput a b\nblank _\nstart first\naccept yes\n\
///     first a -> right _ R\nfirst _ -> yes _ S\nright a b -> right same R\nright _ -> last _ L\n\
///     last b -> left _ L\nleft a b -> left same L\nleft _ -> first _ R\n";
/// let teacher = Teacher::read(text)?;
/// let learned = TwoStackLearning::default().learn(&teacher, &())?;
/// assert!(learned.certificate.is_some(), "proved for every word and every number of steps");
/// let word = |n: usize| learned.machine.alphabet().word([vec!["a"; n], vec!["b"; n]].concat());
/// let run = learned.machine.run(&word(200)?, Default::default());
/// assert_eq!(run.outcome, Outcome::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TwoStackMachine {
    pub(super) alphabet: Arc<Alphabet>,
    pub(super) outputs: Arc<[String]>,
    pub(super) reservoir: Arc<dyn Reservoir>,
    pub(super) projection: Arc<Projection>,
    /// The readouts for each lookahead.
    pub(super) readouts: Arc<[Readouts]>,
    pub(super) manifest: Arc<Manifest>,
    /// The features of the empty stack, for each stack.
    bottom: Arc<[Vec<f64>; 2]>,
    memory: Option<Arc<Memory>>,
}

/// Returns the place of a stack in the projection.
fn side(which: Which) -> Side {
    match which {
        Which::First => Side::Input,
        Which::Second => Side::Stack,
    }
}

impl TwoStackMachine {
    pub(super) fn new(
        (alphabet, outputs): (Arc<Alphabet>, Arc<[String]>),
        reservoir: Arc<dyn Reservoir>,
        projection: Projection,
        readouts: Vec<Readouts>,
        manifest: Manifest,
    ) -> Self {
        let zero = vec![0.; reservoir.neurons()];
        let mut scratch = DecisionScratch::default();
        let bottom = Which::BOTH.map(|which| project(&projection, which, &zero, &mut scratch));
        Self {
            alphabet,
            outputs,
            reservoir,
            projection: Arc::new(projection),
            readouts: readouts.into(),
            manifest: Arc::new(manifest),
            bottom: Arc::new(bottom),
            memory: None,
        }
    }

    /// Returns the alphabet: the tokens are its terminals, and what else can be on a stack its nonterminals. The states of
    /// a Turing machine are marked as such.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// Returns the names of the output symbols.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// Returns the reservoir.
    pub fn reservoir(&self) -> &Arc<dyn Reservoir> {
        &self.reservoir
    }

    /// Returns the record of how the machine was made.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the manifest for adding entries.
    pub fn manifest_mut(&mut self) -> &mut Manifest {
        Arc::make_mut(&mut self.manifest)
    }

    pub(super) fn without_manifest(&self) -> Self {
        Self { manifest: Arc::default(), ..self.clone() }
    }

    /// Returns the numbers of distinct states that the readouts compare the states of the first and the second stack with.
    pub fn centers(&self) -> [usize; 2] {
        Which::BOTH.map(|which| self.projection.centers(side(which)))
    }

    /// Returns the readouts before a lookahead.
    pub(super) fn readouts(&self, next: Lookahead) -> &Readouts {
        &self.readouts[next_number(next, &self.alphabet)]
    }

    pub(super) fn with_memory(mut self, source: Box<dyn MemorySource>) -> Self {
        self.memory = Some(Arc::new(Memory::new(source, &self.alphabet)));
        self
    }

    /// Returns this machine without a memory of decisions, so that each of them is computed.
    #[must_use]
    pub fn without_memory(self) -> Self {
        Self { memory: None, ..self }
    }

    pub(super) fn has_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// Returns the decision with these symbols on the stacks, the topmost last. Everything is computed from scratch.
    pub fn decide(&self, stacks: [&[SymbolId]; 2], next: Lookahead) -> Decision {
        let mut scratch = DecisionScratch::default();
        let features = [Which::First, Which::Second].map(|which| {
            let drives = stacks[which.index()].iter().map(|symbol| Drive::Channel(symbol.index()));
            let state = encode(&*self.reservoir, Simd::default(), drives);
            project(&self.projection, which, &state, &mut scratch)
        });
        self.compute(next, [&features[0], &features[1]], &mut scratch)
    }

    fn compute(&self, next: Lookahead, [first, second]: [&[f64]; 2], scratch: &mut DecisionScratch) -> Decision {
        scratch.forget();
        let class = |_, head: &Head| Some(head.decide(&self.projection, first, second, scratch).class);
        self.readouts(next).decision(class).expect("every readout has a class")
    }

    /// Runs the machine on a word. A word of vectors is refused.
    pub fn run(&self, word: &crate::Word, limits: RunLimits) -> TwoStackRun {
        self.run_with(word, limits, &mut ())
    }

    /// Runs the machine on a word, and shows each decision to a watcher.
    pub fn run_with<'m>(
        &'m self,
        word: &crate::Word,
        limits: RunLimits,
        watcher: &mut impl Watcher<MachineStacks<'m>>,
    ) -> TwoStackRun {
        let tokens: Vec<SymbolId> = word
            .inputs()
            .map(|input| match input {
                Input::Symbol(symbol) => symbol,
                Input::Vector(_) => SymbolId::UNKNOWN,
            })
            .collect();
        let stack = |which| StateStack::new(self.reservoir.neurons(), self.projection.width(side(which)), 1);
        let stacks = MachineStacks {
            machine: self,
            stacks: Which::BOTH.map(stack),
            scratch: DecisionScratch::default(),
            computed: 0,
        };
        run(stacks, self.alphabet.terminals().len(), &tokens, limits, watcher)
    }

    /// Returns the lookaheads that are not refused in a configuration: before which the machine would act or shift. It
    /// promises nothing about what comes after this step.
    pub fn expected(&self, stacks: [&[SymbolId]; 2]) -> Vec<Lookahead> {
        let goes_on = |next: &Lookahead| self.decide(stacks, *next).step != TwoStackStep::Rest(false);
        self.alphabet.lookaheads().filter(goes_on).collect()
    }
}

fn project(projection: &Projection, which: Which, state: &[f64], scratch: &mut DecisionScratch) -> Vec<f64> {
    let mut out = vec![0.; projection.width(side(which))];
    projection.project_all(Simd::default(), side(which), &mut [(state, &mut out)], scratch.comparison());
    out
}

/// A machine with its stacks and their states, which are only computed where a decision needs them.
#[derive(Clone, Debug)]
pub struct MachineStacks<'m> {
    machine: &'m TwoStackMachine,
    stacks: [StateStack; 2],
    scratch: DecisionScratch,
    computed: u64,
}

impl MachineStacks<'_> {
    /// Returns the number of decisions that were computed so far, and not looked up.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Computes the features of the states of both stacks, as far as they are not known.
    fn open(&mut self) {
        for which in Which::BOTH {
            let machine = self.machine;
            let stack = &mut self.stacks[which.index()];
            if let Some((state, features)) = stack.open(&*machine.reservoir, Simd::default()) {
                let scratch = self.scratch.comparison();
                machine.projection.project_all(Simd::default(), side(which), &mut [(state, features)], scratch);
                stack.set_known();
            }
        }
    }
}

impl<'m> Decider<'m> for MachineStacks<'m> {
    fn decide(&mut self, next: Lookahead) -> Cow<'m, Decision> {
        let machine = self.machine;
        if let Some(memory) = &machine.memory {
            let stacks = &self.stacks;
            let known = memory
                .find(next_number(next, &machine.alphabet), |which, count| stacks[which.index()].beneath_top(count));
            if let Some(decision) = known {
                return Cow::Borrowed(decision);
            }
        }
        self.computed += 1;
        self.open();
        let bottom = &machine.bottom;
        let features = Which::BOTH.map(|which| self.stacks[which.index()].features().unwrap_or(&bottom[which.index()]));
        Cow::Owned(machine.compute(next, features, &mut self.scratch))
    }

    fn depth(&self, which: Which) -> usize {
        self.stacks[which.index()].depth()
    }

    fn pop(&mut self, which: Which, count: usize) {
        if count > 0 {
            self.stacks[which.index()].pop(count);
        }
    }

    fn push(&mut self, which: Which, symbol: SymbolId) {
        self.stacks[which.index()].push(Input::Symbol(symbol));
    }

    fn symbols(&self, which: Which) -> Vec<SymbolId> {
        self.stacks[which.index()].symbols().map(|symbol| symbol.unwrap_or(SymbolId::UNKNOWN)).collect()
    }
}
