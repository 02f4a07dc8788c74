//! Tests that columns of every type give the same verdicts as single words.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, LargeListBuilder, ListBuilder, StringBuilder, UInt16Builder};
use arrow_array::builder::{Int64Builder, StringDictionaryBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int16Array, Int32Array, LargeStringArray, StringArray,
    StringViewArray,
};
use echostack::reservoir::ReservoirKind;
use echostack::tasks::{Split, Task};
use echostack::{Alphabet, Limits, Manifest, Model, Oracle, Recognizer, SymbolId, Table, Verdict, Word};
use echostack_arrow::{VERDICT, Words, verdicts};
use echostack_grammar::Judge;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn models() -> [Model; 2] {
    let task = Task::Dyck2;
    let table = Table::new(&Oracle::strict(task.automaton().unwrap()).unwrap(), Manifest::default()).unwrap();
    let traces = task.examples(Split::Train, 100, 0);
    let machine = task.params(ReservoirKind::Cycle, 64, 0).check().unwrap();
    let machine = machine.fit(&task.alphabet(), &traces, &()).unwrap();
    [table.into(), machine.into()]
}

/// Returns words that include some nulls, and some tokens that are not terminals.
fn words(alphabet: &Alphabet) -> Vec<Option<Vec<usize>>> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let terminals = alphabet.terminals().len();
    let mut all = vec![None, Some(vec![]), Some(vec![terminals + 500])];
    for _ in 0..3_000 {
        let length = random.random_range(0..12);
        let token = |random: &mut ChaCha8Rng| {
            let unknown = usize::from(random.random_bool(0.02));
            random.random_range(0..terminals + unknown)
        };
        all.push((!random.random_bool(0.05)).then(|| (0..length).map(|_| token(&mut random)).collect()));
    }
    all
}

#[test]
fn every_type_of_column_has_the_verdicts_of_its_words() {
    for model in models() {
        let alphabet = model.alphabet().clone();
        let words = words(&alphabet);
        let symbol = |&token: &usize| if token < alphabet.len() { SymbolId::new(token) } else { SymbolId::UNKNOWN };
        let name = |&token: &usize| if token < alphabet.len() { alphabet.name(SymbolId::new(token)) } else { "?" };
        let alone = |word: &Vec<usize>| model.judge(&Word::Symbols(word.iter().map(symbol).collect()));
        let wanted: Vec<Option<Verdict>> = words.iter().map(|word| word.as_ref().map(alone)).collect();
        let accepted = wanted.iter().flatten().filter(|verdict| verdict.is_accept()).count();
        assert!(accepted > 20 && accepted < words.len() / 2, "{accepted}");

        let mut small = ListBuilder::new(UInt16Builder::new());
        let mut large = LargeListBuilder::new(Int64Builder::new());
        let mut named = ListBuilder::new(StringBuilder::new());
        let mut coded = ListBuilder::new(StringDictionaryBuilder::<Int8Type>::new());
        for word in &words {
            for token in word.iter().flatten() {
                small.values().append_value(*token as u16);
                if *token < alphabet.len() {
                    large.values().append_value(*token as i64);
                    named.values().append_value(name(token));
                } else {
                    large.values().append_value(-1 - *token as i64);
                    named.values().append_null();
                }
                coded.values().append_value(name(token));
            }
            small.append(word.is_some());
            large.append(word.is_some());
            named.append(word.is_some());
            coded.append(word.is_some());
        }
        // All names are single characters, those of the brackets and those of the nonterminals.
        let texts: Vec<Option<String>> =
            words.iter().map(|word| word.as_ref().map(|word| word.iter().map(name).collect())).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(small.finish()),
            Arc::new(large.finish()),
            Arc::new(named.finish()),
            Arc::new(coded.finish()),
            Arc::new(texts.iter().map(Option::as_deref).collect::<StringArray>()),
            Arc::new(texts.iter().map(Option::as_deref).collect::<LargeStringArray>()),
            Arc::new(texts.iter().map(Option::as_deref).collect::<StringViewArray>()),
            Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int16Type>>()),
        ];
        let judge = Judge::new(model).unwrap();
        for column in columns {
            let read = Words::read(&column, &judge).unwrap();
            assert_eq!(read.judge::<Verdict>(&judge, Limits::default()), wanted, "{}", column.data_type());
            assert_eq!(read.judge_all::<Verdict>(&judge, Limits::default()), wanted, "{}", column.data_type());
            // The values of a slice begin in the middle of the column's values.
            let slice = Words::read(&column.slice(1_000, 500), &judge).unwrap();
            assert_eq!(
                slice.judge::<Verdict>(&judge, Limits::default()),
                wanted[1_000..1_500],
                "{}",
                column.data_type()
            );
            assert!(Words::read(&column.slice(7, 0), &judge).unwrap().is_empty());
        }
        let outcomes: Vec<_> = wanted.iter().map(|verdict| verdict.as_ref().map(Verdict::outcome)).collect();
        let shown = verdicts(&outcomes);
        let names = shown.column_by_name(VERDICT).unwrap().as_string::<i32>();
        let positions = shown.column(1).as_primitive::<UInt64Type>();
        for (row, verdict) in wanted.iter().enumerate() {
            assert_eq!(shown.is_null(row), verdict.is_none());
            if let Some(verdict) = verdict {
                assert_eq!(names.value(row), verdict.name());
                let position = (!positions.is_null(row)).then(|| positions.value(row));
                assert_eq!(position, verdict.position());
            }
        }
    }
}

#[test]
fn a_dictionary_may_be_empty_and_may_contain_nulls() {
    let [table, _] = models();
    let judge = Judge::new(table).unwrap();
    let empty: DictionaryArray<Int16Type> = [None::<&str>, None].into_iter().collect();
    let with_null = StringArray::from(vec![Some("()"), None]);
    let with_null = DictionaryArray::new(Int16Array::from(vec![Some(1), None, Some(0)]), Arc::new(with_null));
    let judged = |array: &dyn Array| Words::read(array, &judge).unwrap().judge::<Verdict>(&judge, Limits::default());
    assert_eq!(judged(&empty), [None, None]);
    assert_eq!(judged(&with_null), [None, None, Some(Verdict::Accept)]);
    let numbers = DictionaryArray::new(Int16Array::from(vec![0]), Arc::new(Int32Array::from(vec![7])));
    assert!(Words::read(&numbers, &judge).unwrap_err().to_string().contains("Dictionary"));
}

#[test]
fn lists_of_fixed_size() {
    let [table, _] = models();
    let judge = Judge::new(table).unwrap();
    let mut lists = FixedSizeListBuilder::new(StringBuilder::new(), 2);
    for pair in [["(", ")"], ["(", "("], ["[", "]"], [")", "("]] {
        pair.iter().for_each(|token| lists.values().append_value(token));
        lists.append(true);
    }
    let lists = lists.finish();
    let accepted = |array: &dyn Array| -> Vec<bool> {
        let verdicts = Words::read(array, &judge).unwrap().judge::<Verdict>(&judge, Limits::default());
        verdicts.iter().flatten().map(Verdict::is_accept).collect()
    };
    assert_eq!(accepted(&lists), [true, false, true, false]);
    assert_eq!(accepted(&lists.slice(2, 2)), [true, false]);
}

#[test]
fn columns_that_hold_no_words_are_named() {
    let [table, _] = models();
    let judge = Judge::new(table).unwrap();
    let message = |array: &dyn Array| Words::read(array, &judge).unwrap_err().to_string();
    assert!(message(&Int32Array::from(vec![1])).contains("type Int32 holds no words"));
    let mut lists = ListBuilder::new(arrow_array::builder::BooleanBuilder::new());
    lists.append_value([Some(true)]);
    assert!(message(&lists.finish()).contains("List(Boolean"));
    assert!(message(&BooleanArray::from(vec![true])).contains("Boolean"));
}
