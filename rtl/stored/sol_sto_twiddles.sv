// Twiddle factors of 16 lanes from one table with a wide port.
//
// The exponents of the lanes of a pass differ by multiples of 32: P1 has w^(32 k1 m2), P2 w^(k1 j2 + 64 k2 j2), IP2
// w^(-k1 j2 - 32 k1 m2). (The factor w^(k1 j2), which sol_multiplier takes in P1, is taken in P2.) So a row of 32 entries,
// w^(row + 32 i), has the factors of all lanes; a rotation does the rest, since w^1024 = 8. The middle pass has w^(-64 k2 j2)
// behind kernel S: constants. The small instance has w^(32 k1 j2) and its inverse. Latency: 1.
module sol_sto_twiddles import sol_pkg::*; import sol_sto_pkg::*; #(parameter bit BIG = 1'b1) (
  input  logic clk_i,
  input  control_t early_i, late_i,             // one cycle before the multipliers behind kernels D and S
  output logic [15:0][63:0] factor_o, late_factor_o, output logic [15:0][5:0] rot_o, late_rot_o);
  /* verilator no_inline_module */

  function automatic logic [31:0][63:0] row0();
    logic [63:0] power, step;
    step = ROOT;
    for (int k = 0; k < 5; k++) step = 64'((128'(step) * 128'(step)) % 128'(P));
    power = 64'd1;
    for (int i = 0; i < 32; i++) begin
      row0[i] = power;
      power = 64'((128'(power) * 128'(step)) % 128'(P));
    end
  endfunction
  localparam logic [31:0][63:0] CONSTANTS = row0();

  // Early: base exponent, common to the lanes, and the multiple of 32 of each lane.
  wire [5:0] k1 = {early_i.count[10:6], early_i.round};
  wire [10:0] base = 11'(k1) * 11'(early_i.count[5:1]);
  wire [15:0] common = !BIG | early_i.pass == P1 ? 16'd0 : early_i.pass == P2 ? 16'(base) : -16'(base);
  logic [31:0][63:0] row; logic [15:0][10:0] i_q; logic [15:0][10:0] i_now;
  always_comb for (int l = 0; l < 16; l++) begin
    automatic logic [4:0] k = {early_i.count[0], 4'(l)};
    automatic logic [10:0] multiple;
    unique case (early_i.pass)
      P1:      multiple = 11'({k, early_i.round}) * 11'(BIG ? early_i.count[10:6] : early_i.count[5:1]);
      P2:      multiple = 11'(k) * 11'(early_i.count[5:1]) << 1;
      default: multiple = -(11'(k1) * 11'(k));
    endcase
    i_now[l] = common[15:5] + multiple;
  end
  sol_sto_rom u_rom (.clk_i, .row_i(common[4:0]), .row_o(row));
  always_ff @(posedge clk_i) i_q <= i_now;
  // The lowest bit of the entry is the same for all even lanes and for all odd lanes.
  logic [15:0][63:0] half [2];
  always_comb for (int h = 0; h < 2; h++) for (int t = 0; t < 16; t++) half[h][t] = row[{4'(t), i_q[h][0]}];
  for (genvar l = 0; l < 16; l++) begin : g_early
    assign factor_o[l] = half[l % 2][i_q[l][4:1]];
    assign rot_o[l] = i_q[l][10:5];
  end

  // Late: w^(-64 k2 j2), or w^(-32 k1 j2), j2 = 2 l + s.
  for (genvar l = 0; l < 16; l++) begin : g_late
    wire [4:0] j = {4'(l), late_i.count[0]};
    wire [10:0] i = BIG ? -(11'(late_i.count[5:1]) * 11'(j) << 1) : -(11'({late_i.count[5:1], late_i.round}) * 11'(j));
    always_ff @(posedge clk_i) begin late_factor_o[l] <= CONSTANTS[BIG ? {i[4:1], 1'b0} : i[4:0]]; late_rot_o[l] <= i[10:5]; end
  end
  wire unused = ^{early_i.count[11], late_i.count[11:6], late_i.pass, late_i.round, base};
endmodule
