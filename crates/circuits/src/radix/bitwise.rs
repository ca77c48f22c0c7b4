//! Bit operations, casts, and conditional negation.

use super::{Int, Radix, Result, blocks, mask};
use crate::lut::Linear;

impl Radix<'_> {
    /// `a & b`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn and(&mut self, a: &Int, b: &Int) -> Result<Int> {
        self.bitwise(a, b, |x, y| x & y)
    }

    /// `a | b`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn or(&mut self, a: &Int, b: &Int) -> Result<Int> {
        self.bitwise(a, b, |x, y| x | y)
    }

    /// `a ^ b`.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn xor(&mut self, a: &Int, b: &Int) -> Result<Int> {
        self.bitwise(a, b, |x, y| x ^ y)
    }

    /// A symmetric function of each pair of blocks, by one rotation.
    fn bitwise(&mut self, a: &Int, b: &Int, f: impl Fn(i32, i32) -> i32) -> Result<Int> {
        let mut out = Vec::with_capacity(a.blocks.len());
        for (x, y) in a.blocks.iter().zip(&b.blocks) {
            out.push(match (x.as_constant(), y.as_constant()) {
                (Some(c), _) => self.map(y, |v| f(v, c))?,
                (_, Some(c)) => self.map(x, |v| f(v, c))?,
                _ if x == y => self.map(x, |v| f(v, v))?,
                _ => {
                    let (argument, _) = self.pair(x, y)?;
                    self.builder.lut1(&argument, |v| f(v >> 2, v & 3))?
                }
            });
        }
        Ok(Int { blocks: out, width: a.width })
    }

    /// A function of one block.
    pub(super) fn map(&mut self, block: &Linear, f: impl Fn(i32) -> i32) -> Result<Linear> {
        let argument = self.builder.argument(&[(block, 1)], 0)?;
        self.builder.lut1(&argument, f)
    }

    /// The sign bit.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn sign(&mut self, a: &Int) -> Result<Linear> {
        let bit = a.top_bits() - 1;
        self.map(a.top(), |v| v >> bit)
    }

    /// Casts to another width: truncates, or extends by zeros or by the sign.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn cast(&mut self, a: &Int, width: u16, signed: bool) -> Result<Int> {
        let (n, m) = (blocks(a.width), blocks(width));
        let mut out = a.blocks.clone();
        if width > a.width {
            let fill = if !signed {
                Linear::default()
            } else if a.top_bits() == 1 {
                // Extends the bit of the top block to a whole block, and then to further blocks.
                let top = out[n - 1].clone();
                if n < m || width.is_multiple_of(2) {
                    out[n - 1] = self.settle(&[(&top, 3)], 3)?;
                }
                out[n - 1].clone()
            } else {
                self.map(a.top(), |v| 3 * (v >> 1))?
            };
            out.resize(m, fill);
        }
        out.truncate(m);
        if mask(m - 1, width) == 1 && self.builder.max(&out[m - 1]) > 1 {
            out[m - 1] = self.map(&out[m - 1].clone(), |v| v & 1)?;
        }
        Ok(Int { blocks: out, width })
    }

    /// `if s { -a } else { a }`, wrapping. One state, of the carry and the sign, runs through the blocks.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn negate_if(&mut self, s: &Linear, a: &Int) -> Result<Int> {
        self.increment_if(s.times(2), a)
    }

    /// `a` in state 0, `!a` in state 1, `!a + 1` in state 2, and `a + 1` in state 3, wrapping.
    pub(super) fn increment_if(&mut self, mut state: Linear, a: &Int) -> Result<Int> {
        let mut out = Vec::with_capacity(a.blocks.len());
        for (i, x) in a.blocks.iter().enumerate() {
            let keep = mask(i, a.width);
            let digit = move |v: i32| match v >> 2 {
                0 => v & 3,
                3 => ((v & 3) + 1) & keep,
                carry => (2 + carry - (v & 3)) & keep,
            };
            let next = |v: i32| match (v >> 2, v & 3) {
                (2, 1..) => 1,
                (3, ..3) => 0,
                (state, _) => state,
            };
            let argument = self.builder.argument(&[(&state, 4), (x, 1)], 0)?;
            if i + 1 == a.blocks.len() {
                out.push(self.builder.lut1(&argument, digit)?);
            } else {
                let mut both = self.builder.lut(&argument, &[&digit, &next])?;
                state = both.pop().unwrap_or_default();
                out.extend(both);
            }
        }
        Ok(Int { blocks: out, width: a.width })
    }

    /// `|a|`; the smallest integer stays unchanged.
    ///
    /// # Errors
    /// See [`Radix::add`].
    pub fn abs(&mut self, a: &Int) -> Result<Int> {
        let s = self.sign(a)?;
        self.negate_if(&s, a)
    }
}
