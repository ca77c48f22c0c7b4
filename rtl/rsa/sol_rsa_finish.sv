// Reads the digits of a number in their order: carries them, adds the modulus to a number below 0, and returns 64-bit words.
//
// The running number lies in (-2N, N), so two additions suffice (docs/book/hardware.md). A scan takes 4 cycles a digit. Scan 0 carries,
// scans 1 and 2 add N or 0, scan 3 returns words. With `check_i` there is scan 0 alone, and `one_o` says whether the number is
// 1 modulo 2^n - 1: its carried digits and the carry out of them add up to 1.
module sol_rsa_finish #(parameter int W = 17) (
  input  logic clk_i, rst_ni,
  input  logic start_i, check_i, input logic [8:0] last_i,    // the last digit
  output logic busy_o, one_o,
  // the digit n of the number; the answer comes 2 cycles later
  output logic re_o, we_o, output logic [8:0] n_o, output logic [W+1:0] data_o, input logic [W+1:0] data_i,
  input  logic [W-1:0] modulus_i,                             // digit n of the modulus, at the same time
  output logic out_valid_o, input logic out_ready_i, output logic [63:0] out_data_o, output logic out_last_o);

  logic active, check; logic [1:0] scan, phase; logic [8:0] n; logic signed [3:0] carry; logic signed [1:0] sign;
  logic others, drained; logic [W-1:0] low_digit;
  logic [63+W:0] bits; logic [6:0] held;
  assign n_o = n;
  wire output_scan = scan == 2'd3;
  assign out_valid_o = active & held >= 7'd64;
  assign out_data_o = bits[63:0];
  assign out_last_o = drained;
  wire wait_out = out_valid_o;
  assign busy_o = active;
  assign re_o = active & phase == 2'd0 & !wait_out & !drained;
  wire adds = scan inside {2'd1, 2'd2} & sign[1];
  wire signed [W+3:0] x = (W+4)'($signed(data_i)) + (W+4)'(carry) + (adds ? $signed({4'b0, modulus_i}) : '0);
  wire takes = active & phase == 2'd2 & !drained;
  assign we_o = takes & !output_scan;
  assign data_o = {2'b0, x[W-1:0]};
  wire ends = n == last_i;
  wire signed [3:0] carried = x[W+3:W];
  assign one_o = !others & low_digit + W'(carry) == W'(1);
  always_ff @(posedge clk_i)
    if (takes & output_scan) bits <= bits | {64'b0, data_i[W-1:0]} << held[5:0];
    else if (out_valid_o & out_ready_i) bits <= bits >> 64;
    else if (start_i) bits <= '0;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      active <= 1'b0; check <= 1'b0; scan <= '0; phase <= '0; n <= '0; carry <= '0; sign <= '0; others <= 1'b0; low_digit <= '0; held <= '0; drained <= 1'b0;
    end else if (start_i) begin
      active <= 1'b1; check <= check_i; scan <= '0; phase <= '0; n <= '0; carry <= '0; sign <= '0; others <= 1'b0; held <= '0; drained <= 1'b0;
    end else if (active) begin
      if (out_valid_o & out_ready_i) begin
        held <= held - 7'd64;
        if (out_last_o) active <= 1'b0;
      end
      if (!(phase == 2'd0 & wait_out)) phase <= phase + 2'd1;
      if (takes) begin
        n <= ends ? '0 : n + 9'd1;
        if (output_scan) begin held <= held + 7'(W); drained <= ends; end
        else begin
          carry <= ends & !check ? '0 : carried;
          if (n == '0) low_digit <= x[W-1:0]; else others <= others | x[W-1:0] != '0;
          if (ends) begin
            sign <= scan == '0 ? carried[1:0] : sign + carried[1:0];
            scan <= scan + 2'd1;
            if (check) active <= 1'b0;
          end
        end
      end
    end
endmodule
