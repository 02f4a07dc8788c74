//! Reading words from Arrow arrays.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, downcast_dictionary_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use echostack::{Alphabet, SymbolId};
use echostack_grammar::Judge;

/// The error for a column whose type cannot hold words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a column of type {0} holds no words; use lists of names, lists of integers, or texts")]
pub struct WordsError(DataType);

/// The words of a column, as tokens. Anything that is not a token of the alphabet is [`SymbolId::UNKNOWN`], which every
/// model rejects.
#[derive(Clone, Debug)]
pub struct Words {
    /// The tokens of all words.
    tokens: Vec<SymbolId>,
    /// The range of each word in `tokens`.
    places: Vec<Range<usize>>,
    nulls: Option<NullBuffer>,
}

impl Words {
    /// Reads the words of a column for a model with its lexer.
    ///
    /// # Errors
    /// If the type of the column cannot hold words.
    pub fn read(array: &dyn Array, judge: &Judge) -> Result<Self, WordsError> {
        let alphabet = judge.alphabet();
        let nulls = array.logical_nulls();
        let wrong = || WordsError(array.data_type().clone());
        let of_lists = |values: &ArrayRef, places: Vec<Range<usize>>| {
            let first = places.iter().map(|place| place.start).min().unwrap_or(0);
            let end = places.iter().map(|place| place.end).max().unwrap_or(0);
            let tokens = tokens(&values.slice(first, end - first), alphabet).ok_or_else(wrong)?;
            let places = places.iter().map(|place| place.start - first..place.end - first).collect();
            Ok(Self { tokens, places, nulls: nulls.clone() })
        };
        let rows = 0..array.len();
        match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                let ends = lists.value_offsets();
                of_lists(lists.values(), rows.map(|row| ends[row] as usize..ends[row + 1] as usize).collect())
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                let ends = lists.value_offsets();
                of_lists(lists.values(), rows.map(|row| ends[row] as usize..ends[row + 1] as usize).collect())
            }
            DataType::FixedSizeList(_, width) => {
                let lists = array.as_fixed_size_list();
                let width = *width as usize;
                of_lists(lists.values(), rows.map(|row| row * width..(row + 1) * width).collect())
            }
            DataType::Utf8 => Ok(Self::of_texts(array.as_string::<i32>().iter(), nulls, judge)),
            DataType::LargeUtf8 => Ok(Self::of_texts(array.as_string::<i64>().iter(), nulls, judge)),
            DataType::Utf8View => Ok(Self::of_texts(array.as_string_view().iter(), nulls, judge)),
            DataType::Dictionary(_, _) => {
                let values = Self::read(array.as_any_dictionary().values(), judge).map_err(|_| wrong())?;
                let place = |key: Option<usize>| key.and_then(|key| values.places.get(key).cloned()).unwrap_or(0..0);
                let places = downcast_dictionary_array!(
                    array => array.keys_iter().map(place).collect(),
                    _ => return Err(wrong())
                );
                Ok(Self { tokens: values.tokens, places, nulls })
            }
            _ => Err(wrong()),
        }
    }

    fn of_texts<'a>(texts: impl Iterator<Item = Option<&'a str>>, nulls: Option<NullBuffer>, judge: &Judge) -> Self {
        let mut this = Self { tokens: Vec::new(), places: Vec::new(), nulls };
        for text in texts {
            let start = this.tokens.len();
            if let Some(text) = text {
                judge.add_symbols(text, &mut this.tokens);
            }
            this.places.push(start..this.tokens.len());
        }
        this
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the tokens of a row, or `None` if the row is null.
    pub fn get(&self, row: usize) -> Option<&[SymbolId]> {
        let null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        (!null).then(|| &self.tokens[self.places[row].clone()])
    }
}

/// Returns the tokens of a flat array, or `None` if its type cannot hold tokens. A null becomes [`SymbolId::UNKNOWN`].
fn tokens(array: &dyn Array, alphabet: &Alphabet) -> Option<Vec<SymbolId>> {
    let named = |name: Option<&str>| name.and_then(|name| alphabet.symbol(name)).unwrap_or(SymbolId::UNKNOWN);
    Some(match array.data_type() {
        DataType::Int8 => numbers::<Int8Type>(array, alphabet),
        DataType::Int16 => numbers::<Int16Type>(array, alphabet),
        DataType::Int32 => numbers::<Int32Type>(array, alphabet),
        DataType::Int64 => numbers::<Int64Type>(array, alphabet),
        DataType::UInt8 => numbers::<UInt8Type>(array, alphabet),
        DataType::UInt16 => numbers::<UInt16Type>(array, alphabet),
        DataType::UInt32 => numbers::<UInt32Type>(array, alphabet),
        DataType::UInt64 => numbers::<UInt64Type>(array, alphabet),
        DataType::Utf8 => array.as_string::<i32>().iter().map(named).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(named).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(named).collect(),
        DataType::Dictionary(_, _) => {
            downcast_dictionary_array!(
                array => dictionary(array, alphabet)?,
                _ => return None
            )
        }
        _ => return None,
    })
}

/// Returns the tokens with the numbers in an array.
fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, alphabet: &Alphabet) -> Vec<SymbolId>
where
    T::Native: TryInto<u32>,
{
    let count = alphabet.len();
    let symbol = |number: T::Native| match number.try_into() {
        Ok(number) if (number as usize) < count => SymbolId::new(number as usize),
        _ => SymbolId::UNKNOWN,
    };
    let array = array.as_primitive::<T>();
    match array.nulls() {
        None => array.values().iter().map(|&number| symbol(number)).collect(),
        Some(_) => array.iter().map(|number| number.map_or(SymbolId::UNKNOWN, symbol)).collect(),
    }
}

/// Returns the tokens of an array with a dictionary.
fn dictionary<K: ArrowDictionaryKeyType>(
    array: &arrow_array::DictionaryArray<K>,
    alphabet: &Alphabet,
) -> Option<Vec<SymbolId>> {
    let values = tokens(array.values(), alphabet)?;
    let symbol = |key: usize| values.get(key).copied().unwrap_or(SymbolId::UNKNOWN);
    Some(array.keys_iter().map(|key| key.map_or(SymbolId::UNKNOWN, symbol)).collect())
}
