//! Advice about sets of scheme BGV.

use crate::leveled::Leveled;
use solinas_schemes::bgv::{self, Bgv};

impl Leveled for Bgv {
    fn deeper_set_hint(params: &bgv::Params, products: usize) -> String {
        let or =
            if params.plaintext_modulus() == 2 { ", or of one that bootstraps, such as boot128-16384-8" } else { "" };
        match bgv::Params::deep_enough(params.plaintext_modulus(), products) {
            Some(name) => format!("make keys of a deeper set, such as {name}{or} (`solinas params`)"),
            None if !or.is_empty() => {
                "make keys of a set that bootstraps, such as boot128-16384-8 (`solinas params`)".into()
            }
            None => format!(
                "decrypt on the way and encrypt anew: no secure set of these plaintexts takes {products} products in a row (`solinas params`)"
            ),
        }
    }
}
