// sol_rsa_twiddle of first steps and of the inverse. Vectors: whether the modulus is a half, and the control; 8 factors
// and 8 rotation counts of a first step, then of the inverse, compared bit by bit.
module bench_sol_rsa_twiddle #(parameter int COUNT = 1);
  logic clk; logic [1:0][7:0][63:0] w; logic [1:0][7:0][5:0] rot;
  logic [23:0] in;
  bench_driver #(.COUNT(COUNT), .IN(24), .OUT(1120), .RESIDUES(1'b0)) u_driver (.clk_o(clk), .in_o(in), .latency_i(6'd1),
    .out_i({w[0], rot[0], w[1], rot[1]}));
  sol_rsa_twiddle u_first (.clk_i(clk), .half_i(in[20]), .now_i(in[16:0]), .w_o(w[0]), .rot_o(rot[0]));
  sol_rsa_twiddle #(.INVERSE(1'b1)) u_inverse (.clk_i(clk), .half_i(in[20]), .now_i(in[16:0]), .w_o(w[1]), .rot_o(rot[1]));
endmodule
