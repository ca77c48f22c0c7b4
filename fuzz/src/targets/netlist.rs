//! Circuit importers. No text makes them panic, hang or allocate without bound. An accepted circuit computes the same function after an export.

use solinas_circuits::{Builder, build, export, import};

/// Reads the text as each format. If a format accepts it, exports the circuit and reads it back.
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

/// Nested models, and bits of ports in every style.
const HIERARCHY: &str = ".model top\n.inputs a_0 a_1 b<0> b<1> c[0]\n.outputs i:s_0 i:s_1 y\n.subckt full x=a_0 y=b<0> c=c[0] s=i:s_0 g=t\n\
    .subckt full x=a_1 y=b<1> c=t s=i:s_1 g=y\n.end\n.model full\n.inputs x y c\n.outputs s g\n.subckt half p=x q=y s=t g=u\n\
    .subckt half p=t q=c s=s g=v\n.names u v g\n1- 1\n-1 1\n.end\n.model half\n.inputs p q\n.outputs s g\n.names p q s\n10 1\n01 1\n\
    .names p q g\n11 1\n.end\n";

/// A Yosys netlist with a cell of each kind that the seeds below lack.
fn cells() -> String {
    let port = |name: &str, direction: &str, bits: std::ops::Range<u32>| {
        let bits: Vec<String> = bits.map(|bit| bit.to_string()).collect();
        format!("\"{name}\": {{\"direction\": \"{direction}\", \"bits\": [{}]}}", bits.join(","))
    };
    let cell = |kind: &str, parameters: &str, pins: &str| {
        format!("\"{kind}\": {{\"type\": \"{kind}\", \"parameters\": {{{parameters}}}, \"connections\": {{{pins}}}}}")
    };
    let ab = "\"A\": [2,3], \"B\": [4,5]";
    let cells = [
        cell("$lut", "\"LUT\": \"1000\"", "\"A\": [2,3], \"Y\": [10]"),
        cell("$sshr", "\"A_SIGNED\": 1", &format!("{ab}, \"Y\": [11]")),
        cell("$div", "", &format!("{ab}, \"Y\": [12]")),
        cell("$concat", "", &format!("{ab}, \"Y\": [13,14,15,16]")),
        cell("$slice", "\"OFFSET\": 1", "\"A\": [2,3], \"Y\": [17]"),
        cell("$pmux", "", "\"A\": [2], \"B\": [3,4], \"S\": [5,2], \"Y\": [18]"),
        cell("$bmux", "", "\"A\": [2,3], \"S\": [4], \"Y\": [19]"),
        cell("$alu", "", &format!("{ab}, \"CI\": [2], \"BI\": [3], \"X\": [20,21], \"Y\": [22,23], \"CO\": [24,25]")),
        cell("$fa", "", "\"A\": [2], \"B\": [3], \"C\": [4], \"X\": [26], \"Y\": [27]"),
        cell("$shiftx", "\"B_SIGNED\": 1", &format!("{ab}, \"Y\": [28]")),
        cell("$demux", "\"S_WIDTH\": 1", "\"A\": [2], \"S\": [3], \"Y\": [29,30]"),
        cell("$macc", "\"CONFIG\": \"0101010010\", \"CONFIG_WIDTH\": 10", "\"A\": [2,3], \"B\": [4], \"Y\": [31]"),
        cell(
            "$macc_v2",
            "\"NADDENDS\": 1, \"C_WIDTHS\": 2, \"C_SIGNED\": 1, \"ADDEND_NEGATED\": 1",
            "\"A\": [], \"B\": [], \"C\": [2,3], \"Y\": [32,33]",
        ),
        cell("$sop", "\"DEPTH\": 2, \"TABLE\": \"01101001\"", "\"A\": [2,3], \"Y\": [34]"),
        cell("$_DFF_P_", "", "\"D\": [2], \"Q\": [35]"),
    ];
    let ports = [port("a", "input", 2..6), port("y", "output", 10..35)];
    format!("{{\"modules\": {{\"m\": {{\"ports\": {{{}}}, \"cells\": {{{}}}}}}}}}", ports.join(","), cells.join(","))
}

/// Small circuits in every format.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 3, false), b.input("y", 3, true));
    let sum = build::add(&mut b, build::Adder::Oh2018, &x, &y);
    let parity = b.xor3(x[0], y[0], x[1]);
    let majority = b.maj(x[0], y[1], x[2]);
    b.output("z", &[sum, vec![parity, majority]].concat(), false);
    let Ok(netlist) = b.finish() else { return Vec::new() };
    // A header of the old format whose widths overflow when they are added.
    let header = "1 4\n9223372041149743103 9223372032559808513 1\n2 1 0 1 2 AND\n".to_owned();
    [export::write_bristol(&netlist), Ok(export::write_blif(&netlist)), Ok(export::write_yosys_json(&netlist))]
        .into_iter()
        .flatten()
        .chain([HIERARCHY.to_owned(), cells(), header])
        .map(String::into_bytes)
        .collect()
}
