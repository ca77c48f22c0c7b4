// r = a b 2^(3 rot) - c mod p: a modular product, a rotation and a subtraction. Without SUBTRACT, c is not used.
//
// The rotation lets a table of 1024 twiddle factors serve the order 65,536, since ROOT^1024 = 8. The product is three products of
// 32 or 33 bits (Karatsuba), a rotation in the ring modulo 2^192 - 1, a fold and a normalization.
//
// The subtrahend c comes 5 cycles after the factors.
//
// Range: residues in and out. Latency: LAT_MULROT = 8. Throughput: one a cycle.
module sol_mulrot #(parameter bit SUBTRACT = 1'b0) (
  input  logic clk_i,
  input  logic [63:0] a_i, b_i,
  input  logic [5:0]  rot_i,
  input  logic [63:0] c_i,
  output logic [63:0] r_o);

  logic [63:0] a1, b1, ll2, hh2;
  logic [32:0] a_sum1, b_sum1;
  logic [65:0] mm2;
  logic [127:0] outer3, p4;
  logic [64:0] mid3;
  logic [191:0] z5;
  logic signed [67:0] s, s6;
  logic [5:0] rot1, rot2, rot3, rot4;
  wire [383:0] twice = {64'b0, p4, 64'b0, p4};
  wire [383:0] turned = twice << (8'(rot4) * 8'd3);
  always_ff @(posedge clk_i) begin
    a1 <= a_i; b1 <= b_i; rot1 <= rot_i;
    a_sum1 <= {1'b0, a_i[31:0]} + {1'b0, a_i[63:32]}; b_sum1 <= {1'b0, b_i[31:0]} + {1'b0, b_i[63:32]};
    ll2 <= a1[31:0] * b1[31:0]; mm2 <= a_sum1 * b_sum1; hh2 <= a1[63:32] * b1[63:32]; rot2 <= rot1;
    outer3 <= {hh2, ll2}; mid3 <= 65'(mm2 - {2'b0, ll2} - {2'b0, hh2}); rot3 <= rot2;
    p4 <= outer3 + {31'b0, mid3, 32'b0}; rot4 <= rot3;
    z5 <= turned[383:192];
    s6 <= SUBTRACT ? s - $signed({4'b0, c_i}) : s;
  end
  sol_fold192 u_fold (.z_i(z5), .s_o(s));
  sol_norm #(.W(68)) u_norm (.clk_i, .s_i(s6), .r_o);
  wire unused = ^{turned[191:0], SUBTRACT ? 64'b0 : c_i};
endmodule
