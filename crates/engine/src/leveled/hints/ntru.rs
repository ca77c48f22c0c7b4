//! Advice about sets of scheme NTRU.

use crate::leveled::Leveled;
use solinas_schemes::ntru::{self, Ntru};

impl Leveled for Ntru {
    fn deeper_set_hint(params: &ntru::Params, products: usize) -> String {
        if let Some(name) = ntru::Params::deep_enough(params.plaintext_modulus(), products) {
            return format!(
                "make keys of a deeper set, such as {name}, or of one that bootstraps, such as boot-1024 (`solinas params`)"
            );
        }
        format!(
            "make keys of a set of depth {products} or more (`solinas params find --scheme ntru --depth {products}`, for vectors with --slots \
             and --modulus), or for bits of one that bootstraps, such as boot-1024"
        )
    }
}
