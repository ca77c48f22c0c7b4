// Issues the passes of a command: two rounds of P1, P2, P3 and IP2, then IP3. A transform ends with P3 of both rounds.
// The small instance has no P2 and no IP2.
//
// P1 pauses between two columns while the operand is late, P3 between two groups while the store of transforms is not ready.
module sol_sto_control import sol_sto_pkg::*; #(parameter bit BIG = 1'b1, parameter int KERNELS = 1) (
  input  logic clk_i, rst_ni,
  input  logic start_i, input op_e op_i, output logic busy_o,
  input  logic column_ready_i,                  // the digits of the next column are there
  input  logic store_ready_i,                   // the store takes or gives the words of a group
  output control_t now_o,                       // what is issued in this cycle
  output op_e op_o,
  output logic resident_o);                     // the product is in memory; a pulse

  control_t now; logic [7:0] pause, tail; op_e op; logic active, ending;
  assign busy_o = active | ending;
  assign op_o = op;
  // With two kernels this bit of the counter stays 0.
  wire [11:0] skip = KERNELS == 1 | now.pass == P3 ? 12'd0 : now.pass == IP3 ? 12'd4 : 12'd2;
  wire [11:0] last = ~skip & (BIG ? (now.pass == IP3 ? 12'd4095 : 12'd2047) : (now.pass == IP3 ? 12'd127 : 12'd63));
  wire holds = pause != '0 | (now.pass == P1 & !now.count[0] & !column_ready_i) | (now.pass == P3 & !now.count[0] & !store_ready_i & op != OP_SQUARE);
  wire issue = active & !holds;
  always_comb begin now_o = now; if (!issue) now_o.pass = IDLE; end
  wire transform = op == OP_TRANSFORM;
  assign resident_o = ending & tail == '0 & !transform;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin active <= 1'b0; ending <= 1'b0; now <= '0; pause <= '0; tail <= '0; op <= OP_MULTIPLY; end
    else begin
      if (pause != '0) pause <= pause - 8'd1;
      if (ending) begin if (tail == '0) ending <= 1'b0; else tail <= tail - 8'd1; end
      if (!busy_o) begin
        if (start_i) begin active <= 1'b1; op <= op_i; now <= '{pass: P1, round: 1'b0, count: '0}; end
      end else if (issue) begin
        now.count <= ((now.count | skip) + 12'd1) & ~skip;
        if (now.count == last) begin
          now.count <= '0;
          pause <= 8'(wait_after(BIG, KERNELS, now.pass, now.round));
          unique case (now.pass)
            P1:      now.pass <= BIG ? P2 : P3;
            P2:      now.pass <= P3;
            P3:      if (BIG & !transform) now.pass <= IP2;
                     else begin
                       now.pass <= now.round ? IP3 : P1; now.round <= !now.round;
                       if (now.round & transform) begin now.pass <= IDLE; active <= 1'b0; ending <= 1'b1; tail <= 8'(AT_MUL + 1); end
                     end
            IP2:     begin now.pass <= now.round ? IP3 : P1; now.round <= !now.round; end
            default: begin now.pass <= IDLE; active <= 1'b0; ending <= 1'b1; tail <= 8'(AT_RESULT + 1); end
          endcase
        end
      end
    end
endmodule
