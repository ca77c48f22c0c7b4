// Coefficients of a product to short signed digits: two local carry steps, then the division by 2 modulo 2^n + 1.
//
// A pass brings the last four columns, then all columns 0 to 15: the first four only fill the history, since the two steps look
// back four digits. A column takes STEPS cycles, 4 or for halves 2. The output is delayed by one column, and the sum needs no long carry. A residue above p/2
// stands for a negative coefficient.
//
// Division (`halve_i`): bit 0 of a digit moves to the top of the digit below. Bit 0 of digit 0 wraps with a minus. The top
// digit of each row needs column 0 of the row above, so its bits are kept.
//
// Range: canonical residues of coefficients below 2^47 in size for W = 17, of any for W = 25. Output: signed, W + 2 bits. Latency: 4 + STEPS. Throughput: 8 digits a cycle.
module sol_rsa_carry #(parameter int W = 17) (
  input  logic clk_i,
  input  logic half_i, valid_i,
  input  logic [3:0] column_i,
  input  logic [1:0] step_i,
  input  logic minus_i, halve_i,
  input  logic [7:0][63:0] c_i,
  output logic [7:0][W+1:0] d_o);
  /* verilator no_inline_module */

  if (W != 17 && W != 25) begin : g_check $fatal(1, "sol_rsa_carry: W = %0d is neither 17 nor 25", W); end
  localparam int WI = W == 17 ? 48 : 64;                          // bits of a coefficient, see docs/book/hardware.md
  localparam int W1 = WI + 2 - 2*W > W + 3 ? WI + 2 - 2*W : W + 3;        // after the first step
  localparam int W2 = W1 > 2*W ? W1 : 2*W + 1;                    // its sign extended to three digits
  // The controls beside the data: place i holds those of i + 1 cycles ago.
  logic [2:0] valid; logic [1:0] minus; logic [6:0][3:0] column; logic [6:0][1:0] step; logic [6:0] halve;
  always_ff @(posedge clk_i) begin
    valid <= {valid[1:0], valid_i}; minus <= {minus[0], minus_i};
    column <= {column[5:0], column_i}; step <= {step[5:0], step_i}; halve <= {halve[5:0], halve_i};
  end

  logic [7:0][WI-1:0] centred;
  logic [7:0][W1-1:0] once;
  logic [7:0][W2-1:0] wide;
  logic [7:0][W+1:0] twice;
  for (genvar l = 0; l < 8; l++) begin : g_centre
    always_ff @(posedge clk_i)
      centred[l] <= WI'(c_i[l] > 64'h7FFF_FFFF_8000_0000 ? c_i[l] + 64'h0000_0000_FFFF_FFFF : c_i[l]);    // - p
    assign wide[l] = W2'($signed(once[l]));
  end
  sol_rsa_local #(.W(W), .WI(WI), .WO(W1)) u_first (
    .clk_i, .half_i, .first_i(column[0] == 4'd0), .second_i(column[0] == 4'd1), .step0_i(step[0] == 2'd0),
    .minus_i(minus[0]), .c_i(centred), .d_o(once));
  sol_rsa_local #(.W(W), .WI(W2), .WO(W + 2)) u_second (
    .clk_i, .half_i, .first_i(column[1] == 4'd0), .second_i(column[1] == 4'd1), .step0_i(step[1] == 2'd0),
    .minus_i(minus[1]), .c_i(wide), .d_o(twice));

  // The digit that leaves lies one column below the present one. `low[s]` holds bit 0 of column 0.
  logic [7:0][W+1:0] held [4];
  logic [3:0][7:0] low; logic [7:0] lowest;
  for (genvar l = 0; l < 8; l++) begin : g_lowest assign lowest[l] = twice[l][0]; end
  wire [31:0] rows = low;
  wire [31:0] rows_above = {rows[0], rows[31:17], half_i ? rows[0] : rows[16], rows[15:1]};
  always_ff @(posedge clk_i) begin
    held[0] <= twice;
    for (int i = 1; i < 4; i++) held[i] <= held[i-1];
    if (valid[2] & column[2] == '0) low[step[2]] <= lowest;
  end
  wire [1:0] now_step = half_i ? step[4] : step[6];
  wire halves = half_i ? halve[4] : halve[6];
  wire [7:0][W+1:0] digits = half_i ? held[1] : held[3];
  wire top = (half_i ? column[4] : column[6]) == 4'd15;
  for (genvar l = 0; l < 8; l++) begin : g_halve
    wire above = top ? rows_above[8*32'(now_step) + l] : lowest[l];
    wire wraps = (l == 7) & top & (now_step == (half_i ? 2'd1 : 2'd3));
    wire signed [W+1:0] half = $signed(digits[l]) >>> 1;
    wire signed [W+1:0] unit = {3'b001, {(W-1){1'b0}}};
    always_ff @(posedge clk_i)
      d_o[l] <= !halves ? digits[l] : !above ? half : wraps ? half - unit : half + unit;
  end
endmodule
