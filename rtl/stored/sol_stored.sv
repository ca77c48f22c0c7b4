// Product of two integers of 2^LOG_N / 2 digits of 24 bits, one of which is transformed already (wang2014 section 5.5).
//
// This is sol_multiplier with one operand, four half arrays, and one or two kernels D. A second kernel halves the time of all
// passes but P3, and takes two digits where the first alone takes one, so a beat of the operand has 768 bits. MULTIPLY takes the transform of the other factor
// from a store, SQUARE takes its own; TRANSFORM gives the transform to the store and returns no product. The store has
// 2^LOG_N / 16 words of 16 points. It answers `tw_req_o` with `tw_data_i` after TW_LATENCY cycles, and takes a word at each `sp_valid_o`.
// A pass asks for two words at a time, and only while `tw_ready_i` or `sp_ready_i` is high. Words under way still come.
//
// Commands come one at a time. The operand and the product are little-endian beats. A coefficient of the product is
// below 2^63, so every result is exact.
module sol_stored import sol_pkg::*; import sol_sto_pkg::*; #(
  parameter int LOG_N = 16,                     // 16, or 11 for tests
  parameter int KERNELS = 1,                    // kernels D: 1 or 2
  parameter int DEPTH = 3,                      // groups of columns that the loader holds
  parameter int TW_LATENCY = 2,
  localparam int LOG_BEATS = LOG_N - 4          // beats of the product; words of the store
) (
  input  logic clk_i, rst_ni,
  input  logic cmd_valid_i, output logic cmd_ready_o, input op_e cmd_op_i,
  output logic err_o,                           // the command was illegal; it was dropped
  output logic done_o,                          // the product has left, or the transform; a pulse
  output logic resident_o,                      // the product is in memory and leaves now; a pulse
  output logic la_req_o, input logic la_gnt_i, output logic [LOG_BEATS-1-KERNELS:0] la_addr_o,
  input  logic la_rvalid_i, input logic [384*KERNELS-1:0] la_rdata_i,
  input  logic tw_ready_i, output logic tw_req_o, output logic [LOG_BEATS-1:0] tw_addr_o, input logic [15:0][63:0] tw_data_i,
  input  logic sp_ready_i, output logic sp_valid_o, output logic [LOG_BEATS-1:0] sp_addr_o, output logic [15:0][63:0] sp_data_o,
  output logic out_valid_o, input logic out_ready_i, output logic [383:0] out_data_o, output logic out_last_o);

  if (LOG_N != 16 && LOG_N != 11) begin : g_check_size $fatal(1, "sol_stored: LOG_N = %0d is neither 16 nor 11", LOG_N); end
  if (KERNELS != 1 && KERNELS != 2) begin : g_check_kernels $fatal(1, "sol_stored: KERNELS = %0d is neither 1 nor 2", KERNELS); end
  if (TW_LATENCY < 1 || TW_LATENCY >= AT_MUL) begin : g_check_latency
    $fatal(1, "sol_stored: TW_LATENCY = %0d is not in 1..%0d", TW_LATENCY, AT_MUL - 1);
  end
  localparam bit BIG = LOG_N == 16;
  localparam int LOG_WORDS = BIG ? 10 : 5;
  localparam int LOG_GROUPS = LOG_N - 9 - KERNELS;

  // Commands.
  logic load_busy, control_busy, unload_busy, unload_reading, ended, due; op_e op;
  wire legal = cmd_op_i == OP_MULTIPLY | cmd_op_i == OP_SQUARE | cmd_op_i == OP_TRANSFORM;
  wire busy = load_busy | control_busy | unload_busy | due | out_valid_o;
  assign cmd_ready_o = !busy;
  wire take = cmd_valid_i & cmd_ready_o & legal;
  logic running;
  assign ended = running & !busy;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin running <= 1'b0; err_o <= 1'b0; done_o <= 1'b0; end
    else begin
      err_o <= cmd_valid_i & cmd_ready_o & !legal;
      done_o <= ended;
      if (take) running <= 1'b1; else if (ended) running <= 1'b0;
    end

  // Passes.
  control_t now; control_t [STAGES:0] pipe; logic column_ready, store_ready;
  assign store_ready = op == OP_TRANSFORM ? sp_ready_i : tw_ready_i;
  sol_sto_control #(.BIG(BIG), .KERNELS(KERNELS)) u_control (.clk_i, .rst_ni, .start_i(take), .op_i(cmd_op_i), .busy_o(control_busy),
    .column_ready_i(column_ready), .store_ready_i(store_ready), .now_o(now), .op_o(op), .resident_o);
  sol_pipe #(.KIND($bits(pass_e)), .WIDTH($bits(control_t)), .STAGES(STAGES)) u_pipe (.clk_i, .rst_ni, .x_i(now), .y_o(pipe));

  // Digits by columns.
  logic [KERNELS-1:0][15:0][23:0] digit1, digit2, digit3;
  wire [3:0] column = KERNELS == 2 ? now.count[5:2] : now.count[4:1];
  wire next_group = now.pass == P1 & now.count[0] & (&column);
  sol_mul_loader #(.LOG_GROUPS(LOG_GROUPS), .DEPTH(DEPTH), .KERNELS(KERNELS)) u_load (.clk_i, .rst_ni, .start_i(take), .busy_o(load_busy),
    .req_o(la_req_o), .gnt_i(la_gnt_i), .addr_o(la_addr_o), .rvalid_i(la_rvalid_i), .rdata_i(la_rdata_i), .ready_o(column_ready),
    .next_i(next_group), .column_i(column), .step_i(now.count[0]), .column_o(digit1));

  // Memory.
  logic [1:0] read_array, read_array_q; logic [3:0] read_sel, read_sel_q, write, write_sel, unload_sel, unload_sel_q;
  logic [15:0][9:0] read_addr, write_addr; logic [9:0] unload_addr; logic unload_step, unload_upper_q;
  logic [LOG_BEATS-1:0] unload_count; logic [15:0][63:0] write_data [KERNELS], memory [4];
  sol_sto_addresses #(.BIG(BIG), .LOG_BEATS(LOG_BEATS), .KERNELS(KERNELS)) u_addresses (.read_i(pipe[AT_READ]), .read_array_o(read_array),
    .read_sel_o(read_sel), .read_addr_o(read_addr), .write_i(pipe[AT_WRITE]), .middle_i(pipe[AT_WRITE_S]), .result_i(pipe[AT_RESULT]),
    .write_o(write), .write_sel_o(write_sel), .write_addr_o(write_addr), .unload_i(unload_count),
    .unload_sel_o(unload_sel), .unload_addr_o(unload_addr));
  for (genvar a = 0; a < 4; a++) begin : g_array
    for (genvar b = 0; b < 16; b++) begin : g_bank
      wire [9:0] ra = unload_reading ? unload_addr : read_addr[b];
      sol_bank #(.LOG_WORDS(LOG_WORDS)) u_bank (.clk_i, .re_i(unload_busy ? unload_step : 1'b1), .ra_i(ra[9 -: LOG_WORDS]), .rd_o(memory[a][b]),
        .we_i(write[a]), .wa_i(write_addr[b][9 -: LOG_WORDS]), .wd_i(write_data[a % KERNELS][b]));
      wire unused = ^{ra, write_addr[b]};
    end
  end
  always_ff @(posedge clk_i) begin read_array_q <= read_array; read_sel_q <= read_sel; end

  // Kernels D. Their inputs are words of memory, or digits. In round 1 digit m is turned: times 8^m.
  wire control_t at_kernel = pipe[AT_KERNEL];
  logic [15:0][63:0] spectrum [KERNELS], twiddle [KERNELS]; logic [15:0][5:0] rot [KERNELS];
  always_ff @(posedge clk_i) begin digit2 <= digit1; digit3 <= digit2; end
  for (genvar k = 0; k < KERNELS; k++) begin : g_kernel
    logic [15:0][63:0] crossed, in;
    sol_xnet u_read (.sel_i(read_sel_q), .x_i(memory[read_array_q | 2'(k)]), .y_o(crossed));
    for (genvar l = 0; l < 16; l++) begin : g_lane
      localparam int PLACE = (2 * l) % 16 + l / 8;     // passes other than P3 read lane l at rotated l
      logic [191:0] z; logic signed [67:0] s; logic [63:0] turned;
      sol_rotmux #(.S0(6 * l), .STEP(3)) u_rot (.x_i({40'b0, digit1[k][l]}), .k_i({1'b0, pipe[1].count[0]}), .z_o(z));
      sol_fold192 u_fold (.z_i(z), .s_o(s));
      sol_norm #(.W(68)) u_norm (.clk_i, .s_i(s), .r_o(turned));
      wire [63:0] word = at_kernel.pass == P3 ? crossed[l] : crossed[PLACE];
      assign in[l] = at_kernel.pass != P1 ? word : at_kernel.round ? turned : {40'b0, digit3[k][l]};
    end
    sol_kernel_d u_kernel (.clk_i, .valid_i(at_kernel.pass != IDLE),
      .step_i(at_kernel.pass == IP3 ? at_kernel.count[1:0] : {1'b0, at_kernel.count[0]}), .r64_i(at_kernel.pass == IP3),
      .inv_i(at_kernel.pass inside {IP2, IP3}), .x_i(in), .y_o(spectrum[k]));
    control_t ahead;
    always_comb begin ahead = pipe[AT_MUL-1]; if (k == 1) ahead.count[1] = 1'b1; end
    sol_sto_twiddles #(.BIG(BIG)) u_twiddles (.clk_i, .control_i(ahead), .factor_o(twiddle[k]), .rot_o(rot[k]));
  end

  // Multipliers behind the first kernel D, with a twiddle factor or with the other factor; kernel S; the multipliers behind it,
  // which serve the second kernel D too.
  logic [15:0][63:0] product, inverse, constant, late_product; logic [15:0][5:0] constant_rot;
  sol_sto_constants #(.BIG(BIG)) u_constants (.clk_i, .control_i(pipe[AT_MUL_S-1]), .factor_o(constant), .rot_o(constant_rot));
  wire middle = pipe[AT_MUL].pass == P3;
  wire behind_s = KERNELS == 1 | pipe[AT_MUL_S].pass == P3;
  wire square = op == OP_SQUARE;
  for (genvar l = 0; l < 16; l++) begin : g_multiplier
    sol_mulrot u_mul (.clk_i, .a_i(spectrum[0][l]), .b_i(!middle ? twiddle[0][l] : square ? spectrum[0][l] : tw_data_i[l]),
      .rot_i(middle ? 6'd0 : rot[0][l]), .c_i('0), .r_o(product[l]));
    sol_mulrot u_late (.clk_i, .a_i(behind_s ? inverse[l] : spectrum[KERNELS-1][l]), .b_i(behind_s ? constant[l] : twiddle[KERNELS-1][l]),
      .rot_i(behind_s ? constant_rot[l] : rot[KERNELS-1][l]), .c_i('0), .r_o(late_product[l]));
  end
  sol_kernel_s #(.SCALE(LOG_N)) u_kernel_s (.clk_i, .step_i(pipe[AT_WRITE].count[0]), .x_i(product), .y_o(inverse));

  // The store: word {round, ka, k2, s}, of the small instance {round, ka, s}.
  wire control_t asks = pipe[AT_MUL - TW_LATENCY];
  assign tw_req_o = asks.pass == P3 & op == OP_MULTIPLY;
  assign tw_addr_o = {asks.round, asks.count[LOG_BEATS-2:0]};
  assign sp_valid_o = middle & op == OP_TRANSFORM;
  assign sp_addr_o = {pipe[AT_MUL].round, pipe[AT_MUL].count[LOG_BEATS-2:0]};
  assign sp_data_o = spectrum[0];

  // Carries and the write networks: the second one for the arrays of odd columns.
  logic [15:0][47:0] pair; logic [15:0][40:0] carry; logic [5:0] segment; logic [3:0] segment_q;
  wire control_t at_carry = pipe[AT_CARRY];
  wire at_pairs = at_carry.pass == IP3;
  wire odd = KERNELS == 2 | at_carry.count[2];
  wire has_pairs = pipe[AT_RESULT].pass == IP3 & (KERNELS == 2 | pipe[AT_RESULT].count[2]);
  logic [15:0][63:0] write_lanes [KERNELS];
  wire unused = ^{at_carry.round, asks.count, unload_count};
  for (genvar l = 0; l < 16; l++) begin : g_carry
    sol_sto_carry #(.HOLD(KERNELS == 1)) u_carry (.clk_i, .even_i(at_pairs & !odd), .odd_i(at_pairs & odd),
      .first_i(BIG ? at_carry.count[11:3] == '0 : at_carry.count[6:3] == '0), .segment_i(at_carry.count[1:0]), .c0_i(spectrum[0][l]),
      .c1_i(spectrum[KERNELS-1][l]), .d_o(pair[l]), .re_i(unload_busy & unload_step), .ra_i(segment[5:4]), .carry_o(carry[l]));
    assign write_lanes[0][l] = pipe[AT_WRITE_S].pass == P3 ? late_product[l] : has_pairs ? {16'b0, pair[l]} : product[l];
    if (KERNELS == 2) begin : g_odd assign write_lanes[1][l] = late_product[l]; end
  end
  for (genvar k = 0; k < KERNELS; k++) begin : g_write
    sol_xnet u_write (.sel_i(write_sel), .x_i(write_lanes[k]), .y_o(write_data[k]));
  end

  // Unload.
  logic [7:0][63:0] unload_crossed, unload_pairs;
  sol_xnet #(.LANES(8)) u_unload_xnet (.sel_i(unload_sel_q), .x_i(memory[unload_upper_q ? 2 : 0]), .y_o(unload_crossed));
  always_ff @(posedge clk_i) if (unload_step) begin
    unload_sel_q <= unload_sel; unload_upper_q <= unload_count[LOG_BEATS-1]; unload_pairs <= unload_crossed; segment_q <= segment[3:0];
  end
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) due <= 1'b0; else due <= resident_o;
  sol_mul_unload #(.LOG_SEGMENT(LOG_BEATS - 6)) u_unload (.clk_i, .rst_ni, .start_i(resident_o), .part_i(sol_mul_pkg::PART_ALL),
    .busy_o(unload_busy), .count_o(unload_count), .reading_o(unload_reading), .pairs_i(unload_pairs), .step_o(unload_step),
    .segment_o(segment), .carry_i(carry[segment_q]), .out_valid_o, .out_ready_i, .out_data_o, .out_last_o);
endmodule
