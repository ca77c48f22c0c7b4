// Signed digits: the running number of each modulus, and the powers of the window. 8 banks of one digit.
//
// First steps read rows (R/8) l + t of a column in AT_DIGITS cycles. The last inverse step writes rows l + 8 s. A single digit can
// be read or written at a time for transfers; its data follows after AT_DIGITS cycles.
module sol_rsa_digits import sol_rsa_pkg::*; #(parameter int W = 19) (
  input  logic clk_i, half_i,
  input  a_control_t a_i, output logic [7:0][W-1:0] digits_o,
  input  b_control_t b_i, input logic [7:0][W-1:0] digits_i,
  // one digit: row and column, of the running number or of power 0
  input  logic one_re_i, one_we_i, one_power_i, one_thread_i, input logic [8:0] one_n_i,
  input  logic [W-1:0] one_data_i, output logic [W-1:0] one_data_o);
  /* verilator no_inline_module */

  wire [1:0] step = step_at(half_i, a_i.count);
  wire [3:0] column = column_at(half_i, a_i.count);
  wire reads = is_first(a_i.pass);
  wire [4:0] one_row = one_n_i[8:4];
  wire [5:0] one_address = digit_address(half_i, one_thread_i, one_row, one_n_i[3:0]);
  // The last inverse step: row l + 8 s is in bank l ^ s.
  wire writes = b_i.pass != B_NONE & !b_i.fill;
  wire [5:0] write_address = digit_address(half_i, b_i.thread, {b_i.step, 3'd0}, b_i.column);
  logic [7:0][W-1:0] crossed, number, powers, chosen, straight;
  sol_rsa_xnet #(.W(W)) u_write (.sel_i({1'b0, b_i.step}), .x_i(digits_i), .y_o(crossed));

  for (genvar b = 0; b < 8; b++) begin : g_bank
    wire [2:0] x = 3'(b) ^ {1'b0, step};
    wire [5:0] ra = one_re_i ? one_address : digit_address(half_i, a_i.thread, row_of(half_i, x, step), column);
    wire one_here = one_we_i & fold(one_row) == 3'(b);
    wire [5:0] wa = one_we_i ? one_address : write_address;
    wire [W-1:0] wd = one_we_i ? one_data_i : crossed[b];
    logic [W-1:0] word;
    sol_bank #(.LOG_WORDS(6), .W(W)) u_number (.clk_i, .re_i(reads | one_re_i), .ra_i(ra), .rd_o(word),
      .we_i(writes | (one_here & !one_power_i)), .wa_i(wa), .wd_i(wd));
    always_ff @(posedge clk_i) number[b] <= word;
    sol_rsa_window #(.LOG_DEPTH(6), .W(W)) u_powers (.clk_i, .re_i(reads), .ra_i(ra), .index_i(a_i.index), .rd_o(powers[b]),
      .we_i((writes & b_i.keep) | (one_here & one_power_i)), .entry_i(one_we_i ? 4'd0 : b_i.index), .wa_i(wa), .wd_i(wd));
  end

  // Which digits were read, AT_DIGITS cycles ago.
  typedef struct packed { logic second, one, first_digit; logic [1:0] step; logic [2:0] bank; } tag_t;
  tag_t tag [AT_DIGITS];
  always_ff @(posedge clk_i) begin
    tag[0] <= '{second: a_i.pass inside {A_GC, A_GN}, one: a_i.one, first_digit: column == '0 & step == '0, step: step,
                bank: fold(one_row)};
    for (int i = 1; i < AT_DIGITS; i++) tag[i] <= tag[i-1];
  end
  wire tag_t now = tag[AT_DIGITS-1];
  assign chosen = now.second ? powers : number;
  assign one_data_o = number[now.bank];
  sol_rsa_xnet #(.W(W)) u_read (.sel_i({1'b0, now.step}), .x_i(chosen), .y_o(straight));
  always_comb for (int l = 0; l < 8; l++)
    digits_o[l] = now.one ? W'(l == 0 & now.first_digit) : straight[order(half_i, 3'(l))];
  wire unused = ^{a_i.second};
endmodule
