//! The noise that recrypted Gentry-Halevi ciphertexts carry, against simulated values at every root of `x^n + 1`.
#![allow(clippy::unwrap_used, reason = "a test stops at the first error")]

#[path = "../examples/gh_embedding/simulation.rs"]
mod simulation;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use simulation::{Key, log2_norm, product};
use solinas_schemes::gh::{Params, noise};

/// `max |a|` itself, at quantiles that tell when the allowance is lowered; and the margins of recrypted ciphertexts and of products of two.
#[test]
fn recrypted_noise_is_within_what_it_carries() {
    for (name, keys, quantile, room) in [("ci-15", 120, 0.99, 3.0), ("toy", 12, 0.9, 3.5)] {
        let params = Params::named(name).unwrap();
        let carried = noise::recrypted(&params);
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let (mut norms, mut margins, mut products) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..keys {
            let key = Key::draw(&params, &mut rng);
            let recrypted = key.recrypted(6, &mut rng);
            norms.extend(recrypted.iter().map(|values| log2_norm(values) - carried));
            margins.extend(recrypted.iter().map(|values| key.margins(values).0));
            products.extend(recrypted.windows(2).map(|pair| key.margins(&product(&pair[0], &pair[1])).0));
        }
        norms.sort_by(f64::total_cmp);
        let at = norms[(quantile * (norms.len() - 1) as f64) as usize];
        let most = norms[norms.len() - 1];
        println!("{name}: {at:.1} at {quantile}, most {most:.1}");
        assert!(at < -room, "{name}: log2 max |a| - {carried:.1} is {at:.1} at quantile {quantile}");
        assert!(most < 0.0, "{name}: {most:.1} above what is carried");
        for (what, margins, noise) in [("recrypted", margins, carried), ("product", products, 2.0 * carried)] {
            let least = margins.iter().copied().fold(f64::MAX, f64::min);
            let carried = noise::margin(&params, noise);
            println!("{name}, {what}: least margin {least:.1}, carried {carried:.1}");
            assert!(least > carried, "{name}, {what}: margin {least:.1}, carried {carried:.1}");
        }
    }
}

/// The allowance leaves circuits at every set but large, where a product of two recrypted ciphertexts would now and then be wrong.
#[test]
fn circuits_are_for_the_sets_whose_products_keep_their_margin() {
    for (name, circuits) in [("ci-15", true), ("toy", true), ("small", true), ("medium", true), ("large", false)] {
        assert_eq!(Params::named(name).unwrap().supports_circuits(), circuits, "{name}");
    }
}
