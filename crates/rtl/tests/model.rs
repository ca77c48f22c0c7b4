//! Models of small designs: ports of every width, the clock, reset, errors.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod tools;

use solinas_rtl::{Design, Instance, Model};

const COUNTER: &str = "
module counter #(parameter int W = 8) (
  input logic clk_i, rst_ni, input logic [W-1:0] step_i, input logic [99:0] wide_i,
  output logic [W-1:0] count_o, output logic [99:0] wide_o);
  assign wide_o = ~wide_i;
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) count_o <= '0; else count_o <= count_o + step_i;
endmodule
";

fn counter(bits: u64) -> Option<Instance> {
    let design = Design::new("counter").source("counter.sv", COUNTER).parameter("W", bits);
    Some(tools::or_skip(Model::build(&design, &mut |_| {}))?.instance().unwrap())
}

#[test]
fn ports_of_every_width_hold_their_values() {
    for bits in [1, 9, 17, 64] {
        let Some(mut counter) = counter(bits) else { return };
        let [step, count] = ["step_i", "count_o"].map(|name| counter.port(name).unwrap());
        counter.reset();
        let mask = u64::MAX >> (64 - bits);
        counter.set_u64(step, u64::MAX);
        for i in 1..5u64 {
            counter.tick();
            assert_eq!(counter.get_u64(count), 0u64.wrapping_sub(i) & mask, "{bits} bits");
        }
        assert_eq!(counter.cycles(), 7);
        let [wide_in, wide_out] = ["wide_i", "wide_o"].map(|name| counter.port(name).unwrap());
        counter.set(wide_in, &[0x0123_4567_89ab_cdef, u64::MAX]);
        counter.eval();
        let mut words = [0; 3];
        counter.get(wide_out, &mut words);
        assert_eq!(words, [!0x0123_4567_89ab_cdef, 0, 0]);
    }
}

#[test]
fn errors_name_the_ports_and_the_fault() {
    let Some(counter) = counter(8) else { return };
    let error = counter.port("nothing").unwrap_err().to_string();
    assert!(error.contains("nothing") && error.contains("step_i"), "{error}");
    let broken = Design::new("counter").source("counter.sv", &COUNTER.replace("count_o + step_i", "missing_q"));
    let error = Model::build(&broken, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("translation of the model of counter failed") && error.contains("missing_q"), "{error}");
}
