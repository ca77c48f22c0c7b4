// ok_o is 1 for every input: a carry lane loses nothing, and a carry below 2^41 leaves a carry below 2^41.
module prove_carry (input logic [63:0] c0_i, c1_i, input logic [40:0] carry_i, output logic ok_o);
  wire [95:0] sum = 96'(c0_i) + (96'(c1_i) << 24) + 96'(carry_i);
  wire legal = c0_i < sol_pkg::P && c1_i < sol_pkg::P;
  assign ok_o = !legal || (sum[95:89] == '0 && sum[88:48] < 41'h1FF_FFFF_FFFF);
endmodule
