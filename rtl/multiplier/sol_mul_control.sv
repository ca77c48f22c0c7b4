// Issues the passes of a product: two rounds of P1, P2, P3 with the product and the first inverse pass, and IP2; then IP3.
// The small instance has no P2 and no IP2. See docs/book/hardware.md for the schedule.
//
// Only P1 may pause, between two columns: while an operand is late, or while the product before has not left the words that
// P1 overwrites. All other passes run without a gap. IP3 waits until the product before has left.
module sol_mul_control import sol_pkg::*; import sol_mul_pkg::*; #(parameter bit BIG = 1'b1, parameter int LOG_BEATS = 12) (
  input  logic clk_i, rst_ni,
  input  logic start_i, input part_e part_i, output logic ready_o,     // the next product
  input  logic column_ready_i,                  // the digits of the next column of both operands are there
  output control_t now_o,                       // what is issued in this cycle
  output logic unload_o, output part_e unload_part_o,
  input  logic unload_busy_i, input logic [LOG_BEATS-1:0] unload_count_i);

  control_t now; logic [7:0] pause; part_e part; logic active;
  assign ready_o = !active;

  // Result words in Y0 (lower half of the product) and Z1 (upper half) that have been read.
  wire upper = unload_count_i[LOG_BEATS-1];
  wire [LOG_BEATS-2:0] row = unload_count_i[LOG_BEATS-2:0];
  wire passed = BIG & row > (LOG_BEATS-1)'(now.count);
  logic unload_due; logic [7:0] unload_wait; part_e unload_part;
  wire unloads = unload_busy_i | unload_due;
  wire clear = !unloads | (unload_busy_i & (now.round ? upper & passed : upper | passed));
  // A pass that reads the two arrays also waits until no beat of the unload is in their output registers.
  wire released = !unloads | (unload_busy_i & !now.round & upper & row > (LOG_BEATS-1)'(LAT_RAM + 2));

  wire [10:0] last = BIG ? (now.pass == IP2 ? 11'd1023 : 11'd2047) : 11'd63;
  wire holds = pause != '0 | (now.pass == P1 & !now.count[0] & !(column_ready_i & clear))
                           | (now.pass == (BIG ? P2 : P3) & now.count == '0 & !released)
                           | (now.pass == IP3 & now.count == '0 & unloads);
  wire issue = active & !holds;
  always_comb begin now_o = now; if (!issue) now_o.pass = IDLE; end

  // The unload starts when the words and the carries that it needs first have been written.
  assign unload_o = unload_due & unload_wait == '0;
  assign unload_part_o = unload_part;
  wire ends = issue & now.pass == IP3 & now.count == last;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      active <= 1'b0; now <= '0; pause <= '0; part <= PART_ALL; unload_due <= 1'b0; unload_wait <= '0; unload_part <= PART_ALL;
    end else begin
      if (pause != '0) pause <= pause - 8'd1;
      if (!active) begin
        if (start_i) begin active <= 1'b1; part <= part_i; now <= '{pass: P1, round: 1'b0, count: '0}; end
      end else if (issue) begin
        now.count <= now.count + 11'd1;
        if (now.count == last) begin
          now.count <= '0;
          pause <= 8'(wait_after(BIG, now.pass, now.round));
          unique case (now.pass)
            P1:      now.pass <= BIG ? P2 : P3;
            P2:      now.pass <= P3;
            P3:      begin now.pass <= BIG ? IP2 : now.round ? IP3 : P1; if (!BIG) now.round <= !now.round; end
            IP2:     begin now.pass <= now.round ? IP3 : P1; now.round <= !now.round; end
            default: begin active <= 1'b0; now.pass <= IDLE; end
          endcase
        end
      end
      if (ends) begin
        unload_due <= 1'b1; unload_part <= part;
        unload_wait <= BIG & part != PART_HIGH ? 8'd0 : 8'(AT_WRITE + 2);
      end else if (unload_due) begin
        if (unload_wait != '0) unload_wait <= unload_wait - 8'd1; else unload_due <= 1'b0;
      end
    end
endmodule
