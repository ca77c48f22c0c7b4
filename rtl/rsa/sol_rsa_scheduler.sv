// Shares units A and B between two moduli and the loading of keys. The modulus that was not served last comes first.
module sol_rsa_scheduler import sol_rsa_pkg::*; (
  input  logic clk_i, rst_ni, half_i,
  input  a_control_t ask_a_i [3], output logic [2:0] grant_a_o,
  input  b_control_t ask_b_i [3], output logic [2:0] grant_b_o,
  output a_control_t a_o, output b_control_t b_o);

  logic [6:0] a_left, b_left; logic a_last, b_last;
  a_control_t a_next, a; b_control_t b_next, b;
  wire [1:0] steps = half_i ? 2'd1 : 2'd3;
  wire [5:0] a_end = half_i ? 6'd31 : 6'd63;
  // A product of two operands takes both kernels.
  function automatic logic both(a_pass_e pass, logic second); return second & pass inside {A_PC, A_PN}; endfunction

  // The third asks only while the others rest.
  always_comb begin
    grant_a_o = '0; a_next = '0;
    for (int k = 0; k < 3; k++) begin
      automatic logic [1:0] i = k == 2 ? 2'd2 : {1'b0, 1'(k) ^ !a_last};
      if (grant_a_o == '0 & a_left == '0 & ask_a_i[i].pass != A_NONE & (b_left == '0 | !both(ask_a_i[i].pass, ask_a_i[i].second))) begin
        grant_a_o[i] = 1'b1; a_next = ask_a_i[i];
      end
    end
    grant_b_o = '0; b_next = '0;
    for (int k = 0; k < 3; k++) begin
      automatic logic [1:0] i = k == 2 ? 2'd2 : {1'b0, 1'(k) ^ !b_last};
      if (grant_b_o == '0 & b_left == '0 & !both(a_next.pass, a_next.second) & ask_b_i[i].pass != B_NONE) begin
        grant_b_o[i] = 1'b1; b_next = ask_b_i[i];
      end
    end
  end

  assign a_o = a;
  assign b_o = b;
  wire b_ends = b.column == 4'd15 & b.step == steps & !b.fill;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin a_left <= '0; b_left <= '0; a_last <= 1'b1; b_last <= 1'b1; a <= '0; b <= '0; end
    else begin
      if (a_left != '0) a_left <= a_left - 7'd1;
      if (b_left != '0) b_left <= b_left - 7'd1;
      if (|grant_a_o) begin
        a <= a_next;
        // A kernel of 16 points leaves two idle cycles behind one of 32.
        a_left <= half_i ? 7'd31 : is_first(a_next.pass) ? 7'd65 : 7'd63;
        if (!grant_a_o[2]) a_last <= grant_a_o[1];
        // Kernel B takes its words AT_KERNEL - AT_LAST cycles later than in a pass of its own.
        if (both(a_next.pass, a_next.second)) b_left <= (half_i ? 7'd31 : 7'd63) + 7'(AT_KERNEL - AT_LAST);
      end else begin
        a.count <= a.count + 6'd1;
        if (a.count == a_end) a.pass <= A_NONE;
      end
      if (|grant_b_o) begin
        b <= b_next; b.column <= 4'(16 - FILL); b.step <= '0; b.fill <= 1'b1;
        b_left <= half_i ? 7'd39 : 7'd79;
        if (!grant_b_o[2]) b_last <= grant_b_o[1];
      end else begin
        b.step <= b.step == steps ? 2'd0 : b.step + 2'd1;
        if (b.step == steps) begin
          b.column <= b.column + 4'd1;
          if (b.column == 4'd15) b.fill <= 1'b0;
        end
        if (b_ends) b.pass <= B_NONE;
      end
    end
endmodule
