//! Circuit importers: no text makes them panic, hang or allocate without bound, and what one accepts computes the same after an export.

use solinas_circuits::{Builder, build, export, import};

/// Reads the text as each format and, where one accepts it, exports and reads it back.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for read in [import::read_bristol, import::read_blif, import::read_yosys_json, import::read] {
        let Ok(netlist) = read(text) else { continue };
        if netlist.gates().len() > 4096 || netlist.input_bits() > 4096 {
            continue;
        }
        let inputs = vec![0x5a5a_3c3c_0ff0_6699; netlist.input_bits()];
        let want = netlist.evaluate_lanes(&inputs).ok();
        for text in
            [export::write_bristol(&netlist), Ok(export::write_blif(&netlist)), Ok(export::write_yosys_json(&netlist))]
                .into_iter()
                .flatten()
        {
            let again = import::read(&text).expect("what was exported can be read");
            assert_eq!(again.evaluate_lanes(&inputs).ok(), want, "an export computes something else");
        }
    }
}

/// A small adder in every format.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 3, false), b.input("y", 3, true));
    let sum = build::add(&mut b, build::Adder::Oh2018, &x, &y);
    b.output("z", &sum, false);
    let Ok(netlist) = b.finish() else { return Vec::new() };
    // A header of the old format whose widths overflow when they are added.
    let header = "1 4\n9223372041149743103 9223372032559808513 1\n2 1 0 1 2 AND\n".to_owned();
    [
        export::write_bristol(&netlist),
        Ok(export::write_blif(&netlist)),
        Ok(export::write_yosys_json(&netlist)),
        Ok(header),
    ]
    .into_iter()
    .flatten()
    .map(String::into_bytes)
    .collect()
}
