//! The block diagrams. Latencies and widths are those of the packages.

use super::constants::constant;
use super::diagram::Kind::{Arithmetic, Control, Memory, Outside};
use super::diagram::{Arrow, Block, Diagram, Kind};
use crate::Error;

fn block(at: (u32, u32), size: (u32, u32), kind: Kind, title: &'static str, lines: &[&str]) -> Block {
    Block { at, size, kind, title, lines: lines.iter().map(|line| (*line).to_owned()).collect() }
}

fn arrow(points: &'static [(u32, u32)], label: &'static str) -> Arrow {
    Arrow { points, label }
}

/// The lines of a block with a latency.
fn latency(line: &str, names: &[&str]) -> Result<Vec<String>, Error> {
    let values = names.iter().map(|name| Ok(constant(name)?.to_string())).collect::<Result<Vec<_>, Error>>()?;
    Ok(vec![line.to_owned(), format!("{} cycles", values.join(" or "))])
}

pub(super) fn multiplier() -> Result<Diagram, Error> {
    let (wide, high) = (140, 56);
    let timed = |at, title, line: &str, names: &[&str]| {
        Ok::<_, Error>(Block { at, size: (wide, high), kind: Arithmetic, title, lines: latency(line, names)? })
    };
    let blocks = vec![
        block((20, 40), (wide, high), Memory, "loader A", &["corner turn", "16 digits a cycle"]),
        block((20, 300), (wide, high), Memory, "loader B", &["corner turn", "16 digits a cycle"]),
        block((220, 40), (wide, high), Arithmetic, "input A", &["digits x 8^m, or", "16 words"]),
        block((220, 300), (wide, high), Arithmetic, "input B", &["digits x 8^m, or", "16 words"]),
        timed((400, 40), "kernel D A", "32 or 64 points", &["LAT_D32", "LAT_D64"])?,
        timed((400, 300), "kernel D B", "32 or 64 points", &["LAT_D32", "LAT_D64"])?,
        timed((400, 170), "16 carry lanes", "48 bits a lane", &["LAT_CARRY"])?,
        timed((600, 40), "16 multipliers A", "modulo p", &["LAT_MULROT"])?,
        timed((600, 300), "16 multipliers B", "modulo p", &["LAT_MULROT"])?,
        block((590, 186), (70, 40), Memory, "twiddles", &["ROM"]),
        timed((790, 170), "kernel S", "inverse, 32 points", &["LAT_S"])?,
        timed((960, 40), "network A", "16 words", &["LAT_XNET"])?,
        timed((960, 300), "network B", "16 words", &["LAT_XNET"])?,
        block(
            (220, 420),
            (880, 60),
            Memory,
            "six half arrays, each of 16 banks of 1024 words of 64 bits",
            &["one read port and one write port a bank; read networks"],
        ),
        block(
            (600, 530),
            (wide + 60, high),
            Arithmetic,
            "unload",
            &["adds the carries of segments", "384 bits a cycle"],
        ),
        block((20, 530), (wide + 60, high), Control, "control", &["passes and addresses", "of all stages"]),
    ];
    let arrows = vec![
        arrow(&[(90, 12), (90, 40)], "384 bits"),
        arrow(&[(90, 272), (90, 300)], "384 bits"),
        arrow(&[(160, 55), (220, 55)], ""),
        arrow(&[(160, 328), (220, 328)], ""),
        arrow(&[(290, 420), (290, 356)], "words"),
        arrow(&[(240, 420), (240, 390), (190, 390), (190, 80), (220, 80)], ""),
        arrow(&[(360, 68), (400, 68)], ""),
        arrow(&[(360, 328), (400, 328)], ""),
        arrow(&[(540, 68), (600, 68)], ""),
        arrow(&[(540, 328), (600, 328)], ""),
        arrow(&[(560, 328), (560, 86), (600, 86)], ""),
        arrow(&[(470, 96), (470, 170)], "c0"),
        arrow(&[(470, 300), (470, 226)], "c1"),
        arrow(&[(625, 186), (625, 96)], ""),
        arrow(&[(625, 226), (625, 300)], ""),
        arrow(&[(740, 68), (960, 68)], ""),
        arrow(&[(860, 68), (860, 170)], "pass P3"),
        arrow(&[(790, 198), (700, 198), (700, 300)], ""),
        arrow(&[(740, 328), (960, 328)], ""),
        arrow(&[(540, 210), (575, 210), (575, 265), (990, 265), (990, 300)], ""),
        arrow(&[(1100, 68), (1130, 68), (1130, 450), (1100, 450)], ""),
        arrow(&[(1030, 356), (1030, 420)], ""),
        arrow(&[(700, 480), (700, 530)], "8 pairs"),
        arrow(&[(800, 558), (900, 558)], "product"),
    ];
    Ok(Diagram { title: "Blocks of the multiplier", size: (1150, 600), blocks, arrows })
}

pub(super) fn gentry_halevi() -> Result<Diagram, Error> {
    let beat = constant("BEAT")?;
    let words = |name: &str| Ok::<_, Error>((1u64 << constant(name)?).to_string());
    let stores = format!("{} instructions, {} terms", words("LOG_PROGRAM")?, words("LOG_LIST")?);
    let candidates = format!("{} x {} bits", words("LOG_CANDIDATES")?, constant("OUTPUTS")?);
    let (wide, high) = (180, 60);
    let unit = |y, title, lines: &[&str]| block((320, y), (wide, high), Arithmetic, title, lines);
    let blocks = vec![
        block((20, 40), (200, high), Control, "sol_gh_registers", &["register port, interrupt", &stores]),
        block((20, 190), (200, high), Control, "sol_gh_sequencer", &["master control:", "runs a program"]),
        unit(40, "sol_multiplier", &["products"]),
        unit(140, "sol_gh_sink", &["stores, adds, subtracts,", "shifts a product"]),
        unit(240, "sol_gh_sum", &["sums of slots,", "5 sums of the table"]),
        unit(340, "sol_gh_candidates", &["candidates of a block"]),
        unit(440, "sol_gh_compare", &["compares two slots"]),
        block((20, 340), (200, high), Memory, "store of candidates", &[&candidates]),
        block(
            (720, 40),
            (200, 460),
            Outside,
            "memory",
            &["outside of the chip:", "slots and the table,", &format!("in beats of {beat} bits")],
        ),
    ];
    let arrows = vec![
        arrow(&[(120, 12), (120, 40)], "registers, 64 bits"),
        arrow(&[(120, 100), (120, 190)], "instructions"),
        arrow(&[(220, 220), (270, 220), (270, 70), (320, 70)], ""),
        arrow(&[(220, 220), (270, 220), (270, 170), (320, 170)], ""),
        arrow(&[(220, 220), (270, 220), (270, 260), (320, 260)], ""),
        arrow(&[(220, 220), (270, 220), (270, 360), (320, 360)], ""),
        arrow(&[(220, 220), (270, 220), (270, 470), (320, 470)], ""),
        arrow(&[(320, 385), (220, 385)], ""),
        arrow(&[(200, 340), (200, 285), (320, 285)], ""),
        arrow(&[(410, 100), (410, 140)], "product"),
        arrow(&[(720, 55), (500, 55)], "la: operand"),
        arrow(&[(720, 85), (500, 85)], "lb: operand"),
        arrow(&[(720, 370), (600, 370), (500, 370)], "c: reads"),
        arrow(&[(600, 370), (600, 155), (500, 155)], ""),
        arrow(&[(600, 370), (600, 255), (500, 255)], ""),
        arrow(&[(600, 370), (600, 470), (500, 470)], ""),
        arrow(&[(500, 185), (660, 185), (660, 285), (720, 285)], ""),
        arrow(&[(500, 285), (600, 285), (720, 285)], "w: writes"),
    ];
    Ok(Diagram { title: "Blocks of the accelerator for the Gentry-Halevi scheme", size: (940, 520), blocks, arrows })
}

pub(super) fn rsa() -> Result<Diagram, Error> {
    let (wide, high) = (150, 60);
    let timed = |at, title, line: &str, names: &[&str]| {
        Ok::<_, Error>(Block { at, size: (wide, high), kind: Arithmetic, title, lines: latency(line, names)? })
    };
    let blocks = vec![
        block((20, 20), (wide, high), Control, "control", &["commands, key,", "base and result"]),
        block((230, 20), (wide, high), Control, "two threads", &["exponent and products", "of a modulus each"]),
        block((440, 20), (wide, high), Control, "scheduler", &["one pass at a time", "on each unit"]),
        block((20, 140), (wide, high), Memory, "digits", &["of a, t, m and w;", "16 powers"]),
        block((230, 140), (wide, high), Arithmetic, "twist", &["residues of digits", "times powers of 2"]),
        timed((440, 140), "kernel A", "8 lanes, 16 or 32 points", &["LAT_K16", "LAT_K32"])?,
        timed((650, 140), "8 multipliers", "modulo p", &["LAT_MULROT"])?,
        timed((860, 140), "kernel S", "inverse, 16 points", &["LAT_S16"])?,
        timed((860, 260), "8 multipliers", "modulo p", &["LAT_MULROT"])?,
        block((650, 260), (wide, high), Memory, "spectra", &["of N and N'"]),
        block((440, 260), (wide, high), Memory, "arrays", &["words of 64 bits", "in 8 banks"]),
        timed((440, 380), "kernel B", "8 lanes, 16 or 32 points", &["LAT_K16", "LAT_K32"])?,
        block((230, 380), (wide, high), Arithmetic, "untwist", &["coefficients of", "the product"]),
        timed((20, 380), "local carries", "three digits a place", &["LAT_LOCAL"])?,
    ];
    let arrows = vec![
        arrow(&[(170, 50), (230, 50)], ""),
        arrow(&[(380, 50), (440, 50)], ""),
        arrow(&[(515, 80), (515, 140)], "passes"),
        arrow(&[(95, 80), (95, 140)], ""),
        arrow(&[(170, 170), (230, 170)], ""),
        arrow(&[(380, 170), (440, 170)], ""),
        arrow(&[(590, 170), (650, 170)], ""),
        arrow(&[(800, 170), (860, 170)], ""),
        arrow(&[(935, 200), (935, 260)], ""),
        arrow(&[(935, 320), (935, 345), (560, 345), (560, 320)], ""),
        arrow(&[(700, 200), (700, 260)], ""),
        arrow(&[(750, 260), (750, 200)], ""),
        arrow(&[(650, 185), (620, 185), (620, 280), (590, 280)], ""),
        arrow(&[(490, 260), (490, 200)], "rows"),
        arrow(&[(490, 320), (490, 380)], "columns"),
        arrow(&[(590, 410), (1030, 410), (1030, 115), (725, 115), (725, 140)], "second operand"),
        arrow(&[(440, 410), (380, 410)], ""),
        arrow(&[(230, 410), (170, 410)], ""),
        arrow(&[(95, 380), (95, 200)], "digits"),
    ];
    Ok(Diagram { title: "Blocks of the RSA exponentiator", size: (1050, 460), blocks, arrows })
}
