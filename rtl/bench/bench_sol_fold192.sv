// sol_fold192 and sol_rotmux. Vectors: an element of 192 bits, a residue, a rotation; the element and the rotated residue
// modulo p. The sum of the fold is brought to a residue by sol_norm, whose bench is another one.
module bench_sol_fold192 #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [191:0] z, turned; logic [63:0] x; logic [3:0] k; logic [67:0] s, s_turned; logic [1:0][63:0] r;
  logic [259:0] in;
  assign {z, x, k} = in;
  bench_driver #(.COUNT(COUNT), .IN(260), .OUT(128)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'(LAT_NORM)), .out_i(r));
  sol_fold192 u_dut (.z_i(z), .s_o(s));
  sol_norm #(.W(68)) u_norm (.clk_i(clk), .s_i(s), .r_o(r[0]));
  sol_rotmux #(.S0(21), .STEP(144)) u_rotmux (.x_i(x), .k_i(k[1:0]), .z_o(turned));
  sol_fold192 u_fold (.z_i(turned), .s_o(s_turned));
  sol_norm #(.W(68)) u_norm_turned (.clk_i(clk), .s_i(s_turned), .r_o(r[1]));
endmodule
