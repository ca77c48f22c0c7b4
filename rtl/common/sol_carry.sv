// One of 16 carry lanes: c0 + c1 2^24 + carry -> 48 bits of the result and a carry (in place of wang2014 eq. 5.7).
//
// The digits of a product form 64 segments. A lane works on four segments in turn, so the carry of a segment comes back four
// cycles later. `first_i` marks the first pair of digits of a segment: its carry is 0. A carry is below 2^41, which
// rtl/tools/prove.py shows for all inputs.
//
// Range: residues in. Latency: LAT_CARRY = 3. Throughput: one pair a cycle.
module sol_carry (
  input  logic clk_i, first_i,
  input  logic [63:0] c0_i, c1_i,
  output logic [47:0] d_o, output logic [40:0] carry_o);

  logic [63:0] n0, n1, a0, a1; logic [88:0] pair; logic first1, first2; logic [40:0] back2, back3, back4;
  sol_canon u_canon0 (.x_i(c0_i), .r_o(n0));
  sol_canon u_canon1 (.x_i(c1_i), .r_o(n1));
  wire [88:0] sum = pair + {48'b0, first2 ? 41'b0 : back4};
  always_ff @(posedge clk_i) begin
    a0 <= n0; a1 <= n1; first1 <= first_i;
    pair <= {25'b0, a0} + {1'b0, a1, 24'b0}; first2 <= first1;
    d_o <= sum[47:0]; carry_o <= sum[88:48];
    back2 <= carry_o; back3 <= back2; back4 <= back3;
  end
endmodule
