//! The number of products of ciphertexts in a row, which a computation needs as levels whatever noise its sums have.

use crate::Error;
use crate::arithmetic::{self, SlotOperation, Value};

/// A planner that counts. It folds constants as [`super::plan`] does, so that both see the same products of ciphertexts.
pub(super) struct Depth {
    /// The plaintext modulus.
    p: u64,
    /// Whether each input is public. Inputs without an entry are not public.
    public: Vec<bool>,
    values: Vec<Known>,
}

/// The knowledge of a value at the time of planning.
#[derive(Debug, Clone, Copy)]
enum Known {
    /// A number that the planner knows.
    Constant(u64),
    /// A public input itself. Its sums and rotations count as ciphertexts.
    Public,
    /// A ciphertext after a given number of products in a row.
    Products(usize),
}

impl Known {
    fn products(self) -> usize {
        match self {
            Self::Products(products) => products,
            Self::Constant(_) | Self::Public => 0,
        }
    }
}

impl Depth {
    pub(super) fn new(p: u64, public: Vec<bool>) -> Self {
        Self { p, public, values: Vec::new() }
    }

    /// The largest number of products in a row of these outputs.
    pub(super) fn of(&self, outputs: &[Value]) -> usize {
        outputs.iter().map(|&output| self.at(output).products()).max().unwrap_or(0)
    }

    fn at(&self, value: Value) -> Known {
        self.values[value as usize]
    }

    fn push(&mut self, known: Known) -> Value {
        self.values.push(known);
        (self.values.len() - 1) as Value
    }

    /// A ciphertext made from `x` without a product.
    fn derived(&mut self, x: Value) -> Value {
        self.push(Known::Products(self.at(x).products()))
    }
}

impl arithmetic::Planner for Depth {
    fn input(&mut self, index: u32) -> Result<Value, Error> {
        let public = self.public.get(index as usize) == Some(&true);
        Ok(self.push(if public { Known::Public } else { Known::Products(0) }))
    }

    fn constant(&mut self, value: u64) -> Value {
        self.push(Known::Constant(value % self.p))
    }

    fn add_constant(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        Ok(match (self.at(x), constant % self.p) {
            (Known::Constant(known), constant) => self.constant(known + constant),
            (_, 0) => x,
            _ => self.derived(x),
        })
    }

    fn scale(&mut self, x: Value, constant: u64) -> Result<Value, Error> {
        Ok(match (self.at(x), constant % self.p) {
            (Known::Constant(known), constant) => self.constant(known * constant),
            (_, 0) => self.constant(0),
            (_, 1) => x,
            _ => self.derived(x),
        })
    }

    fn add(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        match [self.at(x), self.at(y)] {
            [Known::Constant(known), _] => self.add_constant(y, known),
            [_, Known::Constant(known)] => self.add_constant(x, known),
            both => Ok(self.push(Known::Products(most(both)))),
        }
    }

    fn subtract(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        let negative = self.scale(y, self.p - 1)?;
        self.add(x, negative)
    }

    fn multiply(&mut self, x: Value, y: Value) -> Result<Value, Error> {
        match [self.at(x), self.at(y)] {
            [Known::Constant(known), _] => self.scale(y, known),
            [_, Known::Constant(known)] => self.scale(x, known),
            both => {
                let public = both.iter().any(|known| matches!(known, Known::Public));
                Ok(self.push(Known::Products(most(both) + usize::from(!public))))
            }
        }
    }

    /// Computes `(x + z)(y + z) + z`. Constants take the places of `x` and `y` first.
    fn majority(&mut self, mut all: [Value; 3]) -> Result<Value, Error> {
        all.sort_by_key(|&value| !matches!(self.at(value), Known::Constant(_)));
        let [x, y, z] = all;
        let (left, right) = (self.add(x, z)?, self.add(y, z)?);
        let product = self.multiply(left, right)?;
        self.add(product, z)
    }

    fn slot_operation(&mut self, x: Value, operation: SlotOperation, elements: usize) -> Result<Value, Error> {
        Ok(match (self.at(x), operation) {
            (Known::Constant(_), SlotOperation::Rotate { .. }) => x,
            (Known::Constant(known), SlotOperation::InnerSum { .. }) => {
                self.constant(known * (elements as u64 % self.p))
            }
            _ => self.derived(x),
        })
    }

    fn used(&mut self, _: Value, _: u32) {}
}

fn most([x, y]: [Known; 2]) -> usize {
    x.products().max(y.products())
}

#[cfg(test)]
mod tests;
