//! Products of a long operand by a short one, block by block of the long one.

use zeroize::Zeroizing;

use crate::words;

/// out <- long * short, where `product` writes the product of a block and the short operand into a window of `out`.
/// Shape: `out` has the words of both operands, a window those of a block and of the short operand; `kept` at least the
/// words of the short operand; blocks of `block` >= 1 words, the last one perhaps shorter.
///
/// The windows of two neighbours overlap by the words of the short operand, and each is written once. The first k
/// words of `long` times the short operand are below 2^(64 (k + s)) for s words of the short one, so no carry leaves
/// the window of the last block among them. The work for a block depends on the lengths of its window alone, and the
/// time on lengths alone.
pub(crate) fn by_blocks(
    out: &mut [u64],
    long: &[u64],
    block: usize,
    kept: &mut [u64],
    mut product: impl FnMut(&mut [u64], &[u64]),
) {
    let short = out.len() - long.len();
    let kept = &mut kept[..short];
    for (i, part) in long.chunks(block).enumerate() {
        let window = &mut out[i * block..][..part.len() + short];
        if i == 0 {
            product(window, part);
            continue;
        }
        kept.copy_from_slice(&window[..short]);
        product(window, part);
        let carry = words::add(window, kept);
        debug_assert_eq!(carry, 0, "the product so far fits the windows so far");
    }
}

/// Memory for `kept`, which is wiped when freed, because the operands may be secret.
pub(crate) fn kept(short: usize) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(vec![0; short])
}

#[cfg(test)]
mod tests {
    use super::*;
    use solinas_field::limbs;

    #[test]
    fn every_cut_gives_the_product_with_the_largest_carries() {
        for (n, m) in [(1, 1), (9, 1), (20, 7), (7, 7), (33, 16)] {
            let (long, short) = (vec![u64::MAX; n], vec![u64::MAX; m]);
            let mut want = vec![0; n + m];
            limbs::mul(&mut want, &long, &short);
            for block in 1..=n + 1 {
                let mut out = vec![7; n + m];
                by_blocks(&mut out, &long, block, &mut kept(m), |window, part| limbs::mul(window, part, &short));
                assert_eq!(out, want, "{n} x {m} words in blocks of {block}");
            }
        }
    }
}
