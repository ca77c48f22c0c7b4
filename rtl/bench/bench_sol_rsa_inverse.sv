// sol_rsa_inverse. Vectors: the step, and 8 points; 8 points of the inverse transform times 2^-9.
module bench_sol_rsa_inverse #(parameter int COUNT = 1);
  import sol_rsa_pkg::*;
  localparam logic [515:0] STEP = 516'b1 << 512;
  logic clk; logic [7:0][63:0] x, y; logic [3:0] step;
  logic [515:0] in;
  assign {step, x} = in;
  bench_driver #(.COUNT(COUNT), .IN(516), .OUT(512), .QUIET(STEP)) u_driver (.clk_o(clk), .in_o(in),
    .latency_i(6'(LAT_S16)), .out_i(y));
  sol_rsa_inverse #(.SCALE(9)) u_dut (.clk_i(clk), .step_i(step[0]), .x_i(x), .y_o(y));
endmodule
