//! Step 3 of Recrypt as a schedule: the sum of `s` numbers of `p + 1` encrypted bits, rounded, modulo 2.
//!
//! It serves accelerators. The formulas are those of [`Evaluator`](super::Evaluator) (`docs/derivations/gh-recrypt.md`): column j yields a carry `e_(2^i)`,
//! an elementary symmetric polynomial of its bits, to column j - i. The polynomials come from a balanced tree of products,
//! all nodes of one height in one batch. If `e_2` is the only one, it is a sum of products of bits with sums of bits.

use super::super::noise::top_power;

/// A place among the residues of a Recrypt.
pub type Slot = u32;

/// One batch. Its results are residues at neighbouring slots.
#[derive(Debug, PartialEq)]
pub enum ResidueBatch {
    /// Sums of products. Each pair names two entries of `operands`.
    Products {
        /// The factors of all products.
        operands: Vec<Slot>,
        /// For each sum, its products as pairs of indices of operands.
        sums: Vec<Vec<[u32; 2]>>,
        /// The slot of the first sum.
        to: Slot,
    },
    /// Sums of residues.
    Sums {
        /// For each sum, its terms.
        lists: Vec<Vec<[Slot; 1]>>,
        /// The slot of the first sum.
        to: Slot,
    },
}

/// The batches of the sum, from the bits of the columns to the result.
#[derive(Debug)]
pub struct Schedule {
    /// The batches in order.
    pub batches: Vec<ResidueBatch>,
    /// Number of slots. Bit `v_kj` is at slot `(p + 1) k + j`, before the others.
    pub slots: u32,
    /// The slot of the result.
    pub result: Slot,
}

/// A node of a tree of products: the slots of its coefficients, from that of degree 1 on; or two factors.
enum Node {
    Ready(Vec<Slot>),
    Product { factors: Box<[Node; 2]>, wanted: Vec<usize> },
}

impl Schedule {
    /// Plans the sum for `blocks` numbers of `precision + 1` bits.
    pub fn new(blocks: usize, precision: usize) -> Self {
        let width = precision as u32 + 1;
        let bits = |j: u32| (0..blocks as u32).map(move |k| width * k + j).collect::<Vec<_>>();
        let mut columns: Vec<Vec<Slot>> = (0..width).map(bits).collect();
        let mut schedule = Self { batches: Vec::new(), slots: width * blocks as u32, result: 0 };
        for j in (1..=precision).rev() {
            let bits = std::mem::take(&mut columns[j]);
            let powers = top_power(bits.len(), j);
            if powers == 1 {
                columns[j - 1].push(schedule.second_symmetric(&bits));
            } else if powers > 1 {
                let wanted: Vec<usize> = (1..=powers).map(|power| 1 << power).collect();
                let outputs = schedule.symmetric(&bits, &wanted);
                outputs.into_iter().zip(1..).for_each(|(output, power): (_, usize)| columns[j - power].push(output));
            }
            if j == 1 {
                // The half of column 1 rounds column 0: the result is the sum of all bits of both.
                columns[0].extend(bits);
            }
        }
        let all = std::mem::take(&mut columns[0]);
        schedule.result = schedule.sums(vec![all]);
        schedule
    }

    fn take(&mut self, count: usize) -> Slot {
        self.slots += count as u32;
        self.slots - count as u32
    }

    /// Sums of slots, to new slots. Returns the first one.
    fn sums(&mut self, lists: Vec<Vec<Slot>>) -> Slot {
        let to = self.take(lists.len());
        let lists = lists.into_iter().map(|list| list.into_iter().map(|slot| [slot]).collect()).collect();
        self.batches.push(ResidueBatch::Sums { lists, to });
        to
    }

    /// `e_2`: the sum over i of `x_i` times the sum of the bits before it. That takes one batch of products, and no division
    /// by 2.
    fn second_symmetric(&mut self, bits: &[Slot]) -> Slot {
        let [first, later @ ..] = bits else { return self.sums(vec![Vec::new()]) };
        let before = self.sums((2..bits.len()).map(|i| bits[..i].to_vec()).collect());
        let count = later.len() as u32;
        let mut operands = later.to_vec();
        operands.push(*first);
        operands.extend(before..before + count - 1);
        let to = self.take(1);
        self.batches.push(ResidueBatch::Products {
            operands,
            sums: vec![(0..count).map(|i| [i, count + i]).collect()],
            to,
        });
        to
    }

    /// The coefficients `wanted` (ascending) of `prod (1 + x T)`.
    fn symmetric(&mut self, bits: &[Slot], wanted: &[usize]) -> Vec<Slot> {
        let degree = wanted.last().copied().unwrap_or(0);
        let mut root = tree(bits, degree, wanted.to_vec());
        loop {
            match root {
                Node::Ready(slots) => return slots,
                Node::Product { .. } => self.next_height(&mut root, degree),
            }
        }
    }

    /// Multiplies all nodes whose factors are ready, in one batch.
    fn next_height(&mut self, root: &mut Node, degree: usize) {
        let mut nodes = Vec::new();
        ready(root, &mut nodes);
        let (mut operands, mut sums, mut singles) = (Vec::new(), Vec::new(), Vec::new());
        for node in &nodes {
            let Node::Product { factors, wanted } = node else { continue };
            let [low, high] = factors.each_ref().map(|factor| match factor {
                Node::Ready(slots) => &slots[..],
                Node::Product { .. } => &[],
            });
            let last = wanted.last().copied().unwrap_or(0);
            // The product takes no coefficient of degree `last` or more.
            let [first_low, first_high] = [low, high].map(|slots| {
                let first = operands.len() as u32;
                operands.extend_from_slice(&slots[..slots.len().min(last - 1)]);
                first
            });
            for &k in wanted {
                let lows = k.saturating_sub(high.len()).max(1)..=low.len().min(k - 1);
                let pair = |i: usize| [first_low + i as u32 - 1, first_high + (k - i) as u32 - 1];
                sums.push(lows.map(pair).collect::<Vec<_>>());
                singles.push([low.get(k - 1), high.get(k - 1)].into_iter().flatten().copied().collect::<Vec<_>>());
            }
        }
        debug_assert!(sums.len() <= nodes.len() * degree, "a node has a coefficient of each degree");
        // Coefficients of the highest degrees have no single, those of degree 1 no product.
        let products = sums.iter().filter(|sum| !sum.is_empty()).count();
        let to = self.take(products);
        let mut at = to;
        for (sum, single) in sums.iter().zip(&mut singles) {
            if !sum.is_empty() {
                single.push(at);
                at += 1;
            }
        }
        sums.retain(|sum| !sum.is_empty());
        if products > 0 {
            self.batches.push(ResidueBatch::Products { operands, sums, to });
        }
        let mut slot = match singles.iter().all(|single| single.len() == 1) {
            true if products == singles.len() => to,
            _ => self.sums(singles),
        };
        for node in nodes {
            let Node::Product { wanted, .. } = node else { continue };
            let count = wanted.len() as u32;
            *node = Node::Ready((slot..slot + count).collect());
            slot += count;
        }
    }
}

/// A balanced tree. The left factor takes the largest power of two below the number of bits.
fn tree(bits: &[Slot], degree: usize, wanted: Vec<usize>) -> Node {
    if let [bit] = bits {
        return Node::Ready(vec![*bit]);
    }
    let (low, high) = bits.split_at(bits.len().next_power_of_two() / 2);
    let factors = [low, high].map(|bits| tree(bits, degree, (1..=bits.len().min(degree)).collect()));
    Node::Product { factors: Box::new(factors), wanted }
}

/// Collects the nodes whose two factors are ready.
fn ready<'a>(node: &'a mut Node, found: &mut Vec<&'a mut Node>) {
    match node {
        Node::Ready(_) => {}
        Node::Product { factors, .. } if factors.iter().all(|factor| matches!(factor, Node::Ready(_))) => {
            found.push(node);
        }
        Node::Product { factors, .. } => factors.iter_mut().for_each(|factor| ready(factor, found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An odd modulus.
    const D: u128 = 1_000_000_007;

    fn run(schedule: &Schedule, inputs: &[u128]) -> u128 {
        let mut slots = inputs.to_vec();
        slots.resize(schedule.slots as usize, 0);
        for batch in &schedule.batches {
            match batch {
                ResidueBatch::Products { operands, sums, to } => {
                    for (i, sum) in sums.iter().enumerate() {
                        let value = |&at: &u32| slots[operands[at as usize] as usize];
                        slots[*to as usize + i] = sum.iter().map(|[a, b]| value(a) * value(b) % D).sum::<u128>() % D;
                    }
                }
                ResidueBatch::Sums { lists, to } => {
                    for (i, list) in lists.iter().enumerate() {
                        slots[*to as usize + i] = list.iter().map(|[at]| slots[*at as usize]).sum::<u128>() % D;
                    }
                }
            }
        }
        slots[schedule.result as usize]
    }

    /// `e_0 .. e_count`, a factor at a time.
    fn symmetric(values: &[u128]) -> Vec<u128> {
        let mut e = vec![1];
        for &x in values {
            e.push(0);
            for k in (1..e.len()).rev() {
                e[k] = (e[k] + e[k - 1] * x) % D;
            }
        }
        e
    }

    #[test]
    fn schedules_give_the_sum_of_the_columns() {
        for (blocks, precision) in [(3, 2), (7, 3), (15, 4)] {
            let schedule = Schedule::new(blocks, precision);
            let inputs: Vec<u128> = (0..blocks * (precision + 1)).map(|i| (i as u128 + 3).pow(9) % D).collect();
            let mut columns: Vec<Vec<u128>> =
                (0..=precision).map(|j| (0..blocks).map(|k| inputs[k * (precision + 1) + j]).collect()).collect();
            let mut half = 0;
            for j in (1..=precision).rev() {
                let bits = std::mem::take(&mut columns[j]);
                let e = symmetric(&bits);
                (1..=top_power(bits.len(), j)).for_each(|power| columns[j - power].push(e[1 << power]));
                half = e[1];
            }
            let want = (columns[0].iter().sum::<u128>() + half) % D;
            assert_eq!(run(&schedule, &inputs), want, "{blocks} blocks");
            let batches = schedule.batches.len();
            println!("{blocks} blocks: {batches} batches, {} slots", schedule.slots);
        }
    }
}
