// A residue to the canonical one below p: one subtraction. Combinational.
module sol_canon (input logic [63:0] x_i, output logic [63:0] r_o);
  wire [64:0] d = {1'b0, x_i} + 65'h0_0000_0000_FFFF_FFFF;    // x - p + 2^64
  assign r_o = d[64] ? d[63:0] : x_i;
endmodule
