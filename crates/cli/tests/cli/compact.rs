//! Compact results.

use crate::common::Place;

#[test]
fn compact_results_are_refused_as_operands_with_the_fix() {
    let place = Place::new();
    place.run("encrypt --key PACKS-CLIENT --type u8 100 -o a.ct");
    place.run("eval --key PACKS-SERVER not a.ct --compact -o packed.ct");
    for operation in ["add packed.ct a.ct", "to_bits packed.ct", "add a.ct packed.ct --compact"] {
        let message = place.fail(&format!("eval --key PACKS-SERVER {operation} -o c.ct"), 1);
        assert!(
            message.contains("packed.ct is a compact result") && message.contains("without `--compact`"),
            "{message}"
        );
    }
    assert!(place.run("inspect packed.ct").contains("blocks: packed"));
}
