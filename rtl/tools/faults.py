"""Puts single faults into the leaves. The bench of the leaf must find each of them, in Icarus, which builds quickly.

Usage: faults.py [--vectors FOLDER] [--work FOLDER] [BENCH ...]. The end is an error if a fault is missed.
Faults of whole designs are in crates/rtl/tests/faults.rs.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import simulators

# The bench, the source, what it says, and the fault.
FAULTS = [
    ("sol_norm", "common/sol_norm.sv", "above ? 64'h0000_0000_FFFF_FFFF", "1'b0 ? 64'h0000_0000_FFFF_FFFF"),
    ("sol_norm", "common/sol_norm.sv", "below ? 64'hFFFF_FFFF_0000_0001", "1'b0 ? 64'hFFFF_FFFF_0000_0001"),
    ("sol_norm", "common/sol_norm.sv", "{{(67-H){t[H-1]}}, t}", "{{(67-H){1'b0}}, t}"),
    ("sol_norm", "common/sol_norm.sv", "!u[66] & u[64]", "u[64]"),
    ("sol_canon", "common/sol_canon.sv", "d[64] ? d[63:0] : x_i", "x_i"),
    ("sol_canon", "common/sol_canon.sv", "65'h0_0000_0000_FFFF_FFFF", "65'h0_0000_0000_FFFF_FFFE"),
    ("sol_fold192", "common/sol_fold192.sv", "$signed({4'b0, b, c})", "$signed({4'b0, c, b})"),
    ("sol_fold192", "common/sol_fold192.sv", "- $signed({4'b0, a, d})", "+ $signed({4'b0, a, d})"),
    ("sol_fold192", "common/sol_rotmux.sv", "(S0 + 2 * STEP)", "(S0 + 3 * STEP)"),
    ("sol_fold192", "common/sol_rotmux.sv", "w[191:0] | w[383:192]", "w[191:0]"),
    ("sol_mulrot", "common/sol_mulrot.sv", "8'd3", "8'd2"),
    ("sol_mulrot", "common/sol_mulrot.sv", "rot1 <= rot_i", "rot1 <= rot_i & 6'd31"),
    ("sol_dft16", "common/sol_dft16.sv", "66'h1_FFFF_FFFE_0000_0002", "66'h0_0000_0000_0000_0000"),
    ("sol_dft16", "common/sol_dft16.sv", "(12 * n * k) % 192", "(12 * n * k + 1) % 192"),
    ("sol_dft16", "common/sol_dft16.sv", "(term[4] + term[5])", "(term[4] + term[4])"),
    ("sol_kernel_d", "common/sol_kernel_d.sv", "l == 0 ? -out_step", "l == 1 ? -out_step"),
    ("sol_kernel_d", "common/sol_kernel_d.sv", "now.valid & (now", "1'b1 & (now"),
    ("sol_kernel_d", "common/sol_kernel_d.sv", ".STEP(144)", ".STEP(48)"),
    ("sol_kernel_d", "common/sol_kernel_d.sv", "h1 <= now.r64 ? y1 : 64'd0", "h1 <= y1"),
    ("sol_kernel_d", "common/sol_kernel_d.sv", "if (last) inverse <= now.inv", "inverse <= now.inv"),
    ("sol_kernel_s", "common/sol_kernel_s.sv", "x0 <= x_i[l]", "x0 <= x_i[(l + 1) % 16]"),
    ("sol_kernel_s", "common/sol_kernel_s.sv", "192 - SCALE", "191 - SCALE"),
    ("sol_kernel_s", "common/sol_kernel_s.sv", "96 + 192 - 6*l", "192 - 6*l"),
    ("sol_carry", "common/sol_carry.sv", "41'b0 : back4", "41'b0 : back3"),
    ("sol_carry", "common/sol_carry.sv", "first2 ? 41'b0", "first1 ? 41'b0"),
    ("sol_carry", "common/sol_carry.sv", "sol_canon u_canon1 (.x_i(c1_i), .r_o(n1));", "assign n1 = c1_i;"),
    ("sol_twiddle", "common/sol_twiddle.sv", "e_i[l][15:10]", "{e_i[l][14:10], e_i[l][15]}"),
    ("sol_twiddle", "common/sol_twiddle.sv", "i < 1024; i++", "i < 1023; i++"),
    ("sol_bank", "common/sol_bank.sv", "if (re_i) rd_o", "rd_o"),
    ("sol_bank", "common/sol_bank.sv", "rd_o <= words[ra_i]", "rd_o <= we_i & (wa_i == ra_i) ? wd_i : words[ra_i]"),
    ("sol_xnet", "common/sol_xnet.sv", "4'(i) ^ sel_i", "4'(i) + sel_i"),
    ("sol_mul_loader", "multiplier/sol_mul_loader.sv", "use_q <= after(use_q)", "use_q <= use_q"),
    ("sol_mul_loader", "multiplier/sol_mul_loader.sv", "!first | claimed != ($clog2(DEPTH+1))'(DEPTH)", "1'b1"),
    ("sol_mul_loader", "multiplier/sol_mul_loader.sv", "if (round) busy_o <= 1'b0;", "busy_o <= 1'b0;"),
    ("sol_mul_loader", "multiplier/sol_mul_loader.sv", "claimed <= '0; filled <= '0;", "claimed <= '0; filled <= filled;"),
    ("sol_mul_loader", "multiplier/sol_mul_turn.sv", "{4'(l), step_i}", "{step_i, 4'(l)}"),
    ("sol_mul_twiddles", "multiplier/sol_mul_twiddles.sv", "early_i.count[4:1], 1'b1", "early_i.count[4:1], 1'b0"),
    ("sol_mul_twiddles", "multiplier/sol_mul_twiddles.sv", "16'(j) << 6", "16'(j) << 5"),
    ("sol_mul_unload", "multiplier/sol_mul_unload.sv", "segment[DELAY] != '0 ?", "1'b1 ?"),
    ("sol_mul_unload", "multiplier/sol_mul_unload.sv", "ripple & !first[DELAY]", "ripple"),
    ("sol_mul_unload", "multiplier/sol_mul_unload.sv", "assign step_o = !out_valid_o | out_ready_i;", "assign step_o = 1'b1;"),
    ("sol_sto_carry", "stored/sol_sto_carry.sv", "first[3] ? 41'b0", "first[2] ? 41'b0"),
    ("sol_sto_carry", "stored/sol_sto_carry.sv", "odd[2] ? segment2 : ra_i", "odd[2] ? segment1 : ra_i"),
    ("sol_sto_carry", "stored/sol_sto_carry.sv", "sum[88:48]", "{sum[88:49], 1'b0}"),
    ("sol_sto_carry_together", "stored/sol_sto_carry.sv", "c0 <= c0_i", "c0 <= c1_i"),
    ("sol_sto_twiddles", "stored/sol_sto_twiddles.sv", "-16'(base)", "16'(base)"),
    ("sol_sto_twiddles", "stored/sol_sto_twiddles.sv", "common[15:5] + multiple", "multiple"),
    ("sol_sto_twiddles", "stored/sol_sto_rom.sv", "i < 1024; i++", "i < 1023; i++"),
    ("sol_sto_constants", "stored/sol_sto_constants.sv", "k < 5; k++", "k < 6; k++"),
    ("sol_sto_constants", "stored/sol_sto_constants.sv", "{i[4:1], 1'b0}", "{i[3:0], 1'b0}"),
    ("sol_rsa_dft8", "rsa/sol_rsa_dft8.sv", "66'h1_FFFF_FFFE_0000_0002", "66'h0_0000_0000_0000_0000"),
    ("sol_rsa_dft8", "rsa/sol_rsa_dft8.sv", "(24 * n * k) % 192", "(12 * n * k) % 192"),
    ("sol_rsa_kernel", "rsa/sol_rsa_kernel.sv", "l == 0 ? -out_step", "l == 1 ? -out_step"),
    ("sol_rsa_kernel", "rsa/sol_rsa_kernel.sv", ".STEP(96)", ".STEP(48)"),
    ("sol_rsa_kernel", "rsa/sol_rsa_kernel.sv", "now.valid & (now", "1'b1 & (now"),
    ("sol_rsa_inverse", "rsa/sol_rsa_inverse.sv", "192 - SCALE", "191 - SCALE"),
    ("sol_rsa_inverse", "rsa/sol_rsa_inverse.sv", "y[(8 - l) % 8]", "y[l]"),
    ("sol_rsa_twist", "rsa/sol_rsa_twist.sv", "negative & minus_one", "1'b0"),
    ("sol_rsa_twist", "rsa/sol_rsa_twist.sv", "{step_i[0], 1'b0}", "{1'b0, step_i[0]}"),
    ("sol_rsa_untwist", "rsa/sol_rsa_untwist.sv", ".STEP(168)", ".STEP(144)"),
    ("sol_rsa_untwist", "rsa/sol_rsa_untwist.sv", "x_o[l] <= canonical", "x_o[l] <= r"),
    ("sol_rsa_twiddle", "rsa/sol_rsa_twiddle.sv", "{2'b10, e[3:1]}", "{1'b0, e[3:0]}"),
    ("sol_rsa_twiddle", "rsa/sol_rsa_twiddle.sv", "column, 4'b0", "column, 4'b1"),
    ("sol_rsa_local", "rsa/sol_rsa_local.sv", "negate ? -two", "1'b0 ? -two"),
    ("sol_rsa_local", "rsa/sol_rsa_local.sv", "half_i ? top[5][7] : top[9][7]", "half_i ? top[5][7] : top[8][7]"),
    ("sol_rsa_carry", "rsa/sol_rsa_carry.sv", "half - unit", "half + unit"),
    ("sol_rsa_carry", "rsa/sol_rsa_carry.sv", "64'h7FFF_FFFF_8000_0000", "64'h7FFF_FFFF_7FFF_FFFF"),
    ("sol_rsa_window", "rsa/sol_rsa_window.sv", "entry_i == LOG_ENTRIES'(i)", "entry_i[2:0] == 3'(i)"),
    ("sol_rsa_exponent", "rsa/sol_rsa_exponent.sv", "windows <= 5'd16", "windows <= 5'd15"),
    ("sol_rsa_exponent", "rsa/sol_rsa_exponent.sv", "count <= '0; left <= '0;", "count <= count; left <= '0;"),
    ("sol_gh_sum", "gh/sol_gh_sum.sv", "W'(hold_minus)", "W'(1'b0)"),
    ("sol_gh_sum", "gh/sol_gh_sum.sv", "fresh ? list_i : list_kept", "list_i"),
    ("sol_gh_sum", "gh/sol_gh_sum.sv", "one_beat == '0 ? '0 : carry[one_output]", "carry[one_output]"),
    ("sol_gh_sink", "gh/sol_gh_sink.sv", "- (BEAT+1)'(carry)", "- (BEAT+1)'(1'b0)"),
    ("sol_gh_sink", "gh/sol_gh_sink.sv", "if (low_due) low_due <= 1'b0; else split_due <= 1'b0;", "low_due <= 1'b0; split_due <= 1'b0;"),
    ("sol_gh_compare", "gh/sol_gh_compare.sv", "beat != '0 ? ASK_A", "beat[0] ? ASK_A"),
    ("sol_gh_compare", "gh/sol_gh_compare.sv", "high > rdata_i", "high >= rdata_i"),
    ("sol_gh_candidates", "gh/sol_gh_candidates.sv", "13'(borrow)", "13'(1'b0)"),
    ("sol_gh_candidates", "gh/sol_gh_candidates.sv", "above ^ parity : above", "above : above"),
    ("sol_gh_candidates", "gh/sol_gh_candidates.sv", "| (&window[61:0])", "| (&window[60:0])"),
]


def caught(icarus, number, fault, vectors):
    """How the bench ended with this fault: None if it found nothing."""
    name, source, old, new = fault
    path = icarus.work / source
    text = path.read_text()
    if old not in text:
        sys.exit(f"error: rtl/{source} does not say \"{old}\"; change the fault")
    folder = icarus.work / f"fault_{number}"
    folder.mkdir()
    (folder / path.name).write_text(text.replace(old, new, 1))
    vectors = vectors / f"{name}.hex"
    program, output = icarus.build(name, len(vectors.read_text().splitlines()), first=folder)
    if program is None:
        sys.exit(f"error: Icarus cannot build {source} with the fault \"{new}\":\n{output[:1500]}")
    done, output = simulators.call([*program, f"+vectors={vectors.resolve()}"], icarus.work)
    return None if done or "FAILED" not in output else output.split("FAILED: ")[1].splitlines()[0]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--vectors", type=Path, default=Path("target/vectors"))
    arguments.add_argument("--work", type=Path, default=Path("target/bench-faults"), help="folder for what is built")
    arguments.add_argument("bench", nargs="*", help="leaves; defaults to all")
    arguments = arguments.parse_args()
    faults = [fault for fault in FAULTS if not arguments.bench or fault[0] in arguments.bench]
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    icarus = simulators.Icarus(work)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(caught, icarus, number, fault, arguments.vectors) for number, fault in enumerate(faults)]
        results = [job.result() for job in jobs]
    for (name, source, _, new), result in zip(faults, results):
        print(f"{source:<32}{new[:52]:<54}{'caught: ' + result if result else 'MISSED'}")
    missed = sum(result is None for result in results)
    print(f"{len(faults)} faults of leaves: {len(faults) - missed} caught, {missed} missed")
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
