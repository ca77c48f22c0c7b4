// sol_rsa_local at the widths of both steps of both lengths. Vectors: {half, first, second, step 0} and {minus} as
// digits, and 8 coefficients; 8 digits of each instance, compared bit by bit. An instance takes the lower bits of the
// coefficients.
module bench_sol_rsa_local #(parameter int COUNT = 1);
  logic clk; logic [3:0] place, minus; logic [7:0][63:0] c;
  logic [519:0] in;
  logic [7:0][47:0] c48; logic [7:0][34:0] c35; logic [7:0][50:0] c51;
  logic [7:0][19:0] d48; logic [7:0][18:0] d35; logic [7:0][27:0] d64; logic [7:0][26:0] d51;
  assign {place, minus, c} = in;
  for (genvar l = 0; l < 8; l++) begin : g_lane
    assign c48[l] = c[l][47:0];
    assign c35[l] = c[l][34:0];
    assign c51[l] = c[l][50:0];
  end
  bench_driver #(.COUNT(COUNT), .IN(520), .OUT(752), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'd1),
    .out_i({d48, d35, d64, d51}));
  sol_rsa_local #(.W(17), .WI(48), .WO(20)) u_17 (.clk_i(clk), .half_i(place[3]), .first_i(place[2]), .second_i(place[1]),
    .step0_i(place[0]), .minus_i(minus[0]), .c_i(c48), .d_o(d48));
  sol_rsa_local #(.W(17), .WI(35), .WO(19)) u_17_again (.clk_i(clk), .half_i(place[3]), .first_i(place[2]), .second_i(place[1]),
    .step0_i(place[0]), .minus_i(minus[0]), .c_i(c35), .d_o(d35));
  sol_rsa_local #(.W(25), .WI(64), .WO(28)) u_25 (.clk_i(clk), .half_i(place[3]), .first_i(place[2]), .second_i(place[1]),
    .step0_i(place[0]), .minus_i(minus[0]), .c_i(c), .d_o(d64));
  sol_rsa_local #(.W(25), .WI(51), .WO(27)) u_25_again (.clk_i(clk), .half_i(place[3]), .first_i(place[2]), .second_i(place[1]),
    .step0_i(place[0]), .minus_i(minus[0]), .c_i(c51), .d_o(d51));
endmodule
