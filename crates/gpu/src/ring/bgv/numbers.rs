//! BGV computes on a device: the operations of the evaluator, on the polynomials of its ciphertexts.

use super::{Engine, Value};
use crate::Error as DeviceError;
use crate::ring::Polys;
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::Error;
use solinas_schemes::bgv::{Bgv, Ciphertext, ServerKey, Stage};
use solinas_schemes::leveled::Numbers;
use std::borrow::Cow;
use std::sync::Arc;

type Parts = Arc<Polys<Eval>>;

impl Numbers<Bgv> for Engine {
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
        Ok(Arc::new(ring.upload(&x.parts().iter().collect::<Vec<_>>())?))
    }

    fn store<'x>(&self, x: &'x Value) -> Result<Cow<'x, [RnsPoly<Eval>]>, Error> {
        Ok(Cow::Owned(x.numbers().download()?))
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(self.extended.stream.synchronize()?)
    }

    fn count(&self, x: &Value) -> usize {
        x.numbers().items()
    }

    fn add(&self, x: &Value, y: &Value) -> Result<Parts, Error> {
        Ok(Arc::new(x.numbers().plus(y.numbers())?))
    }

    fn sub(&self, x: &Value, y: &Value) -> Result<Parts, Error> {
        Ok(Arc::new(x.numbers().minus(y.numbers())?))
    }

    fn scale(&self, x: &Value, factor: i64) -> Result<Parts, Error> {
        Ok(Arc::new(x.numbers().scaled(factor)?))
    }

    fn add_plain(&self, x: &Value, plain: &[RnsPoly<Eval>]) -> Result<Parts, Error> {
        let mut sum = x.numbers().copy()?;
        sum.add_low(&sum.ring().upload(&[&plain[0]])?)?;
        Ok(Arc::new(sum))
    }

    fn multiply_plain(&self, x: &Value, plain: &[RnsPoly<Eval>]) -> Result<Parts, Error> {
        let x = x.numbers();
        Ok(Arc::new(x.times(&x.ring().upload(&[&plain[0]])?)?))
    }

    fn dot(&self, x: &[&Value], y: &[&Value]) -> Result<Parts, Error> {
        let pairs: Vec<_> = x.iter().zip(y).map(|(x, y)| (&**x.numbers(), &**y.numbers())).collect();
        let (low, high) = Polys::tensor(&pairs)?;
        Ok(Arc::new(self.relinearized(x[0].level(), &low, &high)?))
    }

    fn lower(&self, x: &Value) -> Result<Parts, Error> {
        let scaled = match self.key.lowering_factor(x.level()) {
            1 => x.numbers().copy()?,
            factor => x.numbers().scaled(factor)?,
        };
        Ok(Arc::new(self.rescales[x.level().index() - 1].apply(scaled)?))
    }

    fn rotate(&self, x: &Value, exponent: usize) -> Result<Parts, Error> {
        let entry = self.rotation(exponent)?;
        let (permutation, keys) = &*entry;
        let switch = &self.switches[x.level().index()];
        let permuted = x.numbers().permuted(permutation)?;
        let sums = switch.sums(keys, &permuted.item(1)?, &permuted.item(0)?)?;
        Ok(Arc::new(switch.down.apply(sums)?))
    }

    /// The processor rounds the coefficients in between.
    fn bootstrap(&self, x: &Value) -> Result<Parts, Error> {
        let key = self.key.bootstrapping()?;
        let missing = || DeviceError::Fault("the bootstrapping key is not on the device".into());
        Ok(Arc::new(self.bootstrap.as_ref().ok_or_else(missing)?.run(self, key, x.numbers())?))
    }
}
