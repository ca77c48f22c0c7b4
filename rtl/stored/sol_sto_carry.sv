// One of 16 carry lanes: c0 + c1 2^24 + carry -> 48 bits of the result and a carry, as sol_carry. A memory of four words holds
// the carries of the segments. The carry of segment s can be read after the last pair.
//
// With HOLD the coefficients come one after the other: c0 of four segments, then c1 of the same four. A memory of four words
// holds c0. Without HOLD they come together, with odd_i. Range: residues in. Latency from c1: LAT_HOLD = 4.
module sol_sto_carry #(parameter bit HOLD = 1'b1) (
  input  logic clk_i,
  input  logic even_i, odd_i, first_i,          // c0 or c1 comes; it is the first of its segment
  input  logic [1:0] segment_i,
  input  logic [63:0] c0_i, c1_i,
  output logic [47:0] d_o,
  input  logic re_i, input logic [1:0] ra_i, output logic [40:0] carry_o);   // while no pair is under way
  /* verilator no_inline_module */

  logic [63:0] c0, c1, n0, n1, a0, a1; logic [88:0] pair; logic [3:1] odd, first; logic [1:0] segment1, segment2, segment3, segment4;
  logic odd4; logic [40:0] carry, next;
  if (HOLD) begin : g_hold
    sol_bank #(.LOG_WORDS(2), .W(64)) u_even (.clk_i, .re_i(odd_i), .ra_i(segment_i), .rd_o(c0), .we_i(even_i), .wa_i(segment_i), .wd_i(c0_i));
  end else begin : g_together
    always_ff @(posedge clk_i) c0 <= c0_i;
    wire unused = even_i;
  end
  sol_canon u_canon0 (.x_i(c0), .r_o(n0));
  sol_canon u_canon1 (.x_i(c1), .r_o(n1));
  sol_bank #(.LOG_WORDS(2), .W(41)) u_carry (.clk_i, .re_i(odd[2] | re_i), .ra_i(odd[2] ? segment2 : ra_i), .rd_o(carry),
    .we_i(odd4), .wa_i(segment4), .wd_i(next));
  assign carry_o = carry;
  wire [88:0] sum = pair + {48'b0, first[3] ? 41'b0 : carry};
  always_ff @(posedge clk_i) begin
    c1 <= c1_i; segment1 <= segment_i; odd <= {odd[2:1], odd_i}; first <= {first[2:1], first_i};
    a0 <= n0; a1 <= n1; segment2 <= segment1;
    pair <= {25'b0, a0} + {1'b0, a1, 24'b0}; segment3 <= segment2;
    d_o <= sum[47:0]; next <= sum[88:48]; segment4 <= segment3; odd4 <= odd[3];
  end
endmodule
