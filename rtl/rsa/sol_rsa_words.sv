// The words between the steps of transforms: arrays AC and AN of the operand, BC and BN of the second operand.
//
// Unit A reads rows of AC and AN; unit B reads columns of AC and AN, and rows of BC and BN beside unit A. First steps write columns,
// and the multipliers behind kernel S write rows. AN also keeps the spectrum of a b, which is subtracted later.
// Latency of a read: LAT_RAM. A written word can be read in the next cycle.
module sol_rsa_words import sol_rsa_pkg::*; (
  input  logic clk_i, half_i,
  input  a_control_t a_i, input b_control_t b_i,
  output logic [7:0][63:0] a_o,                // columns 2 l + t of a row
  output logic [7:0][63:0] b_o,                // the same of the second operand, or rows (R/8) l + t of a column
  input  a_control_t subtract_i, output logic [7:0][63:0] subtrahend_o, // a b
  input  a_control_t first_i, input logic [7:0][63:0] first_data_i,     // rows l + 8 s of a column, or of a b
  input  a_control_t second_i, input logic [7:0][63:0] second_data_i);  // columns 2 l + s of a row
  /* verilator no_inline_module */

  // Reads.
  wire [4:0] row = row_at(half_i, a_i.count);
  wire both = a_i.second & a_i.pass inside {A_PC, A_PN};
  wire [2:0] b_column = b_i.column[3:1] ^ {1'b0, half_i ? {1'b0, b_i.step[0]} : b_i.step};
  logic [7:0][5:0] row_address, column_address;
  always_comb for (int b = 0; b < 8; b++) begin
    row_address[b] = word_address(half_i, a_i.thread, row, a_i.count[0]);
    column_address[b] = word_address(half_i, b_i.thread, row_of(half_i, 3'(b) ^ b_column, b_i.step), b_i.column[0]);
  end
  wire [4:0] subtract_row = row_at(half_i, subtract_i.count);
  wire a_arrays = a_i.pass inside {A_PN, A_KN};                // AN, not AC
  logic [2:0] a_sel, b_sel, subtract_sel; logic a_negative, b_negative, b_both;
  always_ff @(posedge clk_i) begin
    a_sel <= fold(row); a_negative <= a_arrays; subtract_sel <= fold(subtract_row);
    b_sel <= both ? fold(row) : b_column; b_negative <= is_negative(a_i.pass); b_both <= both;
  end

  // Writes.
  wire [3:0] first_column = column_at(half_i, first_i.count);
  wire [1:0] first_step = step_at(half_i, first_i.count);
  wire [4:0] first_row = row_at(half_i, first_i.count);
  wire keeps = first_i.pass == A_PN;
  wire [2:0] first_sel = keeps ? fold(first_row) : first_column[3:1] ^ {1'b0, first_step};
  wire [4:0] second_row = row_at(half_i, second_i.count);
  wire [3:0] first_we = {first_i.pass == A_GN, first_i.pass == A_GC, first_i.pass == A_FN | keeps, first_i.pass inside {A_FC, A_FM}};
  wire second_we = second_i.pass inside {A_PC, A_PT, A_PM};
  logic [7:0][5:0] first_wa, second_wa; logic [7:0][63:0] first_wd, second_wd;
  sol_rsa_xnet u_first (.sel_i(first_sel), .x_i(first_data_i), .y_o(first_wd));
  sol_rsa_xnet u_second (.sel_i(fold(second_row)), .x_i(second_data_i), .y_o(second_wd));
  always_comb for (int b = 0; b < 8; b++) begin
    first_wa[b] = keeps ? word_address(half_i, first_i.thread, first_row, first_i.count[0])
                        : word_address(half_i, first_i.thread, {first_step, 3'(b) ^ first_sel}, first_column[0]);
    second_wa[b] = word_address(half_i, second_i.thread, second_row, second_i.count[0]);
  end

  // AC: unit B takes all columns from it. AN: the other reader is the subtraction.
  logic [7:0][63:0] a_read [2], other_read [2], b_read [2];
  logic [7:0][5:0] subtract_address;
  always_comb for (int b = 0; b < 8; b++) subtract_address[b] = word_address(half_i, subtract_i.thread, subtract_row, subtract_i.count[0]);
  for (genvar i = 0; i < 2; i++) begin : g_array
    sol_rsa_array u_operand (.clk_i, .a_re_i(is_second(a_i.pass) & a_arrays == 1'(i)), .a_ra_i(row_address), .a_rd_o(a_read[i]),
      .b_re_i(i == 0 ? b_i.pass != B_NONE : subtract_i.pass == A_PM), .b_ra_i(i == 0 ? column_address : subtract_address),
      .b_rd_o(other_read[i]), .f_we_i(first_we[i]), .f_wa_i(first_wa), .f_wd_i(first_wd),
      .s_we_i(i == 0 & second_we), .s_wa_i(second_wa), .s_wd_i(second_wd));
    // The second operand is written by first steps alone and read beside unit A alone.
    for (genvar b = 0; b < 8; b++) begin : g_bank
      sol_bank #(.LOG_WORDS(6), .W(64)) u_bank (.clk_i, .re_i(both & is_negative(a_i.pass) == 1'(i)), .ra_i(row_address[b]),
        .rd_o(b_read[i][b]), .we_i(first_we[2+i]), .wa_i(first_wa[b]), .wd_i(first_wd[b]));
    end
  end

  logic [7:0][63:0] b_crossed;
  sol_rsa_xnet u_a (.sel_i(a_sel), .x_i(a_read[a_negative]), .y_o(a_o));
  sol_rsa_xnet u_b (.sel_i(b_sel), .x_i(b_both ? b_read[b_negative] : other_read[0]), .y_o(b_crossed));
  sol_rsa_xnet u_subtract (.sel_i(subtract_sel), .x_i(other_read[1]), .y_o(subtrahend_o));
  always_comb for (int l = 0; l < 8; l++) b_o[l] = b_both ? b_crossed[l] : b_crossed[order(half_i, 3'(l))];
  wire unused = ^{a_i.one, a_i.index, b_i.fill, b_i.keep, b_i.index, first_i.second, first_i.one, first_i.index,
                  second_i.second, second_i.one, second_i.index, subtract_i.second, subtract_i.one, subtract_i.index};
endmodule
