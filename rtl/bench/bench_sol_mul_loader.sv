// sol_mul_loader, with its memory sol_mul_turn. Vectors: for each operand 64 beats, then the 64 columns of half a round. Both rounds
// return the same columns. Grants, answers of the memory and the consumer stall at random; answers come in order, up to 15
// cycles after their requests. In the middle a reset cuts an operand off, and the operand is loaded again.
module bench_sol_mul_loader #(parameter int COUNT = 128);
  localparam int BEATS = 64, COLUMNS = 64, OPERANDS = COUNT / (BEATS + COLUMNS);
  logic clk, reset_n, start, busy, req, gnt, rvalid, ready, next, step;
  logic [5:0] addr; logic [383:0] rdata; logic [3:0] column; logic [15:0][23:0] out;
  sol_mul_loader #(.LOG_GROUPS(1)) u_dut (.clk_i(clk), .rst_ni(reset_n), .start_i(start), .busy_o(busy), .req_o(req), .gnt_i(gnt),
    .addr_o(addr), .rvalid_i(rvalid), .rdata_i(rdata), .ready_o(ready), .next_i(next), .column_i(column), .step_i(step),
    .column_o(out));

  logic [383:0] vectors [0:COUNT-1];
  string path;
  int checked, errors, operand, taken, first, last, late, slow, interrupted, idle;
  logic [5:0] queue [0:255]; int due [0:255];
  int cycle; logic active, check, load; logic [383:0] want;

  // Whether a stream flows in this cycle.
  function automatic logic flows(input int stalls);
    return $urandom % 256 >= stalls;
  endfunction

  initial begin
    if (!$value$plusargs("vectors=%s", path)) $fatal(1, "the option +vectors=FILE is missing");
    $readmemh(path, vectors);
    clk = 1'b0; reset_n = 1'b0; start = 1'b0; gnt = 1'b0; rvalid = 1'b0; rdata = '0; next = 1'b0; column = '0; step = 1'b0;
    checked = 0; errors = 0; operand = 0; taken = 0; first = 0; last = 0; interrupted = 0; cycle = 0; check = 1'b0; idle = 0;
    load = 1'b1;
    #1 clk = 1'b1; #1 clk = 1'b0; reset_n = 1'b1;
    while (operand < OPERANDS && idle < 5000) begin
      // The memory and the consumer lose this number of 256 cycles, so that each of them is the slower one at times.
      late = (operand / 2 % 3) * 110;
      slow = operand % 2 == 1 ? 245 : operand * 20;
      // A column is taken by two steps, and the group is released with its last one. Both rounds have 32 columns.
      active = ready && (step || flows(slow));
      next = active && step && column == 4'd15;
      start = load && !busy;
      if (start) load = 1'b0;
      gnt = flows(late);
      rvalid = first != last && due[first % 256] <= cycle && flows(late);
      rdata = rvalid ? vectors[operand * (BEATS + COLUMNS) + 32'(queue[first % 256])] : {12{$urandom}};
      #1;
      if (req && gnt) begin queue[last % 256] = addr; due[last % 256] = cycle + 1 + $urandom % 15; last++; end
      if (rvalid) first++;
      #1 clk = 1'b1;
      #1 clk = 1'b0;
      #1;
      cycle++;
      idle++;
      if (active) begin
        idle = 0;
        want = vectors[operand * (BEATS + COLUMNS) + BEATS + taken % COLUMNS];
        checked++;
        if (out !== want) begin
          errors++;
          if (errors <= 5) $display("operand %0d, column %0d:\n  output %h\n  vector %h", operand, taken, out, want);
        end
        taken++;
        if (step) column = column + 4'd1;
        step = !step;
        if (taken == 2 * COLUMNS) begin taken = 0; operand++; load = 1'b1; end
        // The reset: requests and answers in flight are lost.
        else if (taken == 37 && operand == 2 && interrupted == 0) begin
          interrupted = 1; reset_n = 1'b0; start = 1'b0; next = 1'b0; rvalid = 1'b0;
          #1 clk = 1'b1; #1 clk = 1'b0; reset_n = 1'b1;
          taken = 0; first = last; column = '0; step = 1'b0; load = 1'b1;
        end
      end
    end
    if (operand < OPERANDS) $fatal(1, "FAILED: no column in 5000 cycles of operand %0d", operand);
    if (errors != 0) $fatal(1, "FAILED: %0d of %0d outputs are wrong", errors, checked);
    $display("PASSED %0d", checked);
    $finish;
  end
endmodule
