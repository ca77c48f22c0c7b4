// One bank of memory: 2^LOG_WORDS words, one read port and one write port. A read that meets a write returns the old word.
// The word that was read is kept while `re_i` is low. Latency: LAT_RAM = 1.
module sol_bank #(parameter int LOG_WORDS = 10, parameter int W = 64) (
  input  logic clk_i,
  input  logic re_i, input logic [LOG_WORDS-1:0] ra_i, output logic [W-1:0] rd_o,
  input  logic we_i, input logic [LOG_WORDS-1:0] wa_i, input logic [W-1:0] wd_i);
  /* verilator no_inline_module */
  if (LOG_WORDS < 1 || LOG_WORDS > 24) begin : g_check_words $fatal(1, "sol_bank: LOG_WORDS = %0d is not in 1..24", LOG_WORDS); end
  if (W < 1) begin : g_check_width $fatal(1, "sol_bank: W = %0d is below 1", W); end
  logic [W-1:0] words [1 << LOG_WORDS];
  always_ff @(posedge clk_i) begin
    if (re_i) rd_o <= words[ra_i];
    if (we_i) words[wa_i] <= wd_i;
  end
endmodule
