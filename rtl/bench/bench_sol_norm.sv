// sol_norm at the widths that the designs use. Vectors: a sum of 72 bits, of which narrower instances take the lower bits.
module bench_sol_norm #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [71:0] s; logic [3:0][63:0] r;
  bench_driver #(.COUNT(COUNT), .IN(72), .OUT(256)) u_driver (.clk_o(clk), .in_o(s), .latency_i(6'(LAT_NORM)), .out_i(r));
  sol_norm #(.W(66)) u_66 (.clk_i(clk), .s_i(s[65:0]), .r_o(r[0]));
  sol_norm #(.W(68)) u_68 (.clk_i(clk), .s_i(s[67:0]), .r_o(r[1]));
  sol_norm #(.W(70)) u_70 (.clk_i(clk), .s_i(s[69:0]), .r_o(r[2]));
  sol_norm #(.W(72)) u_72 (.clk_i(clk), .s_i(s), .r_o(r[3]));
endmodule
