// sol_dft16. Vectors: 16 points; their transform with the root 2^12.
module bench_sol_dft16 #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [15:0][63:0] x, y;
  bench_driver #(.COUNT(COUNT), .IN(1024), .OUT(1024)) u_driver (.clk_o(clk), .in_o(x), .latency_i(6'(LAT_DFT16)), .out_i(y));
  sol_dft16 u_dut (.clk_i(clk), .x_i(x), .y_o(y));
endmodule
