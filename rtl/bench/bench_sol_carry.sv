// sol_carry. Vectors: first, c0, c1; the pair of digits and the carry, compared bit by bit. There are no gaps: a segment returns
// every four cycles.
module bench_sol_carry #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [3:0] first; logic [63:0] c0, c1; logic [47:0] d; logic [40:0] carry;
  logic [131:0] in;
  assign {first, c0, c1} = in;
  bench_driver #(.COUNT(COUNT), .IN(132), .OUT(92), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_CARRY)), .out_i({d, 3'b0, carry}));
  sol_carry u_dut (.clk_i(clk), .first_i(first[0]), .c0_i(c0), .c1_i(c1), .d_o(d), .carry_o(carry));
endmodule
