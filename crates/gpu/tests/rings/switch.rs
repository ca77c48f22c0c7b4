//! Key switches by groups of towers, and the division that ends them.

use super::{basis, polys, references, stream};
use solinas_gpu::Error;
use solinas_gpu::ring::{Hybrid, Keys, ModDown, Ring, SwitchDown};
use solinas_ring::{Automorphism, Basis, Eval, RnsPoly};

/// The bases of `Q` and `P`, and their rings.
fn rings(dimension: usize, q: &[u32], p: &[u32], seed: u64) -> (Basis, Basis, Ring, Ring) {
    let all = basis(dimension, &[q, p].concat());
    let (from, special) = (all.prefix(q.len()).unwrap(), all.range(q.len()..all.len()).unwrap());
    let extended = Ring::new(&stream(seed), &all).unwrap();
    let ring = extended.prefix(q.len()).unwrap();
    (from, special, ring, extended)
}

/// Switches of one automorphism and of several at once, with groups that do not divide the towers.
#[test]
fn key_switches_are_those_of_the_cpu() {
    for (q, p, group) in
        [(&[61, 50, 40, 61, 30][..], &[61, 60][..], 2), (&[50, 49, 48], &[51, 51, 51], 3), (&[30], &[31], 1)]
    {
        let (from, special, ring, extended) = rings(64, q, p, 7);
        let plan = solinas_ring::Hybrid::new(&from, &special, group).unwrap();
        let hybrid = Hybrid::new(&ring, &extended, &plan).unwrap();
        let automorphisms = [1, 3, 127].map(|exponent| Automorphism::new(&from, exponent).unwrap());
        let rows: Vec<RnsPoly<Eval>> = polys(plan.extended(), 3 * plan.len(), 11);
        let x: Vec<RnsPoly<Eval>> = polys(&from, 4, 12);
        let digits = hybrid.digits(&ring.upload(&references(&x)).unwrap()).unwrap();
        for count in 1..=3 {
            let terms: Vec<_> = automorphisms.iter().map(Some).zip(rows.chunks(plan.len())).take(count).collect();
            let on_device: Vec<_> = terms.iter().map(|&(plan, rows)| (plan, rows.iter().collect())).collect();
            let keys = Keys::new(&extended, 1, &on_device).unwrap();
            let got = hybrid.dot(&digits, &keys).unwrap().download().unwrap();
            let want: Vec<_> = x.iter().map(|x| plan.accumulate_automorphisms(x, &terms).unwrap()).collect();
            assert!(got == want, "{count} automorphisms, primes of {q:?} and {p:?} bits");
        }
        let few = Keys::new(&extended, 1, &[(None, rows[1..plan.len()].iter().collect())]).unwrap();
        assert!(matches!(hybrid.dot(&digits, &few), Err(Error::Scheme(_))));
        assert!(matches!(Hybrid::new(&extended, &ring, &plan), Err(Error::Scheme(_))));
    }
}

#[test]
fn divisions_by_special_primes_are_those_of_the_cpu() {
    for (q, p) in [(&[61, 50, 40][..], &[61, 60][..]), (&[50], &[51, 51, 51]), (&[30, 31], &[31])] {
        let (from, special, ring, extended) = rings(64, q, p, 8);
        for plaintext in [1, 2, 3, 128, 257, 65_537, (1 << 31) - 1] {
            let plan = solinas_ring::ModDown::new(&from, &special, plaintext).unwrap();
            let down = ModDown::new(&extended, &ring, &plan).unwrap();
            let c: Vec<RnsPoly<Eval>> = polys(plan.basis(), 5, plaintext);
            let want: Vec<_> = c.iter().map(|c| plan.apply(c).unwrap()).collect();
            let got = down.apply(extended.upload(&references(&c)).unwrap()).unwrap();
            assert!(got.download().unwrap() == want, "p = {plaintext}, primes of {q:?} and {p:?} bits");
            let sums: Vec<RnsPoly<Eval>> = polys(&from, 5, 3);
            let on_device = ring.upload(&references(&sums)).unwrap();
            let got = down.add_to(&on_device, extended.upload(&references(&c)).unwrap()).unwrap();
            let want: Vec<_> = sums.iter().zip(&want).map(|(sum, x)| sum.plus(x).unwrap()).collect();
            assert!(got.download().unwrap() == want, "a sum, p = {plaintext}");
        }
        let plan = solinas_ring::ModDown::new(&from, &special, 2).unwrap();
        assert!(matches!(ModDown::new(&ring, &ring, &plan), Err(Error::Scheme(_))));
    }
}

/// By the primes of P alone, and by the last prime of Q too. The plaintext moduli are 1, even, odd primes and composite.
#[test]
fn divisions_that_end_a_key_switch_are_those_of_the_cpu() {
    for (q, p) in [(&[61, 50, 40][..], &[61, 60][..]), (&[50, 49], &[51, 51, 51]), (&[30, 31], &[31])] {
        let (from, special, ring, extended) = rings(64, q, p, 9);
        let below = ring.prefix(q.len() - 1).unwrap();
        let last = from.range(q.len() - 1..q.len()).unwrap();
        for plaintext in [1, 2, 3, 15, 128, 257, 65_537, 65_535 * 3, (1 << 31) - 1] {
            for (target, dropped) in [(&ring, None), (&below, Some(&last))] {
                let plan = solinas_ring::SwitchDown::new(target.basis(), dropped, &special, plaintext).unwrap();
                let down = SwitchDown::new(&extended, target, &plan).unwrap();
                let v: Vec<RnsPoly<Eval>> = polys(extended.basis(), 4, plaintext);
                let want: Vec<_> = v
                    .chunks(2)
                    .flat_map(|pair| {
                        plan.apply(0, |i, [x, y], _| {
                            x.copy_from_slice(pair[0].tower(i));
                            y.copy_from_slice(pair[1].tower(i));
                        })
                    })
                    .collect();
                let got = down.apply(extended.upload(&references(&v)).unwrap()).unwrap().download().unwrap();
                assert!(got == want, "p = {plaintext}, primes of {q:?} and {p:?} bits, {} dropped", dropped.is_some());
            }
        }
        let plan = solinas_ring::SwitchDown::new(&from, None, &special, 2).unwrap();
        assert!(matches!(SwitchDown::new(&ring, &ring, &plan), Err(Error::Scheme(_))));
    }
}

/// Keys of two parts with more groups and towers than a level has: the sums are those of each part with its towers.
#[test]
fn keys_of_two_parts_serve_lower_levels() {
    let (from, special, _, extended) = rings(64, &[61, 50, 40, 61], &[61, 60], 10);
    let rows: Vec<RnsPoly<Eval>> = polys(extended.basis(), 4, 13);
    let keys = Keys::new(&extended, 2, &[(None, references(&rows))]).unwrap();
    for towers in [4, 3, 1] {
        let basis = from.prefix(towers).unwrap();
        let plan = solinas_ring::Hybrid::new(&basis, &special, 2).unwrap();
        let ring = extended.prefix(towers).unwrap();
        let hybrid = Hybrid::new(&ring, &extended.another(plan.extended()).unwrap(), &plan).unwrap();
        let x: Vec<RnsPoly<Eval>> = polys(&basis, 3, 14);
        let digits = hybrid.digits(&ring.upload(&references(&x)).unwrap()).unwrap();
        let got = hybrid.dot(&digits, &keys).unwrap().download().unwrap();
        // The rows of a part, without the primes of Q that the level lacks.
        let part = |part: usize| -> Vec<RnsPoly<Eval>> {
            let rows = rows.iter().skip(part).step_by(2).take(plan.len());
            let kept = |i: usize| if i < towers { i } else { i + from.len() - towers };
            rows.map(|row| RnsPoly::from_towers(plan.extended(), |i, out| out.copy_from_slice(row.tower(kept(i)))))
                .collect()
        };
        let parts = [part(0), part(1)];
        let want: Vec<_> =
            x.iter().flat_map(|x| parts.each_ref().map(|rows| plan.accumulate(x, rows).unwrap())).collect();
        assert!(got == want, "{towers} towers");
    }
}
