use super::factors::Unit;
use super::*;
use crate::Backend;

/// Repeating numbers with corners among them.
fn numbers(len: usize, seed: u64) -> Vec<u32> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let word = (state >> 32) as u32;
        if word.is_multiple_of(3) {
            [0, 1, u32::MAX, 1 << 31, 0x7fff, 0x8000, 0xffff, 0x7fff_8000, 0x7fff_7fff][word as usize / 3 % 9]
        } else {
            word
        }
    };
    core::iter::repeat_with(next).take(len).collect()
}

/// A matrix with the corners 0, 127, 128 and 255, and its entries row by row.
fn matrix(rows: usize, columns: usize) -> (ByteMatrix, Vec<u8>) {
    let corners = [0, 127, 128, 255];
    let value = |word: u32| if word.is_multiple_of(2) { corners[word as usize / 2 % 4] } else { (word >> 8) as u8 };
    let entries: Vec<u8> = numbers(rows * columns, 3).into_iter().map(value).collect();
    let mut matrix = ByteMatrix::zeroed(rows, columns);
    for column in 0..columns {
        let values: Vec<u8> = entries[column..].iter().step_by(columns).copied().collect();
        matrix.fill_columns(0, column, rows, &values);
    }
    (matrix, entries)
}

fn oracle(entries: &[u8], columns: usize, vectors: &[Vec<u32>]) -> Vec<u32> {
    let product = |row: &[u8], vector: &[u32]| {
        let terms = row.iter().zip(vector).map(|(&byte, &word)| i128::from(byte.cast_signed()) * i128::from(word));
        terms.sum::<i128>().rem_euclid(1 << 32) as u32
    };
    entries
        .chunks(columns)
        .flat_map(|row| vectors.iter().map(|vector| product(row, vector)).collect::<Vec<_>>())
        .collect()
}

#[test]
fn products_match_integers_on_every_unit() {
    for (rows, columns, vectors) in [(1, 1, 1), (3, 63, 2), (4, 64, 1), (5, 65, 3), (9, 300, 1), (6, CHUNK + 70, 5)] {
        let (matrix, entries) = matrix(rows, columns);
        let words: Vec<Vec<u32>> = (0..vectors).map(|v| numbers(columns, 7 + v)).collect();
        let slices: Vec<&[u32]> = words.iter().map(Vec::as_slice).collect();
        let want = oracle(&entries, columns, &words);
        for unit in Unit::available() {
            let mut factors = Factors::with_unit(unit, slices.len(), columns);
            factors.set_all(&slices);
            let mut sums = vec![0; matrix.groups() * ROWS * slices.len()];
            // In two parts, whose sums begin with ones.
            sums.fill(1);
            let middle = matrix.groups() / 2;
            let (first, second) = sums.split_at_mut(middle * ROWS * slices.len());
            multiply_add(&matrix, 0..middle, &factors, first);
            multiply_add(&matrix, middle..matrix.groups(), &factors, second);
            let got: Vec<u32> = sums[..want.len()].iter().map(|sum| sum.wrapping_sub(1)).collect();
            assert_eq!(got, want, "{unit:?}, {rows} x {columns}");
        }
    }
}

/// The largest sums of every method.
#[test]
fn extreme_sums_wrap() {
    let columns = 2 * CHUNK;
    for byte in [127, 128] {
        let mut matrix = ByteMatrix::zeroed(1, columns);
        matrix.fill_columns(0, 0, 1, &vec![byte; columns]);
        for word in [u32::MAX, 0x7fff_7fff, 0x8000_8000, 0x7fff_8000, 0x00ff_00ff] {
            let vector = vec![word; columns];
            let want = oracle(&vec![byte; columns], columns, std::slice::from_ref(&vector));
            for unit in Unit::available() {
                let mut factors = Factors::with_unit(unit, 1, columns);
                factors.set_all(&[&vector]);
                let mut sums = vec![0; ROWS];
                multiply_add(&matrix, 0..1, &factors, &mut sums);
                assert_eq!(sums[0], want[0], "{unit:?}, {byte} times {word:#x}");
            }
        }
    }
}

#[test]
fn pieces_go_down_columns() {
    let (rows, columns, len) = (11, 200, 5);
    let pieces: Vec<u8> = (0..len * 150).map(|i| (i * 7) as u8).collect();
    let mut matrix = ByteMatrix::zeroed(rows, columns);
    matrix.fill_columns(6, 40, len, &pieces);
    for (i, piece) in pieces.chunks(len).enumerate() {
        assert_eq!(matrix.column(6, 40 + i, len), piece);
    }
    assert_eq!(matrix.column(0, 40, 6), [0; 6]);
    assert_eq!(matrix.stored().iter().filter(|&&byte| byte != 0).count(), pieces.iter().filter(|&&b| b != 0).count());
}

#[test]
fn multiples_are_added_on_every_backend() {
    let words = numbers(1003, 1);
    for factor in [0, 1, u32::MAX, 0x8000_0001] {
        for backend in solinas_testing::back_ends(Backend::available()) {
            let mut sums = numbers(1003, 2);
            add_multiple(backend, &mut sums, &words, factor);
            for ((sum, before), word) in sums.into_iter().zip(numbers(1003, 2)).zip(&words) {
                assert_eq!(sum, before.wrapping_add(word.wrapping_mul(factor)), "{backend}");
            }
        }
    }
}
