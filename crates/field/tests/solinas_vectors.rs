//! The shared test vectors hold on every back end.

#![allow(clippy::unwrap_used, reason = "tests")]

use solinas_field::Backend;
use solinas_field::solinas::{
    Convolution, Plan, add, carry, inv, mul, mul_pow2, naive, reduce_u128, root_of_unity, split, sub,
};

fn kind(name: &str) -> Convolution {
    match name {
        "cyclic" => Convolution::Cyclic,
        "negacyclic" => Convolution::Negacyclic,
        other => panic!("no ring {other}"),
    }
}

fn hex(words: &str) -> Vec<u64> {
    words.split_whitespace().map(|w| u64::from_str_radix(w, 16).unwrap()).collect()
}

#[test]
fn vectors_hold() {
    let mut lines = 0;
    for line in include_str!("vectors/solinas.txt").lines().filter(|l| !l.starts_with('#')) {
        let (left, right) = line.split_once(" = ").unwrap();
        let (head, input) = left.split_once(" : ").unwrap_or((left, ""));
        let words: Vec<&str> = head.split(' ').collect();
        let number = |i: usize| u64::from_str_radix(words[i], 16).unwrap();
        let decimal = |i: usize| words[i].parse::<u64>().unwrap();
        let want = || hex(right);
        lines += 1;
        match words[0] {
            "add" => assert_eq!([add(number(1), number(2))], want()[..], "{line}"),
            "sub" => assert_eq!([sub(number(1), number(2))], want()[..], "{line}"),
            "mul" => assert_eq!([mul(number(1), number(2))], want()[..], "{line}"),
            "shift" => assert_eq!([mul_pow2(number(1), decimal(2))], want()[..], "{line}"),
            "inverse" => assert_eq!([inv(number(1)).unwrap()], want()[..], "{line}"),
            "reduce" => {
                assert_eq!([reduce_u128(u128::from(number(1)) << 64 | u128::from(number(2)))], want()[..], "{line}");
            }
            "root" => assert_eq!([root_of_unity(decimal(1)).unwrap()], want()[..], "{line}"),
            "exponents" => {
                let plan = Plan::new(decimal(2) as usize, kind(words[1]), Backend::Scalar, 1).unwrap();
                let exponents: Vec<usize> = right.split(' ').map(|e| e.parse().unwrap()).collect();
                assert!((0..plan.len()).map(|i| plan.exponent(i)).eq(exponents), "{line}");
            }
            "forward" | "checksum" => forward(&words, input, &want(), line),
            "split" | "carry" => digits(&words, input, &want(), line),
            other => panic!("no operation {other}"),
        }
    }
    assert!(lines > 500, "{lines} vectors");
}

fn forward(words: &[&str], input: &str, want: &[u64], line: &str) {
    let (ring, n) = (kind(words[1]), words[2].parse::<usize>().unwrap());
    let mut x = hex(input);
    if x.is_empty() {
        x = std::iter::successors(Some((0, 1)), |&(i, x)| Some((i + 1, add(mul(7, x), i))))
            .map(|(_, x)| x)
            .take(n)
            .collect();
    }
    for backend in solinas_testing::back_ends(Backend::available()) {
        let plan = Plan::new(n, ring, backend, 1).unwrap();
        let mut spectrum = x.clone();
        plan.forward(&mut spectrum).unwrap();
        if words[0] == "checksum" {
            let checksum = spectrum.iter().rev().fold(0, |sum, &x| add(mul(7, sum), x));
            assert_eq!([checksum], want, "{backend}: {line}");
            continue;
        }
        assert_eq!(spectrum, want, "{backend}: {line}");
        let (order, start, step) = if ring == Convolution::Cyclic { (n, 0, 1) } else { (2 * n, 1, 2) };
        let natural = naive::dft(&x, root_of_unity(order as u64).unwrap(), start, step);
        assert!((0..n).all(|i| natural[plan.exponent(i) / step as usize] == want[i]), "{line}");
    }
}

fn digits(words: &[&str], input: &str, want: &[u64], line: &str) {
    let bits = words[1].parse().unwrap();
    for backend in solinas_testing::back_ends(Backend::available()) {
        if words[0] == "split" {
            let mut digits = vec![0; want.len()];
            split(backend, &hex(input), bits, &mut digits).unwrap();
            assert_eq!(digits, want, "{backend}: {line}");
        } else {
            let mut sum = vec![0; want.len() - 1];
            let quotient = carry(backend, &hex(input), bits, &mut sum).unwrap();
            sum.push(quotient);
            assert_eq!(sum, want, "{backend}: {line}");
        }
    }
}
