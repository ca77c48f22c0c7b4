// sol_mulrot with and without a subtrahend, which comes 5 cycles after the factors. Vectors: a, b, c and the rotation count;
// a b 2^(3 rot) - c and a b 2^(3 rot).
module bench_sol_mulrot #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [63:0] a, b, c, difference, product; logic [7:0] rot; logic [5*64-1:0] late;
  logic [199:0] in;
  assign {a, b, c, rot} = in;
  always_ff @(posedge clk) late <= {late[4*64-1:0], c};
  bench_driver #(.COUNT(COUNT), .IN(200), .OUT(128)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'(LAT_MULROT)), .out_i({difference, product}));
  sol_mulrot #(.SUBTRACT(1'b1)) u_difference (.clk_i(clk), .a_i(a), .b_i(b), .rot_i(rot[5:0]), .c_i(late[5*64-1 -: 64]), .r_o(difference));
  sol_mulrot u_product (.clk_i(clk), .a_i(a), .b_i(b), .rot_i(rot[5:0]), .c_i(c), .r_o(product));
endmodule
