//! Models: recognizers that can be saved to a file, that is, machines and tables, behind one interface.

use std::path::Path;
use std::sync::Arc;

use crate::certify::{Certificate, CertifyError, digest};
use crate::control::Poll;
use crate::file::{self, FileError, FileLimits};
#[cfg(feature = "machine")]
use crate::machine::Machine;
use crate::manifest::Manifest;
#[cfg(not(feature = "machine"))]
use crate::no_machine::Machine;
use crate::recognize::{
    Judged, Limits, Mode, Observer, Recognizer, Session, Status, Verdict, judge_all, judge_serially,
};
use crate::symbol::{Alphabet, Input, Lookahead, SymbolId, Word};
use crate::table::{Scanner, Table};

type MachineSession = <Machine as Recognizer>::Session;
type TableSession = <Table as Recognizer>::Session;

/// A machine or a table, as loaded from a file.
///
/// A model is a [`Recognizer`], so a program does not need to know which of the two a file contains. Cloning is cheap:
/// a clone shares the machine or table.
///
/// ```
/// use echostack::{Manifest, Model, Oracle, Recognizer, Table, Verdict, tasks::Task};
/// let table = Table::new(&Oracle::strict(Task::Anbn.automaton().unwrap())?, Manifest::default())?;
/// let model = Model::from_bytes(&table.to_bytes()?)?;
/// let word = model.alphabet().word("a a b b".split(' '))?;
/// assert_eq!(model.judge(&word), Verdict::Accept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Machine(Machine),
    Table(Table),
}

#[cfg(feature = "machine")]
impl From<Machine> for Model {
    fn from(machine: Machine) -> Self {
        Self(Kind::Machine(machine))
    }
}

impl From<Table> for Model {
    fn from(table: Table) -> Self {
        Self(Kind::Table(table))
    }
}

impl Model {
    /// Reads a model file, which contains a machine or a table. A machine has a [memory](Machine::memoized).
    ///
    /// # Errors
    /// If the file cannot be read, has a different format version, is damaged, or is not a model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::load_within(path, &FileLimits::default())
    }

    /// Reads a model file within limits, which may be less than what every model can have.
    ///
    /// # Errors
    /// Those of [`Model::load`], and [`FileError::Limit`].
    pub fn load_within(path: impl AsRef<Path>, limits: &FileLimits) -> Result<Self, FileError> {
        Self::from_bytes_within(&file::read_within(path.as_ref(), limits.bytes)?, limits)
    }

    /// Reads a model from the bytes of its file, within limits.
    ///
    /// # Errors
    /// Those of [`Model::from_bytes`], and [`FileError::Limit`].
    pub fn from_bytes_within(bytes: &[u8], limits: &FileLimits) -> Result<Self, FileError> {
        limits.check(bytes)?;
        Self::from_bytes(bytes)
    }

    /// Reads a model from the bytes of its file. A machine has a [memory](Machine::memoized).
    ///
    /// # Errors
    /// If the bytes have a different format version, are damaged, or are not a model.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        if Table::is_table(bytes) {
            return Ok(Table::from_bytes(bytes)?.into());
        }
        Ok(Self(Kind::Machine(Machine::from_bytes(bytes)?.memoized())))
    }

    /// Returns the machine, if the model is one.
    #[cfg(feature = "machine")]
    pub fn machine(&self) -> Option<&Machine> {
        match &self.0 {
            Kind::Machine(machine) => Some(machine),
            Kind::Table(_) => None,
        }
    }

    /// Returns the table, if the model is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.0 {
            Kind::Machine(_) => None,
            Kind::Table(table) => Some(table),
        }
    }

    /// Returns the alphabet of symbols that the model reads and pushes.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        match &self.0 {
            Kind::Machine(machine) => machine.alphabet(),
            Kind::Table(table) => table.alphabet(),
        }
    }

    /// Returns what is known about the model's origin.
    pub fn manifest(&self) -> &Manifest {
        match &self.0 {
            Kind::Machine(machine) => machine.manifest(),
            Kind::Table(table) => table.manifest(),
        }
    }

    /// Returns the digest by which certificates identify the model: the SHA-256 of its file, as written with an empty
    /// manifest, in hexadecimal digits.
    ///
    /// # Errors
    /// [`CertifyError::File`] if the model is too large to be written.
    pub fn digest(&self) -> Result<String, CertifyError> {
        let mut poll = Poll::new(&());
        match &self.0 {
            Kind::Machine(machine) => Ok(digest::digest(&machine.without_manifest().to_bytes()?, &mut poll)?),
            Kind::Table(table) => digest::table_digest(table, &mut poll),
        }
    }

    /// Checks that a certificate is about this model: that its digest is that of the machine or table. Whether its claims
    /// are true is for [`check`](crate::certify::check) to verify.
    ///
    /// # Errors
    /// [`CertifyError::Refused`] if the certificate is about another model.
    pub fn check_certificate(&self, certificate: &Certificate) -> Result<(), CertifyError> {
        let (kind, named) = match &self.0 {
            Kind::Machine(_) => ("machine", certificate.machine()),
            Kind::Table(_) => ("table", certificate.table()),
        };
        match named {
            Some(named) if named == self.digest()? => Ok(()),
            Some(_) => Err(CertifyError::Refused(format!("it is for another {kind}"))),
            None => Err(CertifyError::Refused(format!("it says nothing about a {kind}"))),
        }
    }

    /// Returns how tokens that cannot follow are treated: skipped or rejected. A table always rejects them.
    pub fn mode(&self) -> Mode {
        match &self.0 {
            Kind::Machine(machine) => machine.mode(),
            Kind::Table(_) => Mode::Strict,
        }
    }

    /// Judges many words on rayon's threads. The answers do not depend on the number of threads.
    pub fn judge_all<A: Judged>(&self, words: &[Word], limits: Limits) -> Vec<A> {
        match &self.0 {
            Kind::Machine(machine) => judge_all(machine, words, limits),
            Kind::Table(table) => table.judge_all(words, limits),
        }
    }

    /// Judges many words on the calling thread, with the same answers as [`Model::judge_all`].
    pub fn judge_serially<A: Judged>(&self, words: &[Word], limits: Limits) -> Vec<A> {
        match &self.0 {
            Kind::Machine(machine) => judge_serially(machine, words, limits),
            Kind::Table(table) => table.judge_serially(words, limits),
        }
    }

    /// Judges many words, given as slices of tokens, on the calling thread.
    pub fn judge_slices<'a, A: Judged>(&self, words: impl Iterator<Item = &'a [SymbolId]>, limits: Limits) -> Vec<A> {
        match &self.0 {
            Kind::Machine(machine) => {
                let words: Vec<Word> = words.map(|tokens| Word::Symbols(tokens.to_vec())).collect();
                judge_serially(machine, &words, limits)
            }
            Kind::Table(table) => table.judge_slices(words, limits),
        }
    }

    /// Begins a word that is read many tokens at a time, as fast as the model allows.
    pub fn scan(&self, limits: Limits) -> ModelScanner {
        ModelScanner(match &self.0 {
            Kind::Machine(machine) => ScannerKind::Machine(Box::new(machine.start(limits))),
            Kind::Table(table) => ScannerKind::Table(Box::new(Scanner::new(table, limits))),
        })
    }
}

impl Recognizer for Model {
    type Session = ModelSession;

    fn alphabet(&self) -> &Alphabet {
        self.alphabet()
    }

    fn start(&self, limits: Limits) -> ModelSession {
        ModelSession(match &self.0 {
            Kind::Machine(machine) => SessionKind::Machine(Box::new(machine.start(limits))),
            Kind::Table(table) => SessionKind::Table(table.start(limits)),
        })
    }
}

/// A session in which a [`Model`] reads one word.
#[derive(Clone, Debug)]
pub struct ModelSession(SessionKind);

#[derive(Clone, Debug)]
enum SessionKind {
    Machine(Box<MachineSession>),
    Table(TableSession),
}

impl ModelSession {
    /// Returns the number of tokens read.
    pub fn position(&self) -> u64 {
        match &self.0 {
            SessionKind::Machine(session) => session.position(),
            SessionKind::Table(session) => session.position(),
        }
    }
}

impl Session for ModelSession {
    fn feed(&mut self, input: Input<'_>, watch: &mut dyn Observer) -> Status {
        match &mut self.0 {
            SessionKind::Machine(session) => session.feed(input, watch),
            SessionKind::Table(session) => session.feed(input, watch),
        }
    }

    fn answer<A: Judged>(self, watch: &mut dyn Observer) -> A {
        match self.0 {
            SessionKind::Machine(session) => session.answer(watch),
            SessionKind::Table(session) => session.answer(watch),
        }
    }

    fn judge_together<W: Observer, A: Judged>(words: Vec<(Self, &Word, &mut W)>) -> Vec<A> {
        let (mut machines, mut tables, mut is_table) = (Vec::new(), Vec::new(), Vec::new());
        for (session, word, watch) in words {
            is_table.push(matches!(session.0, SessionKind::Table(_)));
            match session.0 {
                SessionKind::Machine(session) => machines.push((*session, word, watch)),
                SessionKind::Table(session) => tables.push((session, word, watch)),
            }
        }
        let mut by_machines = MachineSession::judge_together(machines).into_iter();
        let mut by_tables = TableSession::judge_together(tables).into_iter();
        is_table.into_iter().filter_map(|table| if table { by_tables.next() } else { by_machines.next() }).collect()
    }

    fn expected(&self) -> Vec<Lookahead> {
        match &self.0 {
            SessionKind::Machine(session) => session.expected(),
            SessionKind::Table(session) => session.expected(),
        }
    }
}

/// A session in which a [`Model`] reads one word, many tokens at a time. A table reads them with its [`Scanner`].
#[derive(Clone, Debug)]
pub struct ModelScanner(ScannerKind);

#[derive(Clone, Debug)]
enum ScannerKind {
    Machine(Box<MachineSession>),
    Table(Box<Scanner>),
}

impl ModelScanner {
    /// Reads tokens, stopping after the first one that ends the word, and returns the status.
    pub fn read(&mut self, tokens: &[SymbolId]) -> Status {
        match &mut self.0 {
            ScannerKind::Machine(session) => {
                for &token in tokens {
                    if session.feed(Input::Symbol(token), &mut ()) != Status::Open {
                        break;
                    }
                }
                session.status()
            }
            ScannerKind::Table(scanner) => scanner.read(tokens),
        }
    }

    /// Returns the number of tokens read.
    pub fn position(&self) -> u64 {
        match &self.0 {
            ScannerKind::Machine(session) => session.position(),
            ScannerKind::Table(scanner) => scanner.position(),
        }
    }

    /// Ends the word and returns the verdict.
    pub fn finish(self) -> Verdict {
        match self.0 {
            ScannerKind::Machine(session) => session.finish(&mut ()),
            ScannerKind::Table(mut scanner) => scanner.finish(),
        }
    }
}

#[cfg(all(test, feature = "machine"))]
mod tests {
    use super::*;
    use crate::automaton::Oracle;
    use crate::language::{WordKind, draw};
    use crate::reservoir::ReservoirKind;
    use crate::tasks::{Split, Task};

    /// Returns words of all kinds, and one with an unknown token.
    fn words() -> Vec<Word> {
        let (language, mut random) = (Task::Dyck2.language().unwrap(), Split::Test.generator(0));
        let oracle = Oracle::tolerant(language.automaton().clone());
        let kinds = WordKind::ALL.into_iter().cycle().take(90);
        let drawn = kinds.filter_map(|kind| draw(&*language, &oracle, kind, 0..=20, &mut random));
        drawn.chain([Word::Symbols(vec![SymbolId::UNKNOWN])]).collect()
    }

    #[test]
    fn a_model_has_the_verdicts_of_its_machine_or_table() {
        let task = Task::Dyck2;
        let params = task.params(ReservoirKind::Cycle, 64, 0).check().unwrap();
        let machine = params.fit(&task.alphabet(), &task.examples(Split::Train, 100, 0), &()).unwrap();
        let oracle = Oracle::strict(task.automaton().unwrap()).unwrap();
        let table = Table::new(&oracle, Manifest::default()).unwrap();
        let (words, limits) = (words(), Limits::default());
        let tokens = |word: &Word| match word {
            Word::Symbols(tokens) => tokens.clone(),
            Word::Vectors { .. } => unreachable!("the words of a language are symbols"),
        };
        let all_tokens: Vec<Vec<SymbolId>> = words.iter().map(tokens).collect();
        let by_machine: Vec<Verdict> = words.iter().map(|word| machine.judge_with(word, limits, &mut ())).collect();
        let by_table: Vec<Verdict> = words.iter().map(|word| table.judge_with(word, limits, &mut ())).collect();
        for (model, wanted) in [(Model::from(machine.clone()), &by_machine), (Model::from(table.clone()), &by_table)] {
            assert_eq!(words.iter().map(|word| model.judge(word)).collect::<Vec<_>>(), *wanted);
            assert_eq!(model.judge_all::<Verdict>(&words, limits), *wanted);
            assert_eq!(model.judge_serially::<Verdict>(&words, limits), *wanted);
            assert_eq!(model.judge_slices::<Verdict>(all_tokens.iter().map(Vec::as_slice), limits), *wanted);
            for (tokens, wanted) in all_tokens.iter().zip(wanted) {
                let mut scanner = model.scan(limits);
                scanner.read(tokens);
                assert_eq!(scanner.finish(), *wanted);
            }
            assert_eq!(judge_all::<_, Verdict>(&model, &words, limits), *wanted);
        }
        // Sessions of both kinds, judged together, each return the verdict of their own model.
        let (machine, table) = (Model::from(machine), Model::from(table));
        let mut watches = vec![(); words.len()];
        let mixed = words.iter().zip(&mut watches).enumerate().map(|(number, (word, watch))| {
            (if number % 2 == 0 { &machine } else { &table }.start(limits), word, watch)
        });
        let wanted = by_machine.iter().zip(&by_table).enumerate();
        let wanted: Vec<Verdict> = wanted.map(|(number, (a, b))| if number % 2 == 0 { a } else { b }.clone()).collect();
        assert_eq!(ModelSession::judge_together::<_, Verdict>(mixed.collect()), wanted);
    }
}
