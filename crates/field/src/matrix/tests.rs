use super::*;
use crate::Backend;

const MODULI: [u32; 4] = [u32::MAX - 4, (1 << 31) - 1, (1 << 24) - 3, 3];

/// Returns words below `m`, with corners among them.
fn words(len: usize, m: u32, seed: u64) -> Vec<u32> {
    let mut state = seed;
    let corners = [0, 1, m - 1, m / 2];
    let next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let word = state >> 33;
        if word.is_multiple_of(3) {
            corners[word as usize / 3 % 4]
        } else {
            ((u128::from(state) * u128::from(m)) >> 64) as u32
        }
    };
    core::iter::repeat_with(next).take(len).collect()
}

fn oracle(words: &[u32], width: usize, vector: &[u32], m: u32) -> Vec<u32> {
    let mut sums = vec![0u128; width];
    for (row, &factor) in words.chunks(width).zip(vector) {
        sums.iter_mut().zip(row).for_each(|(sum, &word)| *sum += u128::from(word) * u128::from(factor));
    }
    sums.iter().map(|&sum| (sum % u128::from(m)) as u32).collect()
}

#[test]
fn products_match_u128_remainders_on_every_backend() {
    for m in MODULI {
        let word = Word::new(m).unwrap();
        for (rows, width) in [(8, 16), (40, 48), (64, 1024)] {
            let mut tile = words(rows * width, m, 1);
            let mut vector = words(rows, m, 2);
            for largest in [false, true] {
                if largest {
                    tile.fill(m - 1);
                    vector.fill(m - 1);
                }
                let want = oracle(&tile, width, &vector, m);
                for backend in solinas_testing::back_ends(Backend::available()) {
                    for reduction in [Reduction::Lazy, Reduction::Barrett] {
                        let mut sums = Sums::zeroed(width);
                        multiply_add(backend, reduction, word, Tile::new(&tile, width), &vector, &mut sums);
                        let mut got = vec![0; width];
                        sums.finish(word, &mut got);
                        assert_eq!(got, want, "{backend}, {reduction:?}, {rows} x {width} modulo {m}");
                    }
                }
            }
        }
    }
}

#[test]
fn cut_sums_add_up() {
    let m = u32::MAX - 4;
    let word = Word::new(m).unwrap();
    let (tile, vector) = (words(32 * 32, m, 3), words(32, m, 4));
    let [backend, ..] = solinas_testing::back_ends(Backend::available())[..] else { panic!("no back end") };
    let part = |rows: core::ops::Range<usize>| {
        let mut sums = Sums::zeroed(32);
        let tile = Tile::new(&tile[32 * rows.start..32 * rows.end], 32);
        multiply_add(backend, Reduction::Lazy, word, tile, &vector[rows], &mut sums);
        Sums::from_words(&sums.parts().concat())
    };
    let mut sum = part(16..32);
    sum.add_lazy(&part(0..16));
    assert_eq!(sum.parts(), part(0..32).parts());
}

#[test]
fn rows_match_u128_remainders_on_every_backend() {
    for m in MODULI {
        let word = Word::new(m).unwrap();
        let (tile, vector) = (words(8 * 80, m, 5), words(80, m, 6));
        for backend in solinas_testing::back_ends(Backend::available()) {
            let mut out = [[0; 2]; 8];
            // The columns in two parts.
            multiply_rows(backend, Tile::new(&tile, 80), &vector, &mut out);
            for (row, &out) in tile.chunks(80).zip(&out) {
                let want: u128 = row.iter().zip(&vector).map(|(&a, &b)| u128::from(a) * u128::from(b)).sum();
                assert_eq!(u128::from(finish_split(word, out)), want % u128::from(m), "{backend} modulo {m}");
            }
        }
    }
}

#[test]
fn selections_match_products_with_zeros_and_ones_on_every_backend() {
    for m in MODULI {
        let word = Word::new(m).unwrap();
        for (rows, width) in [(32, 16), (96, 176)] {
            let mut tile = words(rows * width, m, 7);
            for full in [false, true] {
                if full {
                    tile.fill(m - 1);
                }
                let outputs: Vec<Vec<u32>> = (0..5)
                    .map(|k| match k {
                        0 => vec![0; rows],
                        1 => vec![1; rows],
                        k => words(rows, 1 << 31, k).iter().map(|&word| word >> 9 & 1).collect(),
                    })
                    .collect();
                let want: Vec<_> = outputs.iter().map(|bits| oracle(&tile, width, bits, m)).collect();
                let finish = |sums: &Selected| {
                    let mut out = vec![0; width];
                    sums.finish(word, &mut out);
                    out
                };
                let tile = Tile::new(&tile, width);
                for backend in solinas_testing::back_ends(Backend::available()) {
                    for (bits, want) in outputs.iter().zip(&want) {
                        let mut sums = Selected::zeroed(width);
                        let masks: Vec<u32> = bits.iter().map(|bit| bit.wrapping_neg()).collect();
                        select_add(backend, tile, &masks, &mut sums);
                        assert_eq!(&finish(&sums), want, "{backend}, masked, modulo {m}");
                        let mut sums = Selected::zeroed(width);
                        let set: Vec<u32> = (0..rows as u32).filter(|&row| bits[row as usize] == 1).collect();
                        vartime_select_add(backend, tile, &set, &mut sums);
                        assert_eq!(&finish(&sums), want, "{backend}, selected, modulo {m}");
                    }
                    let mut sums = vec![Selected::zeroed(width); outputs.len()];
                    let pack = |chunk: usize, output: &Vec<u32>| {
                        output[CHUNK * chunk..][..CHUNK].iter().rev().fold(0, |word, &bit| word << 1 | bit)
                    };
                    let bits: Vec<u32> = (0..rows / CHUNK)
                        .flat_map(|chunk| outputs.iter().map(move |output| pack(chunk, output)))
                        .collect();
                    vartime_select_many(backend, tile, &bits, &mut sums);
                    assert_eq!(sums.iter().map(finish).collect::<Vec<_>>(), want, "{backend}, tables, modulo {m}");
                }
            }
        }
    }
}
