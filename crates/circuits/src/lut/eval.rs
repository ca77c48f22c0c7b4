use super::{Error, LutGraph, ValueRef};

/// Number of lanes that are evaluated together, so that the values of a graph stay in cache.
const LANES: usize = 256;

impl LutGraph {
    /// Evaluates the graph in the clear: output blocks for the input blocks.
    ///
    /// # Errors
    /// For a wrong number of inputs, or an input above its maximum.
    pub fn eval(&self, inputs: &[u8]) -> Result<Vec<u8>, Error> {
        let lanes: Vec<[u8; 1]> = inputs.iter().map(|&v| [v]).collect();
        Ok(self.eval_batch(&lanes)?.into_iter().flatten().collect())
    }

    /// Evaluates many cases in the clear: `inputs[i][lane]` to `outputs[o][lane]`.
    ///
    /// # Errors
    /// For a wrong number of inputs, lanes of different lengths, or a value above its input's maximum.
    pub fn eval_batch<L: AsRef<[u8]>>(&self, inputs: &[L]) -> Result<Vec<Vec<u8>>, Error> {
        if inputs.len() != self.inputs.len() {
            return Err(Error::InputCount { given: inputs.len(), wanted: self.inputs.len() });
        }
        let lanes = inputs.first().map_or(1, |lane| lane.as_ref().len());
        for (input, (lane, &max)) in inputs.iter().zip(&self.inputs).enumerate() {
            if lane.as_ref().len() != lanes || lane.as_ref().iter().any(|&v| v > max) {
                return Err(Error::InputValue { input, max });
            }
        }
        let mut first = Vec::with_capacity(self.luts.len());
        let mut count = inputs.len();
        for lut in &self.luts {
            first.push(count);
            count += lut.tables.len();
        }
        let slot = |v: ValueRef| match v {
            ValueRef::Input(i) => i as usize,
            ValueRef::Lut { node, table } => first[node as usize] + table as usize,
        };
        let mut values = vec![[0i8; LANES]; count];
        let mut outputs = vec![Vec::with_capacity(lanes); self.outputs.len()];
        for start in (0..lanes).step_by(LANES) {
            let here = LANES.min(lanes - start);
            for (value, lane) in values.iter_mut().zip(inputs) {
                for (v, &x) in value.iter_mut().zip(&lane.as_ref()[start..start + here]) {
                    *v = x as i8;
                }
            }
            for (lut, &at) in self.luts.iter().zip(&first) {
                let argument = combine(&values, &lut.terms, lut.constant, slot);
                for (i, table) in lut.tables.iter().enumerate() {
                    // Arguments from -16 to 15 are stored as 0..32. The upper half reads the negated table.
                    let both: [i8; 32] =
                        std::array::from_fn(|v| if v < 16 { table[v] as i8 } else { -(table[v - 16] as i8) });
                    for (out, &v) in values[at + i].iter_mut().zip(&argument) {
                        *out = both[(v & 31) as usize];
                    }
                }
            }
            for (out, linear) in outputs.iter_mut().zip(&self.outputs) {
                let sums = combine(&values, &linear.terms, linear.constant, slot);
                out.extend(sums[..here].iter().map(|&v| v as u8));
            }
        }
        Ok(outputs)
    }
}

/// Sums of products modulo 256. The validated ranges make them exact.
fn combine(
    values: &[[i8; LANES]],
    terms: &[(ValueRef, i32)],
    constant: i32,
    slot: impl Fn(ValueRef) -> usize,
) -> [i8; LANES] {
    let mut sum = [constant as i8; LANES];
    for &(value, c) in terms {
        for (s, &v) in sum.iter_mut().zip(&values[slot(value)]) {
            *s = s.wrapping_add(v.wrapping_mul(c as i8));
        }
    }
    sum
}
