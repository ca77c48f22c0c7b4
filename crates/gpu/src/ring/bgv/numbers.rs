//! BGV computes on a device: the operations of the evaluator, on the polynomials of its ciphertexts.

use super::{Engine, Value};
use crate::Error as DeviceError;
use crate::ring::{Parts, Polys};
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::Error;
use solinas_schemes::bgv::{Bgv, Ciphertext, ServerKey, Stage};
use solinas_schemes::leveled::{LoadedKey, Numbers};

impl LoadedKey<Bgv> for Engine {
    type Parts = Parts;

    fn key(&self) -> &ServerKey {
        &self.key
    }

    /// Refuses a product that is to be reduced, and three parts.
    fn load(&self, x: Ciphertext) -> Result<Parts, Error> {
        const WHAT: &str = "a copy to a device";
        let parts = x.parts().len();
        if parts != 2 {
            return Err(Error::Parts { operation: WHAT, parts, max: 2 });
        }
        if x.stage() != Stage::Ready {
            let remedy = "reduce its modulus first (`Evaluator::modulus_switch`)";
            return Err(Error::Stage { operation: WHAT, want: "ready", got: "a product", remedy });
        }
        let ring = &self.rings[x.level().index()];
        Ok(ring.upload(&x.parts().iter().collect::<Vec<_>>())?.into())
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(self.extended.stream.synchronize()?)
    }
}

impl Numbers<Bgv> for Engine {
    fn multiply_plain(&self, x: &Value, plain: &[RnsPoly<Eval>]) -> Result<Parts, Error> {
        x.numbers().times_plain(&plain[0])
    }

    fn dot(&self, x: &[&Value], y: &[&Value]) -> Result<Parts, Error> {
        let pairs: Vec<_> = x.iter().zip(y).map(|(x, y)| (&**x.numbers(), &**y.numbers())).collect();
        let (low, high) = Polys::tensor(&pairs)?;
        Ok(self.relinearized(x[0].level(), &low, &high)?.into())
    }

    fn lower(&self, x: &Value) -> Result<Parts, Error> {
        let scaled = match self.key.lowering_factor(x.level()) {
            1 => x.numbers().copy()?,
            factor => x.numbers().scaled(factor)?,
        };
        Ok(self.rescales[x.level().index() - 1].apply(scaled)?.into())
    }

    fn rotate(&self, x: &Value, exponent: usize) -> Result<Parts, Error> {
        let entry = self.rotation(exponent)?;
        let (permutation, keys) = &*entry;
        let switch = &self.switches[x.level().index()];
        let permuted = x.numbers().permuted(permutation)?;
        let sums = switch.sums(keys, &permuted.item(1)?, &permuted.item(0)?)?;
        Ok(switch.down.apply(sums)?.into())
    }

    /// The processor rounds the coefficients in between.
    fn bootstrap(&self, x: &Value) -> Result<Parts, Error> {
        let key = self.key.bootstrapping()?;
        let missing = || DeviceError::Fault("the bootstrapping key is not on the device".into());
        Ok(self.bootstrap.as_ref().ok_or_else(missing)?.run(self, key, x.numbers())?.into())
    }
}
