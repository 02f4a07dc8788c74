//! Draws the paper's two diagrams: a stack machine at work, and why a memory machine cannot tell palindromes.

use echostack::extract::construct;
use echostack::recognize::{Event, Mode, Reduction, View};
use echostack::reservoir::{Drive, ReservoirKind, Simd, encode};
use echostack::tasks::Task;
use echostack::{Alphabet, Limits, Machine, Oracle, Params, Recognizer, SymbolId, Word};
use kuva::render::render::{Primitive, Scene, TextAnchor};

use crate::drawing::{FigureError, ORANGE};

const BLACK: &str = "#222222";

/// A drawing by pixels.
struct Canvas(Scene);

impl Canvas {
    fn text(&mut self, (x, y): (f64, f64), content: &str, size: u32, anchor: TextAnchor) {
        let color = Some(BLACK.into());
        let content = content.to_string();
        self.0.add(Primitive::Text { x, y, content, size, anchor, rotate: None, bold: false, color });
    }

    fn square(&mut self, (x, y): (f64, f64), width: f64, fill: &str) {
        let (stroke, stroke_width) = (Some("#666666".into()), Some(1.));
        let fill = fill.into();
        self.0.add(Primitive::Rect { x, y, width, height: 26., fill, stroke, stroke_width, opacity: None });
    }

    /// Draws symbols side by side, each in a box of the color that `fill` gives for its position.
    fn symbols(&mut self, (x, y): (f64, f64), names: &[&str], fill: impl Fn(usize) -> &'static str) {
        for (at, name) in names.iter().enumerate() {
            let left = x + 26. * at as f64;
            self.square((left, y), 26., fill(at));
            self.text((left + 13., y + 18.), name, 14, TextAnchor::Middle);
        }
    }

    /// Draws the values of a state, from blue for -1 over white to orange for 1.
    fn state(&mut self, (x, y): (f64, f64), state: &[f64]) {
        for (at, value) in state.iter().enumerate() {
            let pale = |full: f64| (255. - (255. - full) * value.abs().min(1.)) as u8;
            let [r, g, b] = if *value < 0. { [0., 114., 178.] } else { [213., 94., 0.] }.map(pale);
            self.square((x + 26. * at as f64, y), 26., &format!("#{r:02x}{g:02x}{b:02x}"));
        }
    }
}

fn failed(name: &'static str, error: impl std::fmt::Display) -> FigureError {
    FigureError::Picture { name, error: error.to_string() }
}

/// One decision of a machine: what it sees, and what it does.
struct Moment {
    next: Option<SymbolId>,
    stack: Vec<SymbolId>,
    input: Vec<f64>,
    state: Vec<f64>,
    does: String,
}

/// Returns the decisions of a machine on a word.
fn moments(machine: &Machine, word: &[SymbolId]) -> Vec<Moment> {
    let alphabet: &Alphabet = machine.alphabet();
    let mut events = Vec::new();
    machine.judge_with(&Word::Symbols(word.to_vec()), Limits::default(), &mut |position: u64, event: Event<'_>| {
        events.push((
            position as usize,
            match event {
                Event::Decide { reduction, .. } => Ok(reduction),
                Event::Output { values } => Err((Some(values[0]), false)),
                Event::Shift { shifted, .. } => Err((None, shifted)),
            },
        ));
    });
    let encoded = |symbols: &[SymbolId], end: bool| {
        let drives = symbols.iter().map(|symbol| Drive::Channel(symbol.index()));
        encode(&**machine.reservoir(), Simd::default(), drives.chain(end.then_some(Drive::Silence)))
    };
    let (mut stack, mut moments): (Vec<SymbolId>, Vec<Moment>) = (Vec::new(), Vec::new());
    for (position, event) in events {
        let next = word.get(position).copied();
        match event {
            Ok(reduction) => {
                let input = encoded(&word[..word.len().min(position + 1)], next.is_none());
                let does = match reduction {
                    Reduction::NONE => String::new(),
                    Reduction { pop, push: None } => format!("pop {pop}"),
                    Reduction { pop, push: Some(symbol) } => format!("pop {pop}, push {}", alphabet.name(symbol)),
                };
                moments.push(Moment { next, stack: stack.clone(), input, state: encoded(&stack, false), does });
                stack.truncate(stack.len() - (reduction.pop as usize).min(stack.len()));
                stack.extend(reduction.push);
            }
            Err((output, shifted)) => {
                let Some(moment) = moments.last_mut() else { continue };
                match output {
                    Some(value) => moment.does = format!("output {value}"),
                    None if shifted => moment.does = format!("{}, shift", moment.does),
                    None => moment.does = format!("{}, refuse", moment.does),
                }
                stack.extend(next.filter(|_| shifted));
            }
        }
    }
    moments
}

/// Draws a machine of five neurons that reads a a b b, decision by decision. It is constructed from the automaton and
/// proved, like the machine in the paper's figure.
pub(crate) fn dynamics() -> Result<Scene, FigureError> {
    let name = "dynamics";
    let oracle = Task::Anbn.automaton().map(Oracle::strict).transpose().map_err(|error| failed(name, error))?;
    let oracle = oracle.ok_or_else(|| failed(name, "the language has no automaton"))?;
    let params = Params { view: View::Reservoir, mode: Mode::Strict, ..Params::provable(ReservoirKind::Cycle, 5, 0) };
    let params = params.check().map_err(|error| failed(name, error))?;
    let (machine, _) = construct(&oracle, &params, &()).map_err(|error| failed(name, error))?;
    let word = machine.alphabet().word(["a", "a", "b", "b"]).map_err(|error| failed(name, error))?;
    let Word::Symbols(word) = word else { return Err(failed(name, "the word has no symbols")) };
    let moments = moments(&machine, &word);
    let mut canvas = Canvas(Scene::new(860., 120. + 40. * moments.len() as f64));
    canvas.text(
        (430., 30.),
        "A stack machine of five neurons reads a a b b, one decision per line",
        18,
        TextAnchor::Middle,
    );
    let columns = [60., 130., 320., 490., 660.];
    for (x, title) in columns.into_iter().zip(["next", "stack", "h: input state", "g: stack state", "decision"]) {
        canvas.text((x, 76.), title, 14, TextAnchor::Start);
    }
    for (number, moment) in moments.iter().enumerate() {
        let y = 92. + 40. * number as f64;
        let next = moment.next.map_or("end", |symbol| machine.alphabet().name(symbol));
        canvas.text((columns[0] + 8., y + 18.), next, 14, TextAnchor::Start);
        let stack: Vec<&str> = moment.stack.iter().map(|symbol| machine.alphabet().name(*symbol)).collect();
        canvas.symbols((columns[1], y), &stack, |_| "#ffffff");
        canvas.state((columns[2], y), &moment.input);
        canvas.state((columns[3], y), &moment.state);
        canvas.text((columns[4], y + 18.), &moment.does, 14, TextAnchor::Start);
    }
    Ok(canvas.0)
}

/// The number of letters on each side of the center in the drawn words.
const HALF: usize = 4;

/// Draws what happens when a memory machine recalls a state: whatever lies between storing and recalling is forgotten,
/// and what is left is not a palindrome anymore.
pub(crate) fn recall() -> Result<Scene, FigureError> {
    let name = "recall";
    let automaton = Task::Palindrome.automaton().ok_or_else(|| failed(name, "the language has no automaton"))?;
    let oracle = Oracle::tolerant(automaton);
    let is_palindrome = |names: &[&str]| {
        let word = oracle.automaton().alphabet().word(names.iter().copied());
        word.is_ok_and(|word| oracle.judge(&word).is_accept())
    };
    let sides = [vec!["a"; HALF], [vec!["b"], vec!["a"; HALF - 1]].concat()];
    let mut canvas = Canvas(Scene::new(900., 590.));
    canvas.text(
        (450., 28.),
        "A state that is recalled forgets what was read since it was stored",
        18,
        TextAnchor::Middle,
    );
    for (x, title) in
        [(60., "read (forgotten part in orange)"), (430., "what the recalled state stands for"), (740., "palindrome?")]
    {
        canvas.text((x, 62.), title, 14, TextAnchor::Start);
    }
    let mut y = 76.;
    let (mut choices, mut palindromes) = (0, 0);
    for side in sides {
        let word: Vec<&str> = [&side[..], &["$"], &side.iter().rev().copied().collect::<Vec<_>>()].concat();
        let rest = |from: usize, to: usize| [&word[..from], &word[to..]].concat();
        for from in 1..word.len() {
            for to in from + 1..=word.len() {
                choices += 1;
                palindromes += usize::from(is_palindrome(&rest(from, to)));
            }
        }
        // In each half, from one half to the center, across the center, from the center on, and to the end.
        for (from, to) in
            [(1, 3), (2, HALF + 1), (2, HALF + 3), (HALF + 1, HALF + 3), (HALF + 2, HALF + 4), (HALF + 2, word.len())]
        {
            canvas.symbols((60., y), &word, |at| if (from..to).contains(&at) { ORANGE } else { "#ffffff" });
            let rest = rest(from, to);
            canvas.text((350., y + 18.), "becomes", 13, TextAnchor::Start);
            canvas.symbols((430., y), &rest, |_| "#ffffff");
            canvas.text((740., y + 18.), if is_palindrome(&rest) { "yes" } else { "no" }, 14, TextAnchor::Start);
            y += 38.;
        }
        y += 14.;
    }
    let note = format!(
        "Of all {choices} ways to store and recall a state in these two words, {palindromes} lead to a palindrome."
    );
    canvas.text((450., y + 8.), &note, 14, TextAnchor::Middle);
    Ok(canvas.0)
}
