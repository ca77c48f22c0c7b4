//! Operations of the processor on the polynomials of ciphertexts, for every scheme.

use solinas_ring::{Eval, RnsPoly};

use crate::Error;

type Poly = RnsPoly<Eval>;

/// A sum or difference. A ciphertext with fewer parts than the other has zeros instead.
pub(crate) fn combined(
    x: &[Poly],
    y: &[Poly],
    combine: impl Fn(&Poly, &Poly) -> Result<Poly, solinas_ring::Error>,
) -> Result<Vec<Poly>, Error> {
    let both = x.iter().zip(y).map(|(x, y)| combine(x, y));
    let first = x.iter().skip(y.len()).map(|x| Ok(x.clone()));
    let second = y.iter().skip(x.len()).map(|y| combine(&Poly::zero(y.basis()), y));
    Ok(both.chain(first).chain(second).collect::<Result<_, _>>()?)
}

/// `factor x`.
pub(crate) fn scaled(x: &[Poly], factor: i64) -> Vec<Poly> {
    let mut parts = x.to_vec();
    parts.iter_mut().for_each(|part| if factor == -1 { part.negate() } else { part.scale(factor) });
    parts
}

/// Adds polynomial `i` to part `i`.
pub(crate) fn plus_plain(x: &[Poly], plain: &[Poly]) -> Result<Vec<Poly>, Error> {
    let mut parts = x.to_vec();
    parts.iter_mut().zip(plain).try_for_each(|(part, plain)| part.add_assign(plain))?;
    Ok(parts)
}
