//! The smallest parameter set of the scheme for a task.

use crate::scheme::SchemeEntry;
use crate::{Error, ParamsInfo};
use solinas_schemes::Error as SchemeError;
use solinas_schemes::bgv::{Bgv, Params};

/// Families of sets of any dimension and depth.
const FAMILIES: [&str; 3] = ["bits", "slots", "wide"];

/// `log2` of the bound of failures that the search prefers.
const RARE: f64 = -128.0;

/// Finds the smallest set of scheme BGV with this plaintext modulus that allows at least `depth` sequential products and
/// has at least `security` bits of security. A `security` of 0 accepts any set. Otherwise a set that fails with a probability below `2^-128` comes first, if there
/// is one.
///
/// The set has the smallest ring dimension, and among those the smallest ciphertexts. Key generation takes its name.
///
/// # Errors
/// [`solinas_schemes::Error::OutOfReach`] with the nearest sets.
pub fn smallest_bgv(depth: usize, plaintext_modulus: u64, security: u16) -> Result<ParamsInfo, Error> {
    let families: Vec<(u64, &str)> = FAMILIES
        .into_iter()
        .filter_map(|family| Some((Params::named(&format!("{family}-1024-1")).ok()?.plaintext_modulus(), family)))
        .collect();
    let out_of_reach = |nearest| {
        let wanted = format!("depth {depth} modulo {plaintext_modulus} with {security} bits of security");
        Error::Scheme(SchemeError::OutOfReach { scheme: "BGV", wanted, nearest })
    };
    let Some(&(_, family)) = families.iter().find(|(modulus, _)| *modulus == plaintext_modulus) else {
        let moduli: Vec<String> = families.iter().map(|(modulus, _)| modulus.to_string()).collect();
        let nearest = format!("a plaintext modulus of {}", moduli.join(", "));
        return Err(out_of_reach(nearest));
    };
    let sets = Bgv.params().into_iter().filter(|set| set.plaintext_modulus == Some(plaintext_modulus));
    // A caller that asks for a depth does not want the keys of bootstrapping.
    let (boot, known): (Vec<ParamsInfo>, Vec<ParamsInfo>) = sets.partition(|set| set.bootstraps);
    let of_failure = |depth: usize, security: f64, log2_failure: f64| {
        // The table of secure moduli begins at 1024.
        let least = if security > 0.0 { 10 } else { 4 };
        (least..=15).map(|log2| 1usize << log2).find_map(|dimension| {
            let own = Params::named(&format!("{family}-{dimension}-{depth}")).ok();
            let own = own.map(|params| crate::leveled::info::<Bgv>(&params));
            let named = known.iter().filter(|set| set.ring_dimension == dimension && set.depth >= Some(depth));
            // Among equals, `min_by_key` returns the first: a set with a name of its own.
            let all = named
                .cloned()
                .chain(own)
                .filter(|set| set.classical_bits >= security && set.log2_failure <= log2_failure);
            all.min_by_key(|set| (set.ciphertext_bytes, set.server_key_bytes))
        })
    };
    let smallest = |depth: usize, security: f64| {
        let rare = (security > 0.0).then(|| of_failure(depth, security, RARE)).flatten();
        rare.or_else(|| of_failure(depth, security, 0.0))
    };
    if let Some(found) = smallest(depth, security.into()) {
        return Ok(found);
    }
    let shallower = known.iter().filter(|set| set.classical_bits >= f64::from(security) && set.depth < Some(depth));
    let deepest = shallower.max_by_key(|set| (set.depth, std::cmp::Reverse(set.ring_dimension)));
    let secure = [256.0, 192.0, 128.0, 0.0].into_iter().find_map(|security| smallest(depth, security));
    let any = boot.iter().find(|set| set.classical_bits >= f64::from(security));
    let nearest = [
        any.map(|set| format!("any depth by bootstrapping ({})", set.name)),
        deepest.map(|set| format!("depth {} ({})", set.depth.unwrap_or_default(), set.name)),
        secure.map(|set| format!("{} bits of security at this depth ({})", set.classical_bits, set.name)),
    ];
    let nearest: Vec<String> = nearest.into_iter().flatten().collect();
    let nearest = match &nearest[..] {
        [] => "fewer products in a row, and less security".into(),
        some => some.join(", or "),
    };
    Err(out_of_reach(nearest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_the_smallest_set_that_will_do() {
        for (depth, modulus, security, dimension) in [
            (2, 65537, 128, 8192),
            (3, 65537, 128, 8192),
            (4, 65537, 128, 16384),
            (8, 65537, 192, 32768),
            (2, 2, 128, 4096),
            (5, 0x3FFC_0001, 100, 16384),
            (2, 65537, 0, 16),
        ] {
            let found = smallest_bgv(depth, modulus, security).unwrap();
            assert_eq!(found.ring_dimension, dimension, "{depth} {modulus} {security}: {}", found.name);
            assert!(found.depth >= Some(depth) && found.classical_bits >= f64::from(security), "{found:?}");
            let again = Params::named(&found.name).unwrap();
            assert_eq!((again.plaintext_modulus(), again.dimension()), (modulus, dimension));
        }
        // Sets that bootstrap have smaller fresh ciphertexts, but the search leaves them out.
        assert!(!smallest_bgv(8, 2, 128).unwrap().bootstraps);
        // Sets that fail below 2^-128 come first.
        for (depth, name) in [
            (2, "slots128-8192-3"),
            (7, "slots128-16384-7"),
            (8, "slots128-16384-8"),
            (19, "slots128-32768-19"),
            (20, "slots128-32768-20"),
        ] {
            let found = smallest_bgv(depth, 65537, 128).unwrap();
            assert_eq!((found.name.as_str(), found.log2_failure == -128.0), (name, depth < 20));
        }
    }

    #[test]
    fn what_is_out_of_reach_names_the_nearest() {
        let message = |depth, modulus, security| smallest_bgv(depth, modulus, security).unwrap_err().to_string();
        assert!(message(40, 2, 128).contains("any depth by bootstrapping (boot128-16384-8)"));
        let deep = message(30, 65537, 128);
        assert!(deep.contains("take depth 2") && deep.contains("0 bits of security at this depth"), "{deep}");
        let secure = message(15, 65537, 256);
        assert!(secure.contains("depth 9 (slots256-32768-9)") && secure.contains("128 bits of"), "{secure}");
        assert!(message(1, 257, 128).contains("a plaintext modulus of 2, 65537, 1073479681"));
        let both = message(1000, 2, 512);
        assert!(both.ends_with(": take fewer products in a row, and less security"), "{both}");
        assert!(message(1, 2, 512).contains("take 256 bits of security at this depth (bits"));
    }
}
