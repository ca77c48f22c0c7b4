// sol_rsa_untwist. Vectors: {half, negative, step} as a digit, and 8 residues; 8 canonical residues, compared bit by
// bit.
module bench_sol_rsa_untwist #(parameter int COUNT = 1);
  import sol_rsa_pkg::*;
  logic clk; logic [3:0] control; logic [7:0][63:0] x, y;
  logic [515:0] in;
  assign {control, x} = in;
  bench_driver #(.COUNT(COUNT), .IN(516), .OUT(512), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'(TO_CARRY)),
    .out_i(y));
  sol_rsa_untwist u_dut (.clk_i(clk), .half_i(control[3]), .negative_i(control[2]), .step_i(control[1:0]), .x_i(x), .x_o(y));
endmodule
