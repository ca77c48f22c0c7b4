//! Advice about sets of scheme LWE.

use crate::leveled::Leveled;
use solinas_schemes::lwe::{self, Lwe};

impl Leveled for Lwe {
    fn deeper_set_hint(_: &lwe::Params, products: usize) -> String {
        match products {
            0..=2 => format!("make keys of leveled-secure-{}", products.max(1)),
            _ => {
                let other = match deep_bgv_set(products) {
                    Some(name) => format!("make keys of scheme bgv, such as {name}"),
                    None => "make keys of scheme tfhe, which has no levels".into(),
                };
                // The sets that are deep enough are for study only.
                match products {
                    ..=20 => format!("{other}, or for study alone of leveled-64-{products}"),
                    _ => other,
                }
            }
        }
    }
}

/// A set of scheme BGV for bits that is deep enough, in a build with that scheme.
#[cfg(feature = "bgv")]
fn deep_bgv_set(products: usize) -> Option<&'static str> {
    solinas_schemes::bgv::Params::deep_enough(2, products)
}

#[cfg(not(feature = "bgv"))]
fn deep_bgv_set(_: usize) -> Option<&'static str> {
    None
}
