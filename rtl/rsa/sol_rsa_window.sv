// The powers of a fixed window: ENTRIES entries of DEPTH words.
//
// A read fetches the same word of all entries and selects one by a mask. No address depends on the index, which is secret.
// Latency of a read: LAT_RAM + 1.
module sol_rsa_window #(parameter int LOG_ENTRIES = 4, parameter int LOG_DEPTH = 6, parameter int W = 152) (
  input  logic clk_i,
  input  logic re_i, input logic [LOG_DEPTH-1:0] ra_i, input logic [LOG_ENTRIES-1:0] index_i, output logic [W-1:0] rd_o,
  input  logic we_i, input logic [LOG_ENTRIES-1:0] entry_i, input logic [LOG_DEPTH-1:0] wa_i, input logic [W-1:0] wd_i);

  localparam int ENTRIES = 1 << LOG_ENTRIES;
  logic [W-1:0] word [ENTRIES];
  logic [ENTRIES-1:0] mask;
  always_ff @(posedge clk_i) for (int i = 0; i < ENTRIES; i++) mask[i] <= index_i == LOG_ENTRIES'(i);
  for (genvar i = 0; i < ENTRIES; i++) begin : g_entry
    sol_bank #(.LOG_WORDS(LOG_DEPTH), .W(W)) u_bank (
      .clk_i, .re_i, .ra_i, .rd_o(word[i]), .we_i(we_i & (entry_i == LOG_ENTRIES'(i))), .wa_i, .wd_i);
  end
  logic [W-1:0] selected;
  always_comb begin
    selected = '0;
    for (int i = 0; i < ENTRIES; i++) selected |= word[i] & {W{mask[i]}};
  end
  always_ff @(posedge clk_i) rd_o <= selected;
endmodule
