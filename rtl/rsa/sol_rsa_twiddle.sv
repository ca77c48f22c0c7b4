// Twiddle factors of 8 lanes: ROOT^(64 e), or ROOT^(-64 e) for the inverse, as one of 16 constants and a rotation count.
//
// Row k and column j have e = j (2 k + negative), twice that for halves. First steps have k = l + 8 s; the inverse has
// j = 2 l + s. Halves have even e, so the constants of odd e hold doubled factors: their inverse has one point less of scale.
// Latency: 1.
module sol_rsa_twiddle import sol_rsa_pkg::*; #(parameter bit INVERSE = 1'b0) (
  input  logic clk_i, half_i,
  input  a_control_t now_i,
  output logic [7:0][63:0] w_o,
  output logic [7:0][5:0]  rot_o);
  /* verilator no_inline_module */

  // Power i is in bits 64 i to 64 i + 63.
  localparam logic [24*64-1:0] POWERS = {power(23), power(22), power(21), power(20), power(19), power(18), power(17), power(16),
    power(15), power(14), power(13), power(12), power(11), power(10), power(9), power(8), power(7), power(6), power(5), power(4),
    power(3), power(2), power(1), power(0)};
  wire negative = is_negative(now_i.pass);
  wire [3:0] column = column_at(half_i, now_i.count);
  wire [1:0] step = step_at(half_i, now_i.count);
  wire [5:0] row = {row_at(half_i, now_i.count), negative};
  for (genvar l = 0; l < 8; l++) begin : g_lane
    // Below 1024: j (2 k + 1) is at most 15 63, and half of that for halves.
    wire [9:0] first = 10'(column) * 10'({3'(l), negative}) + {2'b0, column, 4'b0} * 10'(step);
    wire [9:0] inverse = 10'(row) * 10'({3'(l), now_i.count[0]});
    wire [9:0] e = (INVERSE ? -inverse : first) << half_i;
    wire [4:0] entry = INVERSE & half_i ? {2'b10, e[3:1]} : {1'b0, e[3:0]};
    always_ff @(posedge clk_i) begin w_o[l] <= POWERS[64*entry +: 64]; rot_o[l] <= e[9:4]; end
    wire unused = ^{first, inverse};
  end
  wire unused = ^{now_i.thread, now_i.second, now_i.one, now_i.index, column, step, row};
endmodule
