// sol_mulrot. Vectors: a, b and the rotation count; a b 2^(3 rot).
module bench_sol_mulrot #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [63:0] a, b, r; logic [7:0] rot;
  logic [135:0] in;
  assign {a, b, rot} = in;
  bench_driver #(.COUNT(COUNT), .IN(136)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'(LAT_MULROT)), .out_i(r));
  sol_mulrot u_dut (.clk_i(clk), .a_i(a), .b_i(b), .rot_i(rot[5:0]), .r_o(r));
endmodule
