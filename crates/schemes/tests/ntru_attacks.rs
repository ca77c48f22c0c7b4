//! Attacks that the security section of the book speaks of, run at a small size with nothing but what is public.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that unwraps an error fails, as it should"))]

use solinas_schemes::ntru::{ClientKey, KeyDistribution, Params, ParamsLiteral, estimate};
use solinas_schemes::{Control, Entropy};

/// Ring dimension, and that of the subring.
const N: usize = 128;
const SUB: usize = 32;

/// `a b` modulo `X^n + 1` and `q`; canonical. Range: below `2^62`.
fn multiply(a: &[i64], b: &[i64], q: i64) -> Vec<i64> {
    let n = a.len();
    let mut out = vec![0_i128; n];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            let product = i128::from(x) * i128::from(y) % i128::from(q);
            if i + j < n { out[i + j] += product } else { out[i + j - n] -= product }
        }
    }
    out.into_iter().map(|x| x.rem_euclid(q.into()) as i64).collect()
}

fn centered(x: &[i64], q: i64) -> Vec<i64> {
    x.iter().map(|&x| if x > q / 2 { x - q } else { x }).collect()
}

/// The norm to the subring of half the dimension: `h(X) h(-X)`, a polynomial in `X^2`.
fn norm(h: &[i64], q: i64) -> Vec<i64> {
    let conjugate: Vec<i64> = h.iter().enumerate().map(|(i, &x)| if i % 2 == 0 { x } else { -x }).collect();
    multiply(h, &conjugate, q).into_iter().step_by(2).collect()
}

/// Lattice reduction of Lenstra, Lenstra and Lovász, on doubles: rows are reduced in place. Entries up to `2^40` beside Gram-Schmidt vectors of length 1 leave 12 bits.
struct Lll {
    rows: Vec<Vec<i64>>,
    /// Gram-Schmidt vectors, their squared norms, and coefficients.
    orthogonal: Vec<Vec<f64>>,
    squares: Vec<f64>,
    mu: Vec<Vec<f64>>,
}

impl Lll {
    fn reduce(rows: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
        let d = rows.len();
        let mut lll =
            Self { orthogonal: vec![vec![0.0; d]; d], squares: vec![0.0; d], mu: vec![vec![0.0; d]; d], rows };
        let mut k = 0;
        while k < d {
            lll.reduce_size(k);
            if k > 0 && lll.squares[k] < (0.99 - lll.mu[k][k - 1].powi(2)) * lll.squares[k - 1] {
                lll.rows.swap(k, k - 1);
                k -= 1;
            } else {
                k += 1;
            }
        }
        lll.rows
    }

    /// Subtracts the rows above from row `k` until its coefficients are at most a half, and makes its Gram-Schmidt vector.
    fn reduce_size(&mut self, k: usize) {
        loop {
            self.project(k);
            let mut again = false;
            for j in (0..k).rev() {
                let multiple = self.mu[k][j].round();
                if multiple == 0.0 {
                    continue;
                }
                again |= multiple.abs() > 1000.0;
                let (above, below) = self.rows.split_at_mut(k);
                below[0].iter_mut().zip(&above[j]).for_each(|(x, y)| *x -= multiple as i64 * y);
                let (above, below) = self.mu.split_at_mut(k);
                below[0].iter_mut().zip(&above[j]).take(j).for_each(|(x, y)| *x -= multiple * y);
                below[0][j] -= multiple;
            }
            if !again {
                return self.project(k);
            }
        }
    }

    fn project(&mut self, k: usize) {
        let mut rest: Vec<f64> = self.rows[k].iter().map(|&x| x as f64).collect();
        for j in 0..k {
            let other = &self.orthogonal[j];
            let mu = rest.iter().zip(other).map(|(x, y)| x * y).sum::<f64>() / self.squares[j];
            rest.iter_mut().zip(other).for_each(|(x, y)| *x -= mu * y);
            self.mu[k][j] = mu;
        }
        self.squares[k] = rest.iter().map(|x| x * x).sum();
        self.orthogonal[k] = rest;
    }
}

/// The quotient `a / b` modulo 2 and `X^n + 1 = (X + 1)^n`, if `b` has an inverse: an odd number of terms.
fn divide_bits(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    (b.iter().sum::<i64>().rem_euclid(2) == 1).then(|| {
        // b^n = b(X^n) = b(1) = 1, so that the inverse is b^(n-1) = b b^2 b^4 ..
        let (mut inverse, mut square) = (vec![0; b.len()], b.to_vec());
        inverse[0] = 1;
        for _ in 0..b.len().ilog2() {
            inverse = multiply(&inverse, &square, 2);
            square = multiply(&square, &square, 2);
        }
        multiply(a, &inverse, 2)
    })
}

/// After Albrecht, Bai and Ducas 2016, and Cheon, Jeong and Lee 2016. The norm `N f` of the key and that of `g` are short in the lattice of `N h` in the subring, of a quarter of the
/// dimension; any short `x N f` decrypts in the full ring, because `f` divides `N f`.
#[test]
fn a_subfield_attack_decrypts_with_the_public_key_alone() {
    let literal = ParamsLiteral {
        name: "overstretched".into(),
        dimension: N,
        plaintext_modulus: 2,
        depth: 0,
        primes_per_level: 1,
        first_bits: Some(40),
        bits: None,
        top_bits: None,
        keys: KeyDistribution::Ternary,
        floor: None,
        terms: 1,
        failure_bits: 40,
        bootstrapping: None,
    };
    let params = Params::try_from(literal).unwrap();
    let q = params.moduli()[0].value() as i64;
    let client = ClientKey::generate(&params, true, Entropy::Insecure(5), &Control::default()).unwrap();
    let server = client.server_key(&Control::default()).unwrap();
    let public = server.public();
    let plain: Vec<u64> = (0..N as u64).map(|i| i * i / 5 % 2).collect();
    let cipher = public.encrypt(&plain, &mut public.encryption_rng(0).unwrap()).unwrap();
    assert_eq!(client.decrypt(&cipher).unwrap(), plain);

    // From here on with what is public.
    let signed = |words: &[u64]| words.iter().map(|&x| x as i64).collect::<Vec<_>>();
    let h = signed(public.h().clone().into_coeff().tower(0));
    let c = signed(cipher.parts()[0].clone().into_coeff().tower(0));
    let sub = norm(&norm(&h, q), q);
    assert_eq!(sub.len(), SUB);
    // Rows (u h mod q, u), u in the subring.
    let rows = (0..2 * SUB).map(|i| {
        let mut row = vec![0; 2 * SUB];
        if i < SUB {
            row[i] = q;
        } else {
            let mut u = vec![0; SUB];
            u[i - SUB] = 1;
            row[..SUB].copy_from_slice(&centered(&multiply(&u, &sub, q), q));
            row[i] = 1;
        }
        row
    });
    let reduced = Lll::reduce(rows.collect());
    let broken = reduced.iter().find_map(|row| {
        let mut key = vec![0; N];
        key.iter_mut().step_by(N / SUB).zip(&row[SUB..]).for_each(|(x, &y)| *x = y);
        let noise = centered(&multiply(&key, &c, q), q);
        divide_bits(&noise, &key)
    });
    assert_eq!(broken.unwrap(), plain.iter().map(|&bit| bit as i64).collect::<Vec<_>>());
    // And the estimate has it among the broken.
    assert_eq!(params.estimate().0.block, estimate::MIN_BLOCK);
}
