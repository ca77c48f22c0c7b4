//! Records read privately, against the database in the clear.

use proptest::prelude::*;
use rand_core::RngCore;
use solinas_field::Backend;

use super::*;
use crate::control::CANCELLED;
use crate::random::SecretSeed;
use crate::{Control, Error};

/// Records of random bytes, the corners 0, 127, 128 and 255 among them.
fn records(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = SecretSeed::insecure(seed).stream(0);
    let mut byte = || {
        let word = rng.next_u32();
        if word.is_multiple_of(2) { [0, 127, 128, 255][word as usize / 2 % 4] } else { (word >> 8) as u8 }
    };
    (0..len).map(|_| byte()).collect()
}

fn database(layout: Layout, records: &[u8]) -> Database {
    let mut builder = Builder::new(layout).unwrap();
    builder.push(records).unwrap();
    builder.finish().unwrap()
}

fn client(database: &Database) -> Client {
    Client::new(database.hint(&Control::default()).unwrap())
}

#[test]
fn records_are_those_of_the_database() {
    // Records, their bytes, records in a column.
    for (count, len, stretches) in
        [(1, 1, 1), (1, 3000, 1), (4, 1, 4), (7, 5, 3), (300, 2, 4), (5000, 3, 1), (9, 64, 9)]
    {
        let layout = Layout::from_parts(count, len, stretches).unwrap();
        let all = records(count * len, 1);
        let database = database(layout, &all);
        let client = client(&database);
        for index in [0, count / 2, count - 1] {
            let (query, pending) = client.query(index).unwrap();
            let record = client.read(pending, &database.answer(&query).unwrap()).unwrap();
            assert_eq!(record, all[index * len..][..len], "record {index} of {count}, {stretches} in a column");
            assert_eq!(database.record(index).unwrap(), record);
        }
    }
}

#[test]
fn every_byte_value_is_read() {
    let all: Vec<u8> = (0..=255).collect();
    let database = database(Layout::from_parts(1, 256, 1).unwrap(), &all);
    let client = client(&database);
    let (query, pending) = client.query(0).unwrap();
    assert_eq!(client.read(pending, &database.answer(&query).unwrap()).unwrap(), all);
}

#[test]
fn hints_and_answers_are_the_same_on_every_backend_and_with_any_threads() {
    let layout = Layout::from_parts(5000, 7, 30).unwrap();
    let all = records(5000 * 7, 2);
    let mut results = Vec::new();
    for backend in solinas_testing::back_ends(Backend::available()) {
        let database = database(layout, &all).with_backend(backend);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            results.push(pool.install(|| {
                let client = client(&database);
                let query = |seed| {
                    let mut rng = SecretSeed::insecure(seed).stream(0);
                    client.query_with(77, &mut rng, backend).unwrap().0
                };
                let queries: Vec<Query> = (0..BATCH as u64 + 3).map(query).collect();
                let answers = database.answer_all(&queries).unwrap();
                assert_eq!(answers[BATCH], database.answer(&queries[BATCH]).unwrap());
                (client.hint().clone(), queries, answers)
            }));
        }
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

/// `H = D A` by the definition.
#[test]
fn the_hint_is_the_product_with_the_public_matrix() {
    let layout = Layout::from_parts(600, 2, 2).unwrap();
    let database = database(layout, &records(1200, 3));
    let hint = database.hint(&Control::default()).unwrap();
    let public = hint::PublicMatrix::new(database.id(), Backend::Scalar);
    let (rows, columns) = (layout.rows(), layout.columns());
    public.columns(0..DIMENSION, 0, columns, |k, a| {
        let (row, mut sum) = (k % rows, 0u32);
        for (column, a) in a.iter().enumerate() {
            let entry = database.matrix.column(row, column, 1)[0].cast_signed();
            sum = sum.wrapping_add(i32::from(entry).cast_unsigned().wrapping_mul(*a));
        }
        assert_eq!(hint.words()[row * DIMENSION + k], sum, "row {row}, number {k}");
    });
}

/// Words of all columns of `A`, in two chunks of its rows, for two databases.
#[test]
fn the_public_matrix_does_not_repeat() {
    let mut words = Vec::new();
    for id in [DatabaseId([1; 32]), DatabaseId([2; 32])] {
        let public = hint::PublicMatrix::new(id, Backend::Scalar);
        for first in [0, solinas_field::bytes::CHUNK] {
            public.columns(0..DIMENSION, first, 20, |_, column| words.extend_from_slice(column));
        }
    }
    let count = words.len();
    words.sort_unstable();
    words.dedup();
    // Of 87,040 uniform words, one pair is equal on average.
    assert!(words.len() + 12 > count, "{} of {count}", words.len());
}

#[test]
fn queries_have_secrets_of_their_own() {
    let database = database(Layout::from_parts(2000, 1, 1).unwrap(), &[7; 2000]);
    let client = client(&database);
    let (first, one) = client.query(5).unwrap();
    let (second, two) = client.query(5).unwrap();
    assert!(first.number() != second.number() && *one.secret != *two.secret);
    let equal = first.words().iter().zip(second.words()).filter(|(a, b)| a == b).count();
    assert!(equal < 10, "{equal}");
}

/// The noise of answers from a database whose entries all have the largest magnitude has the standard deviation of the
/// formula. Made 100 times as large, as 10,000 times as many columns would do, it makes as many bytes wrong as the formula
/// says.
#[test]
fn noise_and_wrong_bytes_are_those_of_the_formula() {
    const COLUMNS: usize = 300;
    let layout = Layout::from_parts(COLUMNS, 1, 1).unwrap();
    let database = database(layout, &[128; COLUMNS]);
    let client = client(&database);
    let mut rng = SecretSeed::insecure(4).stream(0);
    let (count, mut square, mut wrong) = (800, 0.0, 0);
    for _ in 0..count {
        let (query, pending) = client.query_with(5, &mut rng, database.backend()).unwrap();
        let number = client.numbers(&pending, &database.answer(&query).unwrap()).unwrap()[0];
        let noise = f64::from(number.wrapping_sub(128 << SHIFT).cast_signed());
        square += noise.powi(2);
        wrong += i32::from(100.0 * noise.abs() >= f64::from(1 << (SHIFT - 1)));
    }
    let ratio = (square / f64::from(count)).sqrt() / (128.0 * SIGMA * (COLUMNS as f64).sqrt());
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let (rate, formula) = (f64::from(wrong) / f64::from(count), log2_failure(COLUMNS * 100 * 100).exp2());
    assert!((rate / formula - 1.0).abs() < 0.2, "{rate} measured, {formula} by the formula");
}

#[test]
fn parameters_are_secure_and_correct() {
    assert!(security().classical_bits >= 128.5, "{:?}", security());
    assert!(log2_failure(MAX_COLUMNS) <= -64.0, "{}", log2_failure(MAX_COLUMNS));
    assert!(log2_failure(MAX_COLUMNS + 4096) > -64.0);
}

#[test]
fn layouts_have_the_least_traffic() {
    let layout = Layout::new(1 << 20, 1024, 100).unwrap();
    assert_eq!((layout.stretches(), layout.columns()), (22, 47_663));
    for (records, len, queries) in
        [(1, 1, 1), (33_000, 1024, 100), (33_000, 1024, 1), (1 << 20, 8, 10_000), (5, 4096, 3)]
    {
        let layout = Layout::new(records, len, queries).unwrap();
        let traffic = |layout: &Layout| {
            let each = (layout.rows() + layout.columns()) * queries as usize;
            layout.rows() * DIMENSION + each
        };
        let other = (1..=records.min(3000)).filter_map(|k| Layout::from_parts(records, len, k).ok());
        let least = other.map(|layout| traffic(&layout)).min().unwrap();
        // Numbers of columns are rounded up.
        assert!(traffic(&layout) as f64 <= 1.02 * least as f64, "{layout:?}: {} above {least}", traffic(&layout));
        let place = |index| layout.place(index).unwrap();
        assert!(place(records - 1).0 < layout.columns() && place(records - 1).1 + len <= layout.rows());
    }
}

#[test]
fn mistakes_are_errors() {
    let error = |records, len, stretches| Layout::from_parts(records, len, stretches).unwrap_err().to_string();
    assert_eq!(error(0, 1, 1), "a database has no bytes: give one record or more, of one byte or more");
    assert!(error(1, 0, 1).contains("no bytes"));
    assert!(error(1 << 30, 1 << 20, 1 << 20).contains("1 TiB"));
    assert!(error(usize::MAX, usize::MAX, 3).contains("1 TiB"));
    assert!(error(100_000, 1, 1).contains("take from 3 to 100000"));
    assert!(error(2, 1, 3).contains("from 1 to 2"));
    assert!(error(2, 1, 0).contains("from 1 to 2"));
    assert!(Layout::new(usize::MAX, usize::MAX, u32::MAX).is_err());

    let layout = Layout::from_parts(10, 4, 2).unwrap();
    let mut builder = Builder::new(layout).unwrap();
    assert!(matches!(builder.push(&[0; 5]), Err(Error::Dimension { got: 5, want: 8, .. })));
    assert!(matches!(builder.push(&[0; 44]), Err(Error::Dimension { got: 11, want: 10, .. })));
    builder.push(&[0; 36]).unwrap();
    assert!(matches!(builder.finish(), Err(Error::Dimension { got: 9, want: 10, .. })));

    let (first, second) = (database(layout, &[1; 40]), database(layout, &[2; 40]));
    assert!(matches!(first.hint(&CANCELLED), Err(Error::Cancelled(_))));
    let (one, two) = (client(&first), client(&second));
    assert!(matches!(one.query(10), Err(Error::NoRecord { index: 10, records: 10 })));
    let (query, pending) = one.query(3).unwrap();
    assert!(matches!(second.answer(&query), Err(Error::OtherDatabase { what: "the query", .. })));
    let answer = first.answer(&query).unwrap();
    assert!(matches!(two.numbers(&pending, &answer), Err(Error::OtherDatabase { .. })));
    let other = first.answer(&one.query(3).unwrap().0).unwrap();
    assert_eq!(one.numbers(&pending, &other), Err(Error::OtherQuery));
    let short = Answer { words: answer.words[1..].to_vec(), ..answer.clone() };
    assert!(matches!(one.numbers(&pending, &short), Err(Error::Dimension { got: 7, want: 8, .. })));
    let short = Query { words: query.words[1..].to_vec(), ..query };
    assert!(matches!(first.answer(&short), Err(Error::Dimension { got: 4, want: 5, .. })));
    assert_eq!(one.read(pending, &answer).unwrap(), [1; 4]);
    assert!(first.answer_all(&[]).unwrap().is_empty());
}

#[test]
fn the_order_of_pushes_does_not_matter_and_every_record_counts() {
    let layout = Layout::from_parts(100, 3, 4).unwrap();
    let all = records(300, 6);
    let mut builder = Builder::new(layout).unwrap();
    all.chunks(21).for_each(|part| builder.push(part).unwrap());
    let parts = builder.finish().unwrap();
    let whole = database(layout, &all);
    assert_eq!((parts.id(), parts.stored()), (whole.id(), whole.stored()));
    let mut changed = all.clone();
    changed[299] ^= 1;
    assert_ne!(database(layout, &changed).id(), whole.id());
    assert_ne!(database(Layout::from_parts(100, 3, 5).unwrap(), &all).id(), whole.id());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any change of the bytes is found, and no bytes make a reader panic.
    #[test]
    fn damaged_bytes_are_refused(at in any::<prop::sample::Index>(), value in 1u8.., cut in any::<prop::sample::Index>()) {
        let database = database(Layout::from_parts(3, 2, 1).unwrap(), &[1, 2, 3, 4, 5, 6]);
        let hint = database.hint(&Control::default()).unwrap();
        let query = Client::new(hint.clone()).query(1).unwrap().0;
        let answer = database.answer(&query).unwrap();
        prop_assert_eq!(&Hint::from_bytes(&hint.to_bytes()).unwrap(), &hint);
        prop_assert_eq!(&Query::from_bytes(&query.to_bytes()).unwrap(), &query);
        prop_assert_eq!(&Answer::from_bytes(&answer.to_bytes()).unwrap(), &answer);
        for bytes in [hint.to_bytes(), query.to_bytes(), answer.to_bytes()] {
            let refused = |bytes: &[u8]| {
                Hint::from_bytes(bytes).is_err() && Query::from_bytes(bytes).is_err() && Answer::from_bytes(bytes).is_err()
            };
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] ^= value;
            prop_assert!(refused(&changed));
            prop_assert!(refused(&bytes[..cut.index(bytes.len())]));
            // With a correct hash, lengths and layouts are still checked.
            let end = changed.len() - 32;
            let hash = blake3::hash(&changed[..end]);
            changed[end..].copy_from_slice(hash.as_bytes());
            let _ = (Hint::from_bytes(&changed), Query::from_bytes(&changed), Answer::from_bytes(&changed));
        }
    }
}
