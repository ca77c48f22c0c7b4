// An element of the ring modulo 2^192 - 1, which p divides, to a short sum (wang2014 eq. 5.1).
//
// With the 32-bit words f, e, d, c, b, a of z, lowest first: 2^96 = -1 and 2^64 = 2^32 - 1 give
// z = (e, f) + (d, a) - (b, c) - (a, d) (mod p), in pairs of words, high one first. |s| < 2^66. Combinational.
module sol_fold192 (input logic [191:0] z_i, output logic signed [67:0] s_o);
  wire [31:0] f = z_i[31:0],   e = z_i[63:32],   d = z_i[95:64],
              c = z_i[127:96], b = z_i[159:128], a = z_i[191:160];
  assign s_o = $signed({4'b0, e, f}) + $signed({4'b0, d, a}) - $signed({4'b0, b, c}) - $signed({4'b0, a, d});
endmodule
