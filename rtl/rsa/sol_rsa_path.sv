// The arithmetic of the exponentiator: units A and B, kernel S, 16 multipliers, and all memories of words and digits.
//
//   digits -> twist -+-> kernel A -> multipliers (twiddle factor, operand, N', N) -+-> columns of the arrays
//   rows of arrays --+                                                            +-> spectra
//                                                                                 +-> kernel S -> multipliers -> rows of the arrays
//   rows of the second operand -+-> kernel B -+-> multipliers of unit A
//   columns of the arrays ------+             +-> untwist -> carries -> digits
//
// `a_i` and `b_i` are the passes that are issued in this cycle. A pass of kernels of 16 points comes at least 2 cycles after one of
// kernels of 32 points on the same kernel. W is the width of a digit.
module sol_rsa_path import sol_pkg::*; import sol_rsa_pkg::*; #(
  parameter int W = 17,
  localparam int STORE2 = TO_CARRY + LAT_LOCAL + 2, localparam int STORE4 = STORE2 + 2    // output of sol_rsa_carry
) (
  input  logic clk_i, rst_ni, half_i,
  input  a_control_t a_i, input b_control_t b_i,
  input  logic one_re_i, one_we_i, one_power_i, one_thread_i, input logic [8:0] one_n_i,
  input  logic [W+1:0] one_data_i, output logic [W+1:0] one_data_o);

  // Controls beside the data. A stage need not use all fields.
  /* verilator lint_off UNUSEDSIGNAL */
  a_control_t [AT_MUL32:0] a_pipe; a_control_t [TO_WRITE+1:0] m_pipe;
  b_control_t [AT_TWIST32:0] b_pipe; b_control_t [STORE4:0] t_pipe;
  sol_pipe #(.KIND($bits(a_pass_e)), .WIDTH($bits(a_control_t)), .STAGES(AT_MUL32)) u_a_pipe (.clk_i, .rst_ni, .x_i(a_i), .y_o(a_pipe));
  sol_pipe #(.KIND($bits(b_pass_e)), .WIDTH($bits(b_control_t)), .STAGES(AT_TWIST32)) u_b_pipe (.clk_i, .rst_ni, .x_i(b_i), .y_o(b_pipe));
  // Kernels of 32 points take 2 cycles more than those of 16, so their passes reach the stages behind them 2 cycles later.
  // m_pipe[0] is one cycle before the input of the multipliers.
  wire long16 = is_first(a_pipe[AT_MUL16-1].pass) & !half_i;
  wire long32 = is_first(a_pipe[AT_MUL32-1].pass) & !half_i;
  wire a_control_t m_early = long32 ? a_pipe[AT_MUL32-1] : long16 ? a_control_t'('0) : a_pipe[AT_MUL16-1];
  sol_pipe #(.KIND($bits(a_pass_e)), .WIDTH($bits(a_control_t)), .STAGES(TO_WRITE + 1)) u_m_pipe (
    .clk_i, .rst_ni, .x_i(m_early), .y_o(m_pipe));
  sol_pipe #(.KIND($bits(b_pass_e)), .WIDTH($bits(b_control_t)), .STAGES(STORE4)) u_t_pipe (
    .clk_i, .rst_ni, .x_i(half_i ? b_pipe[AT_TWIST16] : b_pipe[AT_TWIST32]), .y_o(t_pipe));

  // Unit A.
  logic [7:0][W+1:0] digits, carried; logic [7:0][63:0] twisted, rows, others, spectrum, other_spectrum, factor, product;
  wire b_control_t store = half_i ? t_pipe[STORE2] : t_pipe[STORE4];
  sol_rsa_digits #(.W(W + 2)) u_digits (.clk_i, .half_i, .a_i(a_pipe[0]), .digits_o(digits), .b_i(store), .digits_i(carried),
    .one_re_i, .one_we_i, .one_power_i, .one_thread_i, .one_n_i, .one_data_i, .one_data_o);
  wire a_control_t twist = a_pipe[AT_DIGITS + 1];
  sol_rsa_twist #(.W(W + 2)) u_twist (.clk_i, .half_i, .negative_i(is_negative(twist.pass)), .step_i(step_at(half_i, twist.count)),
    .digits_i(digits), .x_o(twisted));
  wire a_control_t enter = a_pipe[AT_KERNEL];
  wire first = is_first(enter.pass);
  sol_rsa_kernel u_kernel_a (.clk_i, .valid_i(enter.pass != A_NONE), .step_i(first ? step_at(half_i, enter.count) : {1'b0, enter.count[0]}),
    .r32_i(first & !half_i), .inv_i(1'b0), .x_i(first ? twisted : rows), .y_o(spectrum));

  // Multipliers of unit A.
  logic [7:0][63:0] twiddle, subtrahend, turned, turn, inverse; logic [7:0][5:0] twiddle_rot, turn_rot;
  logic [7:0][63:0] stored;
  sol_rsa_twiddle u_twiddle (.clk_i, .half_i, .now_i(m_early), .w_o(twiddle), .rot_o(twiddle_rot));
  wire a_control_t now = m_pipe[1];
  always_comb for (int l = 0; l < 8; l++)
    unique case (now.pass)
      A_PC, A_PN: factor[l] = now.second ? other_spectrum[l] : spectrum[l];
      A_PT, A_PM: factor[l] = stored[l];
      A_KC, A_KN: factor[l] = 64'd1;
      default:    factor[l] = twiddle[l];
    endcase
  wire subtracts = m_pipe[TO_SUBTRACT+1].pass == A_PM;
  for (genvar l = 0; l < 8; l++) begin : g_multiplier
    sol_mulrot #(.SUBTRACT(1'b1)) u_mul (.clk_i, .a_i(spectrum[l]), .b_i(factor[l]), .rot_i(is_first(now.pass) ? twiddle_rot[l] : 6'd0),
      .c_i(subtracts ? subtrahend[l] : 64'd0), .r_o(product[l]));
    sol_mulrot u_turn (.clk_i, .a_i(inverse[l]), .b_i(turn[l]), .rot_i(turn_rot[l]), .c_i('0), .r_o(turned[l]));
  end
  sol_rsa_spectra u_spectra (.clk_i, .half_i, .read_i(m_early), .factor_o(stored), .write_i(m_pipe[TO_S+1]), .data_i(product));
  sol_rsa_inverse #(.SCALE(9)) u_kernel_s (.clk_i, .step_i(m_pipe[TO_S+1].count[0]), .x_i(product), .y_o(inverse));
  sol_rsa_twiddle #(.INVERSE(1'b1)) u_turn (.clk_i, .half_i, .now_i(m_pipe[TO_TURN]), .w_o(turn), .rot_o(turn_rot));

  // Unit B.
  sol_rsa_words u_words (.clk_i, .half_i, .a_i(a_pipe[AT_READ]), .b_i(b_pipe[0]), .a_o(rows), .b_o(others),
    .subtract_i(m_pipe[TO_SUBTRACT]), .subtrahend_o(subtrahend), .first_i(m_pipe[TO_S+1]), .first_data_i(product), .second_i(m_pipe[TO_WRITE+1]), .second_data_i(turned));
  wire b_control_t last = b_pipe[AT_LAST];
  wire is_last = last.pass != B_NONE;
  wire both = enter.second & enter.pass inside {A_PC, A_PN};
  sol_rsa_kernel u_kernel_b (.clk_i, .valid_i(is_last | both), .step_i(is_last ? last.step : {1'b0, enter.count[0]}),
    .r32_i(is_last & !half_i), .inv_i(is_last), .x_i(others), .y_o(other_spectrum));
  logic [7:0][63:0] coefficients;
  sol_rsa_untwist u_untwist (.clk_i, .half_i, .negative_i(t_pipe[0].pass == B_DN), .step_i(t_pipe[0].step), .x_i(other_spectrum),
    .x_o(coefficients));
  wire b_control_t carry = t_pipe[TO_CARRY];
  sol_rsa_carry #(.W(W)) u_carry (.clk_i, .half_i, .valid_i(carry.pass != B_NONE), .column_i(carry.column), .step_i(carry.step), .minus_i(carry.pass == B_DN),
    .halve_i(carry.pass == B_DN), .c_i(coefficients), .d_o(carried));
endmodule
