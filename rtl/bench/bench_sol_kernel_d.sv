// sol_kernel_d. Vectors: {valid, step} and {r64, inv} as digits, and 16 points; 16 points of the transform. Groups of 32 and 64
// points follow each other at once or after a gap, in which everything but `valid` is noise.
module bench_sol_kernel_d #(parameter int COUNT = 1);
  import sol_pkg::*;
  localparam logic [1031:0] VALID = 1032'b1 << 1030;
  logic clk; logic [15:0][63:0] x, y; logic [3:0] valid_step, kind;
  logic [1031:0] in;
  assign {valid_step, kind, x} = in;
  bench_driver #(.COUNT(COUNT), .IN(1032), .OUT(1024), .QUIET(VALID)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(kind[1] ? 6'(LAT_D64) : 6'(LAT_D32)), .out_i(y));
  sol_kernel_d u_dut (.clk_i(clk), .valid_i(valid_step[2]), .step_i(valid_step[1:0]), .r64_i(kind[1]), .inv_i(kind[0]), .x_i(x),
    .y_o(y));
endmodule
