//! NTRU computes on a device: the operations of the evaluator, on the polynomials of its ciphertexts.

use super::{Engine, LevelKeys, Value};
use crate::Error as DeviceError;
use crate::ring::Parts;
use solinas_ring::{Eval, RnsPoly};
use solinas_schemes::Error;
use solinas_schemes::leveled::{LoadedKey, Numbers};
use solinas_schemes::ntru::{Ciphertext, Ntru, Rotation, ServerKey};

impl Engine {
    fn level_keys(&self, x: &Value) -> &LevelKeys {
        &self.keys[x.level().index() - 1]
    }
}

impl LoadedKey<Ntru> for Engine {
    type Parts = Parts;

    fn key(&self) -> &ServerKey {
        &self.key
    }

    fn load(&self, x: Ciphertext) -> Result<Parts, Error> {
        let ring = &self.rings[x.level().index()];
        Ok(ring.upload(&x.parts().iter().collect::<Vec<_>>())?.into())
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(self.rings[0].stream.synchronize()?)
    }
}

impl Numbers<Ntru> for Engine {
    fn multiply_plain(&self, x: &Value, plain: &[RnsPoly<Eval>]) -> Result<Parts, Error> {
        x.numbers().times_plain(&plain[0])
    }

    fn dot(&self, x: &[&Value], y: &[&Value]) -> Result<Parts, Error> {
        let mut product = x[0].numbers().times(y[0].numbers())?;
        for (x, y) in x.iter().zip(y).skip(1) {
            product.add_product(x.numbers(), y.numbers())?;
        }
        let keys = self.level_keys(x[0]);
        product.mul_assign(&keys.square)?;
        Ok(keys.divide(product)?.into())
    }

    fn lower(&self, x: &Value) -> Result<Parts, Error> {
        let keys = self.level_keys(x);
        let hint = if x.degree() == 1 { &keys.linear } else { &keys.square };
        Ok(keys.divide(x.numbers().times(hint)?)?.into())
    }

    fn rotate(&self, x: &Value, rotation: Rotation) -> Result<Parts, Error> {
        let switch = self.key.slot_switch(rotation, x.level())?;
        Ok(self.rotations.apply(&self.rings[x.level().index()], x.level(), x.numbers(), &switch)?.into())
    }

    /// The processor rounds the coefficients in between.
    fn bootstrap(&self, x: &Value) -> Result<Parts, Error> {
        let key = self.key.bootstrapping()?;
        let missing = || DeviceError::Fault("the bootstrapping key is not on the device".into());
        Ok(self.bootstrap.as_ref().ok_or_else(missing)?.run(self, key, x.numbers())?.into())
    }
}
