//! Advice to users whose computation needs more levels than their keys have.

#[cfg(feature = "bgv")]
mod bgv;
#[cfg(feature = "lwe")]
mod lwe;
#[cfg(feature = "ntru")]
mod ntru;

#[cfg(all(test, feature = "all"))]
mod tests {
    use crate::leveled::{Leveled, multiply_batch};
    use solinas_formats::CiphertextFiles;
    use solinas_schemes::bgv;
    use solinas_schemes::lwe::{Lwe, Params};
    use solinas_schemes::ntru::{self, Ntru};
    use solinas_values::leveled::memory_bytes;

    #[test]
    fn sets_that_a_remedy_names_exist() {
        let params = Params::named("leveled-16-2").unwrap();
        for products in 0..200 {
            let remedy = Lwe::deeper_set_hint(&params, products);
            let words = remedy.split([' ', ',']).filter(|word| word.starts_with("leveled-"));
            for name in words {
                assert!(Params::named(name).unwrap().depth() >= products, "{remedy}");
            }
            if let Some(name) = bgv::Params::deep_enough(2, products).filter(|_| products > 2) {
                assert!(remedy.contains(&format!("scheme bgv, such as {name}")), "{remedy}");
            }
        }
        let deepest = Lwe::deeper_set_hint(&params, 98);
        assert!(
            !deepest.contains("leveled-") && Lwe::deeper_set_hint(&params, 20).contains("leveled-64-20"),
            "{deepest}"
        );
    }

    #[test]
    fn ntru_names_the_smallest_set_that_is_deep_enough() {
        let params = ntru::Params::named("tight-64-3").unwrap();
        for (products, name) in [(1, "secure-8192-1"), (2, "secure-16384-2"), (4, "secure-65536-5")] {
            let remedy = Ntru::deeper_set_hint(&params, products);
            assert!(remedy.contains(name), "{remedy}");
        }
        assert!(Ntru::deeper_set_hint(&params, 6).contains("--depth 6"));
        let slots = ntru::Params::named("slots-16384-3").unwrap();
        assert!(Ntru::deeper_set_hint(&slots, 1).contains("--slots"), "no set of slots is for use");
    }

    #[test]
    fn memory_decides_how_many_products_go_together() {
        for name in ["leveled-secure-1", "leveled-secure-2", "leveled-32-3"] {
            let params = Params::named(name).unwrap();
            let (least, each) = (memory_bytes::<Lwe>(&params) as u64, Params::product_bytes(&params));
            assert!(each > 0 && least > Lwe::stored_server_bytes(&params) as u64);
            for (budget, want) in [(0, 1), (least, 1), (least + each, 2), (least + 5 * each - 1, 5), (1 << 50, 16)] {
                assert_eq!(multiply_batch::<Lwe>(&params, budget), want, "{name} {budget}");
            }
        }
        assert_eq!(Params::named("secure-62").unwrap().product_bytes(), 0);
        // 3.75 million rows of 8 bytes, and a quarter as many entries of a tensor.
        assert_eq!(Params::named("leveled-secure-1").unwrap().product_bytes(), 37_510_600);
    }
}
