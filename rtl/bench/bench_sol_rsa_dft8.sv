// sol_rsa_dft8. Vectors: 8 points; their transform with the root 2^24.
module bench_sol_rsa_dft8 #(parameter int COUNT = 1);
  import sol_rsa_pkg::*;
  logic clk; logic [7:0][63:0] x, y;
  bench_driver #(.COUNT(COUNT), .IN(512), .OUT(512)) u_driver (.clk_o(clk), .in_o(x), .latency_i(6'(LAT_DFT8)), .out_i(y));
  sol_rsa_dft8 u_dut (.clk_i(clk), .x_i(x), .y_o(y));
endmodule
