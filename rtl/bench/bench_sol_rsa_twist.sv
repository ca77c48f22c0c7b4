// sol_rsa_twist at the widths of both lengths. Vectors: {half, negative, step} as a digit, 8 digits of 19 bits and 8 of
// 27 bits; the residues of the former, then of the latter. The controls come one cycle after the digits.
module bench_sol_rsa_twist #(parameter int COUNT = 1);
  import sol_pkg::*;
  logic clk; logic [3:0] control, late; logic [7:0][18:0] narrow; logic [7:0][26:0] wide; logic [7:0][63:0] x, y;
  logic [371:0] in;
  assign {control, narrow, wide} = in;
  always_ff @(posedge clk) late <= control;
  bench_driver #(.COUNT(COUNT), .IN(372), .OUT(1024)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'(1 + LAT_NORM)), .out_i({x, y}));
  sol_rsa_twist #(.W(19)) u_narrow (.clk_i(clk), .half_i(late[3]), .negative_i(late[2]), .step_i(late[1:0]), .digits_i(narrow), .x_o(x));
  sol_rsa_twist #(.W(27)) u_wide (.clk_i(clk), .half_i(late[3]), .negative_i(late[2]), .step_i(late[1:0]), .digits_i(wide), .x_o(y));
endmodule
