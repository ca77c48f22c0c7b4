// sol_rsa_kernel. Vectors: {valid, step} and {r32, inv} as digits, and 8 points; 8 points of the transform. Groups of 16 and 32
// points follow each other at once or after a gap, in which everything but `valid` is noise.
module bench_sol_rsa_kernel #(parameter int COUNT = 1);
  import sol_rsa_pkg::*;
  localparam logic [519:0] VALID = 520'b1 << 518;
  logic clk; logic [7:0][63:0] x, y; logic [3:0] valid_step, kind;
  logic [519:0] in;
  assign {valid_step, kind, x} = in;
  bench_driver #(.COUNT(COUNT), .IN(520), .OUT(512), .QUIET(VALID)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(kind[1] ? 6'(LAT_K32) : 6'(LAT_K16)), .out_i(y));
  sol_rsa_kernel u_dut (.clk_i(clk), .valid_i(valid_step[2]), .step_i(valid_step[1:0]), .r32_i(kind[1]), .inv_i(kind[0]),
    .x_i(x), .y_o(y));
endmodule
