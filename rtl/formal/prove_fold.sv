// ok_o is 1 for every input: the sum of sol_fold192 is congruent to its input modulo p.
// With z = (2^64 q1 + q0) + 2^128 q2 in 64-bit words: 2^64 = 2^32 - 1 and 2^128 = -2^32 (mod p), so that
// z = q0 + (2^32 - 1) q1 - 2^32 q2. The fold differs from this sum by a multiple k p with a short k.
module prove_fold (input logic [191:0] z_i, output logic ok_o);
  logic signed [67:0] s;
  sol_fold192 u_fold (.z_i, .s_o(s));
  localparam logic signed [107:0] P = 108'sh0_0000_0000_0000_FFFF_FFFF_0000_0001;
  wire signed [107:0] q0 = $signed({44'b0, z_i[63:0]}), q1 = $signed({44'b0, z_i[127:64]}), q2 = $signed({44'b0, z_i[191:128]});
  wire signed [107:0] want = q0 + (q1 <<< 32) - q1 - (q2 <<< 32);
  // (2^32 - 1) q1 - 2^32 q2 exceeds the fold by c p for the upper word c of q1, and by -a p for the upper word a of q2.
  wire signed [107:0] c = $signed({76'b0, z_i[127:96]}), a = $signed({76'b0, z_i[191:160]});
  wire signed [107:0] cp = (c <<< 64) - (c <<< 32) + c, ap = (a <<< 64) - (a <<< 32) + a;
  assign ok_o = 108'(s) == want - cp + ap;
  wire unused = ^P;
endmodule
