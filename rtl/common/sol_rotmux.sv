// x 2^(S0 + STEP k) in the ring modulo 2^192 - 1, for k in 0..3: constant wiring and a four-way selection. Combinational.
module sol_rotmux #(parameter int S0 = 0, parameter int STEP = 48) (
  input  logic [63:0] x_i, input logic [1:0] k_i, output logic [191:0] z_o);

  if (S0 < 0 || STEP < 0) begin : g_check $fatal(1, "sol_rotmux: S0 = %0d or STEP = %0d is negative", S0, STEP); end
  function automatic logic [191:0] rotate(logic [63:0] x, int s);
    logic [383:0] w;
    w = {320'b0, x} << s;
    return w[191:0] | w[383:192];
  endfunction
  wire [191:0] z0 = rotate(x_i, S0 % 192);
  wire [191:0] z1 = rotate(x_i, (S0 + STEP) % 192);
  wire [191:0] z2 = rotate(x_i, (S0 + 2 * STEP) % 192);
  wire [191:0] z3 = rotate(x_i, (S0 + 3 * STEP) % 192);
  assign z_o = k_i[1] ? (k_i[0] ? z3 : z2) : (k_i[0] ? z1 : z0);
endmodule
