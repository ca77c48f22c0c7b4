// ok_o is 1 for every input: the result of sol_norm is congruent to its input modulo p. Registers are wires in the proof.
// s = t 2^64 + low is congruent to low + t (2^32 - 1), from which the result differs by 0, p or -p.
module prove_norm #(parameter int W = 72) (input logic clk_i, input logic signed [W-1:0] s_i, output logic ok_o);
  logic [63:0] r;
  sol_norm #(.W(W)) u_norm (.clk_i, .s_i, .r_o(r));
  localparam logic signed [79:0] P = 80'sh0000_FFFF_FFFF_0000_0001;
  wire signed [W-65:0] t = s_i[W-1:64];
  wire signed [79:0] d = $signed({16'b0, r}) - $signed({16'b0, s_i[63:0]}) - (80'(t) <<< 32) + 80'(t);
  assign ok_o = d == 0 || d == P || d == -P;
endmodule
