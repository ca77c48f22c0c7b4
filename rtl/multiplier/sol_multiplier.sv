// Product of two integers of 2^LOG_N / 2 digits of 24 bits: 786,432 bits for LOG_N = 16 (wang2014 chapter 5).
//
// Transforms of 2^LOG_N points over p = 2^64 - 2^32 + 1, 16 lanes, in two rounds: round 0 is the product modulo x^(N/2) - 1,
// round 1 modulo x^(N/2) + 1. A round uses the memory of the other one again; the operands are fetched twice. Digits have index
// n = 1024 m + j, j = 32 m2 + j2; frequencies k1 + 64 k2 + 2048 k3, k1 = 2 k + round. The small instance (LOG_N = 11) has
// no m2 and no k2: j = j2.
//
//   pass   sums over   then                             cycles a round
//   P1     m           times w^(k1 j)                   2048
//   P2     m2          times w^(64 k2 j2)               2048
//   P3     j2          product, inverse over k3, twiddle 2048
//   IP2    k2          times w^(-k1 j)                  1024
//   IP3    k1          carries, after both rounds       2048 in all
//
// Commands are taken while the product before is computed. The loads of a product run under the unload of the one before.
// `ld_id_o` names the command whose operands are fetched. For a square, only la fetches. Operands and the product are
// little-endian beats of 384 bits. A coefficient of the product is below 2^63, so every result is exact.
module sol_multiplier import sol_pkg::*; import sol_mul_pkg::*; #(
  parameter int LOG_N = 16,                    // 16, or 11 for tests
  parameter int ID_W = 1,
  parameter int DEPTH = 3,                      // groups of columns that a loader holds
  localparam int LOG_BEATS = LOG_N - 4          // beats of the product
) (
  input  logic clk_i, rst_ni,
  input  logic cmd_valid_i, output logic cmd_ready_o,
  input  op_e cmd_op_i, input part_e cmd_part_i, input logic [ID_W-1:0] cmd_id_i,
  output logic [ID_W-1:0] ld_id_o,
  output logic la_req_o, input logic la_gnt_i, output logic [LOG_BEATS-2:0] la_addr_o, input logic la_rvalid_i, input logic [383:0] la_rdata_i,
  output logic lb_req_o, input logic lb_gnt_i, output logic [LOG_BEATS-2:0] lb_addr_o, input logic lb_rvalid_i, input logic [383:0] lb_rdata_i,
  output logic out_valid_o, input logic out_ready_i, output logic [383:0] out_data_o, output logic out_last_o,
  output logic err_o);                          // a command was illegal; it was dropped

  if (LOG_N != 16 && LOG_N != 11) begin : g_check $fatal(1, "sol_multiplier: LOG_N = %0d is neither 16 nor 11", LOG_N); end
  if (ID_W < 1) begin : g_check_id $fatal(1, "sol_multiplier: ID_W = %0d is below 1", ID_W); end
  localparam bit BIG = LOG_N == 16;
  localparam int LOG_WORDS = BIG ? 10 : 5;
  localparam int LOG_GROUPS = LOG_N - 10;       // groups of 16 columns

  // Commands: the loaders start at once; the controller takes the command when the product before ends.
  logic waiting, wait_square, square, start, control_ready, load_a_busy, load_b_busy; part_e wait_part;
  wire legal = cmd_op_i inside {OP_MUL, OP_SQR} && cmd_part_i inside {PART_ALL, PART_LOW, PART_HIGH};
  assign cmd_ready_o = !waiting & !load_a_busy & !load_b_busy;
  wire accept = cmd_valid_i & cmd_ready_o & legal;
  assign start = waiting & control_ready;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      waiting <= 1'b0; wait_square <= 1'b0; wait_part <= PART_ALL; square <= 1'b0; ld_id_o <= '0; err_o <= 1'b0;
    end else begin
      err_o <= cmd_valid_i & cmd_ready_o & !legal;
      if (accept) begin waiting <= 1'b1; wait_square <= cmd_op_i == OP_SQR; wait_part <= cmd_part_i; ld_id_o <= cmd_id_i; end
      else if (start) waiting <= 1'b0;
      if (start) square <= wait_square;
    end

  // Passes.
  control_t now, pipe [STAGES + 1];
  logic a_ready, b_ready, unload_start, unload_busy, unload_reading, unload_step; part_e unload_part;
  logic [LOG_BEATS-1:0] unload_count;
  sol_mul_control #(.BIG(BIG), .LOG_BEATS(LOG_BEATS)) u_control (.clk_i, .rst_ni, .start_i(start), .part_i(wait_part),
    .ready_o(control_ready), .column_ready_i(a_ready & (square | b_ready)), .now_o(now), .unload_o(unload_start),
    .unload_part_o(unload_part), .unload_busy_i(unload_busy), .unload_count_i(unload_count));
  assign pipe[0] = now;
  for (genvar i = 1; i <= STAGES; i++) begin : g_pipe
    always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) pipe[i] <= '0; else pipe[i] <= pipe[i-1];
  end

  // Digits by columns.
  wire next_group = now.pass == P1 & (&now.count[4:0]);
  logic [15:0][23:0] digit1 [2], digit_b;
  sol_mul_loader #(.LOG_GROUPS(LOG_GROUPS), .DEPTH(DEPTH)) u_load_a (.clk_i, .rst_ni, .start_i(accept), .busy_o(load_a_busy),
    .req_o(la_req_o), .gnt_i(la_gnt_i), .addr_o(la_addr_o), .rvalid_i(la_rvalid_i), .rdata_i(la_rdata_i), .ready_o(a_ready),
    .next_i(next_group), .column_i(now.count[4:1]), .step_i(now.count[0]), .column_o(digit1[0]));
  sol_mul_loader #(.LOG_GROUPS(LOG_GROUPS), .DEPTH(DEPTH)) u_load_b (.clk_i, .rst_ni, .start_i(accept & cmd_op_i == OP_MUL),
    .busy_o(load_b_busy), .req_o(lb_req_o), .gnt_i(lb_gnt_i), .addr_o(lb_addr_o), .rvalid_i(lb_rvalid_i), .rdata_i(lb_rdata_i),
    .ready_o(b_ready), .next_i(next_group & !square), .column_i(now.count[4:1]), .step_i(now.count[0]), .column_o(digit_b));
  assign digit1[1] = square ? digit1[0] : digit_b;

  // Memory and its addresses.
  array_e read_array [2], read_array1 [2]; logic [3:0] read_sel, read_sel1, write_sel [2], unload_sel, unload_sel1;
  logic [15:0][9:0] read_addr, write_addr [2], unload_addr;
  logic [ARRAYS-1:0] write [2], write_q [2]; logic unload_upper1;
  sol_mul_addresses #(.BIG(BIG), .LOG_BEATS(LOG_BEATS)) u_addresses (.read_i(pipe[0]), .read_array_o(read_array), .read_sel_o(read_sel),
    .read_addr_o(read_addr), .write_i(pipe[AT_WRITE]), .result_i(pipe[AT_RESULT]), .middle_i(pipe[AT_WRITE_B]), .write_o(write),
    .write_sel_o(write_sel), .write_addr_o(write_addr), .unload_i(unload_count), .unload_sel_o(unload_sel), .unload_addr_o(unload_addr));

  logic [15:0][63:0] memory [ARRAYS]; logic [15:0][63:0] write_data [2];
  logic [15:0][LOG_WORDS-1:0] read_bank, unload_bank, write_bank [2];
  for (genvar b = 0; b < 16; b++) begin : g_bank
    assign read_bank[b] = read_addr[b][9 -: LOG_WORDS];
    assign unload_bank[b] = unload_addr[b][9 -: LOG_WORDS];
    for (genvar c = 0; c < 2; c++) begin : g_write
      always_ff @(posedge clk_i) write_bank[c][b] <= write_addr[c][b][9 -: LOG_WORDS];
    end
  end
  // The unload owns Y0 while it reads the lower half or has a beat of it, and Z1 for the upper half.
  wire unload_upper = unload_count[LOG_BEATS-1];
  logic [ARRAYS-1:0] unload_owns;
  always_comb begin
    unload_owns = '0;
    unload_owns[Y0] = unload_busy & (!unload_upper | unload_count[LOG_BEATS-2:0] <= (LOG_BEATS-1)'(LAT_RAM + 1));
    unload_owns[Z1] = unload_busy & unload_upper;
  end
  sol_mul_memory #(.LOG_WORDS(LOG_WORDS)) u_memory (.clk_i, .read_addr_i(read_bank), .unload_owns_i(unload_owns),
    .unload_step_i(unload_step), .unload_addr_i(unload_bank), .read_data_o(memory), .write_i(write_q), .write_addr_i(write_bank),
    .write_data_i(write_data));

  // Inputs of the kernels: words of memory, or digits. In round 1 digit m is rotated: times 8^m.
  logic [15:0][63:0] in [2], spectrum [2];
  always_ff @(posedge clk_i) begin read_array1 <= read_array; read_sel1 <= read_sel; end
  wire control_t at_kernel = pipe[AT_KERNEL];
  for (genvar c = 0; c < 2; c++) begin : g_input
    logic [15:0][63:0] crossed, words2, words3, rotated; logic [15:0][23:0] digit2, digit3;
    sol_xnet u_xnet (.sel_i(read_sel1), .x_i(memory[read_array1[c]]), .y_o(crossed));
    always_ff @(posedge clk_i) begin words2 <= crossed; words3 <= words2; digit2 <= digit1[c]; digit3 <= digit2; end
    for (genvar l = 0; l < 16; l++) begin : g_lane
      localparam int PLACE = (2 * l) % 16 + l / 8;       // passes other than P3 read lane l at rotated l
      logic [191:0] z; logic signed [67:0] s;
      sol_rotmux #(.S0(6 * l), .STEP(3)) u_rot (.x_i({40'b0, digit1[c][l]}), .k_i({1'b0, pipe[1].count[0]}), .z_o(z));
      sol_fold192 u_fold (.z_i(z), .s_o(s));
      sol_norm #(.W(68)) u_norm (.clk_i, .s_i(s), .r_o(rotated[l]));
      assign in[c][l] = at_kernel.pass == P1 ? (at_kernel.round ? rotated[l] : {40'b0, digit3[l]})
                      : at_kernel.pass == P3 ? words3[l] : words3[PLACE];
    end
    sol_kernel_d u_kernel (.clk_i, .valid_i(at_kernel.pass != IDLE),
      .step_i(at_kernel.pass == IP3 ? at_kernel.count[1:0] : {1'b0, at_kernel.count[0]}), .r64_i(at_kernel.pass == IP3),
      .inv_i(at_kernel.pass inside {IP2, IP3}), .x_i(in[c]), .y_o(spectrum[c]));
  end

  // Multipliers: A behind kernel D A, with a twiddle factor or with the other operand; B behind kernel D B or kernel S.
  logic [1:0][15:0][63:0] factor; logic [15:0][63:0] product [2], inverse; logic [1:0][15:0][5:0] rot;
  sol_mul_twiddles #(.BIG(BIG)) u_twiddles (.clk_i, .early_i(pipe[AT_MUL32 - LAT_ROM]), .late_i(pipe[AT_MUL_B - LAT_ROM]),
    .factor_o(factor), .rot_o(rot));
  wire middle = pipe[AT_MUL32].pass == P3;
  wire behind_s = pipe[AT_MUL_B].pass == P3;
  for (genvar l = 0; l < 16; l++) begin : g_multiplier
    sol_mulrot u_mul_a (.clk_i, .a_i(spectrum[0][l]), .b_i(middle ? spectrum[1][l] : factor[0][l]), .rot_i(middle ? 6'd0 : rot[0][l]),
      .c_i('0), .r_o(product[0][l]));
    sol_mulrot u_mul_b (.clk_i, .a_i(behind_s ? inverse[l] : spectrum[1][l]), .b_i(factor[1][l]), .rot_i(rot[1][l]), .c_i('0), .r_o(product[1][l]));
  end
  sol_kernel_s #(.SCALE(LOG_N)) u_kernel_s (.clk_i, .step_i(pipe[AT_WRITE].count[0]), .x_i(product[0]), .y_o(inverse));

  // Carries.
  logic [15:0][63:0] pair; logic [40:0] segment_carry [64], unload_carry; logic [5:0] unload_segment;
  wire control_t at_result = pipe[AT_RESULT];
  for (genvar l = 0; l < 16; l++) begin : g_carry
    logic [40:0] carry;
    sol_carry u_carry (.clk_i, .first_i(pipe[AT_CARRY].count[10:2] == '0), .c0_i(spectrum[0][l]), .c1_i(spectrum[1][l]),
      .d_o(pair[l][47:0]), .carry_o(carry));
    assign pair[l][63:48] = '0;
    always_ff @(posedge clk_i) if (at_result.pass == IP3) segment_carry[{at_result.count[1:0], 4'(l)}] <= carry;
  end

  // Write networks.
  for (genvar c = 0; c < 2; c++) begin : g_write
    logic [15:0][63:0] crossed;
    sol_xnet u_xnet (.sel_i(write_sel[c]), .x_i(c == 1 && at_result.pass == IP3 ? pair : product[c]), .y_o(crossed));
    always_ff @(posedge clk_i) write_data[c] <= crossed;
    always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) write_q[c] <= '0; else write_q[c] <= write[c];
  end

  // Unload.
  logic [7:0][63:0] unload_crossed, unload_pairs;
  sol_xnet #(.LANES(8)) u_unload_xnet (.sel_i(unload_sel1), .x_i(memory[unload_upper1 ? Z1 : Y0]), .y_o(unload_crossed));
  always_ff @(posedge clk_i) if (unload_step) begin
    unload_sel1 <= unload_sel; unload_upper1 <= unload_upper; unload_pairs <= unload_crossed;
    unload_carry <= segment_carry[unload_segment];
  end
  sol_mul_unload #(.LOG_SEGMENT(LOG_BEATS - 6)) u_unload (.clk_i, .rst_ni, .start_i(unload_start), .part_i(unload_part),
    .busy_o(unload_busy), .count_o(unload_count), .reading_o(unload_reading), .pairs_i(unload_pairs), .step_o(unload_step),
    .segment_o(unload_segment), .carry_i(unload_carry), .out_valid_o, .out_ready_i, .out_data_o, .out_last_o);
  wire unused = unload_reading ^ at_result.round;
endmodule
