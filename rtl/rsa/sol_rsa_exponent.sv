// The exponent, from its top window down: WORDS words of 64 bits, a window of LOG_WINDOW bits at each `next_i`.
//
// All bits move at each step, so neither an address nor a cycle count depends on the exponent. `load_i` shifts a word in at
// the top: the host writes the words from the lowest to the highest. LOG_WINDOW divides 64.
// Latency: `window_o` follows `load_i` and `next_i` by 1. Reset clears the exponent.
module sol_rsa_exponent #(parameter int WORDS = 128, parameter int LOG_WINDOW = 4) (
  input  logic clk_i, rst_ni,
  input  logic load_i, input logic [63:0] word_i,
  input  logic next_i,
  output logic [LOG_WINDOW-1:0] window_o);

  localparam int BITS = 64 * WORDS;
  if (64 % LOG_WINDOW != 0) begin : g_check $fatal(1, "sol_rsa_exponent: LOG_WINDOW = %0d does not divide 64", LOG_WINDOW); end
  logic [BITS-1:0] bits;
  assign window_o = bits[BITS-1 -: LOG_WINDOW];
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) bits <= '0;
    else if (load_i) bits <= {word_i, bits[BITS-1:64]};
    else if (next_i) bits <= bits << LOG_WINDOW;
endmodule
