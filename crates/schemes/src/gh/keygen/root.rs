//! Steps 1 to 4: the modulus, its root and the secret.

use solinas_bigint::Natural;
use zeroize::{Zeroize, Zeroizing};

use crate::gh::lattice::{Resultant, Signed};
use crate::gh::modulus::{Arithmetic, Modulus};
use crate::gh::{ClientKey, Error, Params, PublicKey};

/// The results of steps 1 to 4.
pub(in crate::gh) struct Root {
    pub(in crate::gh) public: PublicKey,
    pub(in crate::gh) modulus: Modulus,
    pub(in crate::gh) w: Zeroizing<Vec<u64>>,
}

impl Root {
    /// Returns the results from which a client key was made.
    pub(in crate::gh) fn restored(client: &ClientKey) -> Result<Self, Error> {
        let public = client.public().clone();
        let modulus = Modulus::new(public.d(), 1, Arithmetic::default())?;
        let w = Zeroizing::new(modulus.residue(client.w()));
        Ok(Self { public, modulus, w })
    }

    /// Computes root and secret from the resultant. Returns `None` if there is no root; then another `v` must be drawn.
    pub(in crate::gh) fn from_resultant(
        params: &Params,
        insecure: bool,
        resultant: &Resultant,
    ) -> Result<Option<Self>, Error> {
        let n = params.dimension();
        let Resultant { d, w } = resultant;
        let (sign, d) = (d.negative, &d.magnitude);
        if d.is_even() || d.bit_len() < 2 {
            return Ok(None);
        }
        let residue = |x: &Signed| -> Result<Natural, Error> {
            let mut rest = x.magnitude.rem(d)?;
            if x.negative != sign && !rest.is_zero() {
                let other = d.abs_diff(&rest);
                rest.zeroize();
                rest = other;
            }
            Ok(rest)
        };
        let [w0, w1] = [Zeroizing::new(residue(&w[0])?), Zeroizing::new(residue(&w[1])?)];
        let modulus = Modulus::new(d, 1, Arithmetic::default())?;
        let Ok(w1_inverse) = w1.vartime_inverse(d) else {
            return Ok(None);
        };
        let w1_inverse = Zeroizing::new(w1_inverse);
        let [first, second_inverse] = [&w0, &w1_inverse].map(|x| Zeroizing::new(modulus.residue(x)));
        let r = modulus.mul(&first, &second_inverse)?;
        // If r^n = -1, the inverse of r is -r^(n-1).
        let power = modulus.vartime_pow(&r, n as u64 - 1)?;
        if modulus.mul(&power, &r)? != modulus.neg(&modulus.one()) {
            return Ok(None);
        }
        let inverse = modulus.forward(&modulus.neg(&power))?;
        // Searches the first centred coefficient that is odd: w_(i+1) = w_i / r.
        let mut w = first;
        for _ in 0..n {
            // The centred value is w or w - d, and d is odd.
            let value = Zeroizing::new(Natural::from_words(w.to_vec()));
            let twice = Zeroizing::new(&*value << 1);
            if (w[0] & 1 == 1) != (*twice > *d) {
                let public = PublicKey::from_parts(params.clone(), insecure, d.clone(), Natural::from_words(r))?;
                return Ok(Some(Self { public, modulus, w }));
            }
            w = Zeroizing::new(modulus.mul_spectrum(&w, &inverse)?);
        }
        Ok(None)
    }
}
