//! Judges a text beyond its first mistake.

use echostack::recognize::{Recovery, mistakes};
use echostack::{Limits, SymbolId, Verdict};

use super::{Fault, FaultKind, Judge, Judgement, MAX_TOKEN};
use crate::lex::lexer::Lexer;
use crate::lex::tokenizer::{Found, LexFault, Tokenizer};
use crate::text::place::Tracker;

/// A piece of a text: a token, or text that no token begins with.
#[derive(Clone, Copy, Debug)]
struct Piece {
    symbol: SymbolId,
    kind: PieceKind,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, Debug)]
enum PieceKind {
    /// A token, with the number of its name in the lexer.
    Token(u32),
    /// Text that is skipped because of a fault.
    Faulty(LexFault),
    /// The rest of the text, which is not UTF-8.
    NotUtf8(u8),
}

impl Judge {
    /// Judges a text, and goes on after a mistake: by repairing it, as [`mistakes`] does, and by skipping text that no
    /// token begins with. The result has a judgement for each mistake, in the order of their places, or one that accepts
    /// the text. The first one is that of [`Judge::judge_stream`].
    ///
    /// ```
    /// use echostack::recognize::Recovery;
    /// use echostack::{Limits, Manifest, Oracle, Table, language::Language};
    /// use echostack_grammar::{Encoding, Grammar, Judge};
    /// let grammar = Grammar::new("sums", "%start S\n%%\nS: S '+' 'n' | 'n';\n", Encoding::Auto)?;
    /// let mut manifest = Manifest::default();
    /// manifest.set_lexer("%%\n[0-9]+ \"n\"\n\\+ \"+\"\n[ ]+ ;\n");
    /// let table = Table::new(&Oracle::strict(grammar.automaton().clone())?, manifest)?;
    /// let found = Judge::new(table.into())?.judge_with_recovery(b"1 + + 2 + 3 4 + 5 ? 6", Limits::default(), &Recovery::default());
    /// let bytes: Vec<u64> = found.iter().filter_map(|one| Some(one.fault.as_ref()?.byte)).collect();
    /// assert_eq!(bytes, [4, 12, 18]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge_with_recovery(&self, text: &[u8], limits: Limits, recovery: &Recovery) -> Vec<Judgement> {
        let first = self.judge_bytes(text, limits);
        if recovery.mistakes < 2 || matches!(first.verdict, Verdict::Accept | Verdict::Stopped { .. }) {
            return vec![first];
        }
        let (valid, broken) = match std::str::from_utf8(text) {
            Ok(valid) => (valid, None),
            Err(error) => {
                let (valid, rest) = text.split_at(error.valid_up_to());
                (std::str::from_utf8(valid).unwrap_or_default(), rest.first().copied())
            }
        };
        let (mut pieces, mut complete) = self.pieces(valid, broken.is_none(), recovery.mistakes);
        if let (Some(byte), true) = (broken, complete) {
            let (start, end) = (valid.len(), text.len());
            pieces.push(Piece { symbol: SymbolId::UNKNOWN, kind: PieceKind::NotUtf8(byte), start, end });
            complete = false;
        }
        let symbols: Vec<SymbolId> = pieces.iter().map(|piece| piece.symbol).collect();
        // The text may end in white space that is not skipped, so its end may come before the first mistake.
        let mut passed = first.fault.as_ref().map_or(0, |fault| fault.byte as usize).min(valid.len());
        let mut tracker = Tracker::default();
        tracker.pass(&valid[..passed]);
        let mut all = vec![first];
        for mistake in mistakes(self.model(), &symbols, limits, recovery).into_iter().skip(1) {
            let piece = mistake.verdict.position().and_then(|position| pieces.get(position as usize));
            if piece.is_none() && !complete {
                break; // what comes at the end is not known
            }
            let byte = piece.map_or(valid.trim_end().len(), |piece| piece.start).max(passed);
            tracker.pass(&valid[passed..byte]);
            passed = byte;
            let kind = piece.map_or(FaultKind::End, |piece| self.kind(piece, valid));
            let fault = Fault { place: tracker.here(&valid[byte..]), byte: byte as u64, kind };
            all.push(self.judgement(mistake.verdict, fault));
        }
        all
    }

    fn kind(&self, piece: &Piece, text: &str) -> FaultKind {
        match piece.kind {
            PieceKind::NotUtf8(byte) => FaultKind::NotUtf8(byte),
            PieceKind::Faulty(fault) => FaultKind::of(fault, &text[piece.start..]),
            PieceKind::Token(name) => {
                let own: String = text[piece.start..piece.end].chars().take(MAX_TOKEN).collect();
                let name = self.lexer().map_or(&own, |lexer| &lexer.names()[name as usize]).clone();
                FaultKind::Token { name, text: own }
            }
        }
    }

    /// Splits a text into pieces. If it goes on (`!ends`), a token that may go on, too, is left out. At most `most` pieces are
    /// faulty; returns whether these are all pieces of the text.
    fn pieces(&self, text: &str, ends: bool, most: usize) -> (Vec<Piece>, bool) {
        if let Some(lexer) = self.lexer() {
            return lexed(lexer, self.symbols(), (text, ends), most);
        }
        let one = |(start, letter): (usize, char)| {
            let end = start + letter.len_utf8();
            Piece { symbol: self.symbol(&text[start..end]), kind: PieceKind::Token(0), start, end }
        };
        (text.char_indices().map(one).collect(), true)
    }
}

/// Splits a text into tokens and what is between them. Characters next to each other that no token begins with are one
/// piece.
fn lexed(lexer: &Lexer, symbols: &[SymbolId], (text, ends): (&str, bool), most: usize) -> (Vec<Piece>, bool) {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut tokenizer = Tokenizer::new(lexer);
    let (mut from, mut faults) = (0, 0);
    loop {
        let mut keep = |Found { name, start, end }| {
            let (start, end) = (start as usize, end as usize);
            pieces.push(Piece { symbol: symbols[name as usize], kind: PieceKind::Token(name), start, end });
        };
        let mut read = tokenizer.read(&text.as_bytes()[from..], &mut keep);
        if ends && read.is_ok() {
            read = tokenizer.finish(&mut keep);
        }
        let Err(mut fault) = read else { return (pieces, true) };
        let start = fault.byte() as usize;
        // A fault is at the beginning of a character, unless a rule of the lexer matches a part of one.
        let letter = text.get(start..).and_then(|rest| rest.chars().next());
        let end = start + letter.map_or(1, char::len_utf8);
        if let (LexFault::NoToken(_), Some(_)) = (fault, letter)
            && let Err(limit) = tokenizer.resume(end as u64)
        {
            fault = limit;
        }
        match pieces.last_mut() {
            Some(last @ Piece { kind: PieceKind::Faulty(_), .. }) if last.end == start => last.end = end,
            _ => {
                faults += 1;
                let kind = PieceKind::Faulty(fault);
                pieces.push(Piece { symbol: SymbolId::UNKNOWN, kind, start, end });
            }
        }
        if faults >= most || letter.is_none() || matches!(fault, LexFault::Limit(_)) {
            return (pieces, false);
        }
        from = end;
    }
}
