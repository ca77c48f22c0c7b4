// sol_kernel_s at the scales of both multipliers. Vectors: the step, and 16 points; 16 points of the inverse transform times
// 2^-16, then the same times 2^-11.
module bench_sol_kernel_s #(parameter int COUNT = 1);
  import sol_pkg::*;
  localparam logic [1027:0] STEP = 1028'b1 << 1024;
  logic clk; logic [15:0][63:0] x, y16, y11; logic [3:0] step;
  logic [1027:0] in;
  assign {step, x} = in;
  bench_driver #(.COUNT(COUNT), .IN(1028), .OUT(2048), .QUIET(STEP)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_S)), .out_i({y16, y11}));
  sol_kernel_s #(.SCALE(16)) u_16 (.clk_i(clk), .step_i(step[0]), .x_i(x), .y_o(y16));
  sol_kernel_s #(.SCALE(11)) u_11 (.clk_i(clk), .step_i(step[0]), .x_i(x), .y_o(y11));
endmodule
