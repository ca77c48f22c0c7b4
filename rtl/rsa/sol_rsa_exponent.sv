// The exponent of a modulus, from its top window down.
//
// Words are loaded from the lowest to the highest and read from the highest down, 16 windows of 4 bits each. Addresses and cycles
// follow the number of words, never a bit of the exponent. After `start_i` the first window is there 3 cycles later, and so is
// the next one after `next_i`.
module sol_rsa_exponent #(parameter int LOG_WORDS = 7) (
  input  logic clk_i, rst_ni,
  input  logic clear_i,                         // a new exponent comes
  input  logic load_i, input logic [63:0] word_i,
  output logic loaded_o,                        // there is a word at least
  input  logic start_i, next_i,
  output logic [3:0] window_o, output logic empty_o);   // all windows were taken

  logic [LOG_WORDS:0] count, left; logic [4:0] windows; logic [63:0] word, read; logic fetched;
  assign loaded_o = count != '0;
  assign window_o = word[63:60];
  assign empty_o = left == '0 & windows == '0 & !fetched;
  wire fetches = left != '0 & windows == '0 & !fetched;
  wire [LOG_WORDS:0] below = left - 1'b1;
  sol_bank #(.LOG_WORDS(LOG_WORDS), .W(64)) u_words (.clk_i, .re_i(fetches), .ra_i(below[LOG_WORDS-1:0]), .rd_o(read),
    .we_i(load_i), .wa_i(count[LOG_WORDS-1:0]), .wd_i(word_i));
  always_ff @(posedge clk_i) if (fetched) word <= read; else if (next_i) word <= word << 4;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin count <= '0; left <= '0; windows <= '0; fetched <= 1'b0; end
    else begin
      fetched <= fetches & !start_i;
      if (clear_i) count <= '0; else if (load_i) count <= count + 1'b1;
      if (start_i) begin left <= count; windows <= '0; end
      else begin
        if (fetches) left <= below;
        if (fetched) windows <= 5'd16; else if (next_i) windows <= windows - 5'd1;
      end
    end
endmodule
