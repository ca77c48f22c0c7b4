// Cuts a stream of 64-bit words, lowest first, into digits of W bits, lowest first. One digit a cycle.
module sol_rsa_load #(parameter int W = 17) (
  input  logic clk_i, rst_ni,
  input  logic start_i, input logic [9:0] digits_i,     // how many digits come; their bits fill whole words
  output logic busy_o,
  input  logic valid_i, output logic ready_o, input logic [63:0] data_i,
  output logic digit_valid_o, output logic [8:0] digit_n_o, output logic [W-1:0] digit_o);

  logic [63+W:0] bits; logic [6:0] held; logic [9:0] left; logic [8:0] n;
  assign busy_o = left != '0;
  assign digit_valid_o = busy_o & held >= 7'(W);
  assign ready_o = busy_o & held < 7'(W);
  assign digit_o = bits[W-1:0];
  assign digit_n_o = n;
  wire [63+W:0] word = {{W{1'b0}}, data_i} << held[4:0];
  always_ff @(posedge clk_i) begin
    if (digit_valid_o) bits <= bits >> W;
    else if (ready_o & valid_i) bits <= bits | word;
    if (start_i) bits <= '0;
  end
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin held <= '0; left <= '0; n <= '0; end
    else if (start_i) begin held <= '0; left <= digits_i; n <= '0; end
    else if (digit_valid_o) begin held <= held - 7'(W); left <= left - 10'd1; n <= n + 9'd1; end
    else if (ready_o & valid_i) held <= held + 7'd64;
endmodule
