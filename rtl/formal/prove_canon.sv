// ok_o is 1 for every input: the result of sol_canon is below p, and differs from its input by 0 or p.
module prove_canon (input logic [63:0] x_i, output logic ok_o);
  logic [63:0] r;
  sol_canon u_canon (.x_i, .r_o(r));
  assign ok_o = r < sol_pkg::P && (r == x_i || r == x_i - sol_pkg::P);
endmodule
