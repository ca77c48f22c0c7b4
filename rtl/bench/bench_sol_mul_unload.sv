// sol_mul_unload with segments of two beats. Vectors of a product: 128 beats of pairs, 64 carries, the 128 beats of the
// whole product, and the 64 beats of its upper half without the ripple out of the lower one. Each product is returned
// whole, then its lower and its upper half. The consumer stalls at random. In the middle a reset cuts a product off; it
// is returned again.
module bench_sol_mul_unload #(parameter int COUNT = 384);
  import sol_mul_pkg::*;
  localparam int BEATS = 128, SEGMENTS = 64, WHOLE = BEATS + SEGMENTS, HIGH = WHOLE + BEATS, LINES = HIGH + BEATS / 2;
  logic clk, reset_n, start, busy, reading, step, valid, ready, last; part_e part; logic [6:0] count; logic [5:0] segment;
  logic [383:0] word, data, noise; logic [7:0][63:0] pairs; logic [40:0] carry;
  logic [383:0] vectors [0:COUNT-1];
  string path;
  int product, kind, beat, beats, want, slow, checked, errors, interrupted, idle;
  sol_mul_unload #(.LOG_SEGMENT(1)) u_dut (.clk_i(clk), .rst_ni(reset_n), .start_i(start), .part_i(part), .busy_o(busy), .count_o(count),
    .reading_o(reading), .pairs_i(pairs), .step_o(step), .segment_o(segment), .carry_i(carry), .out_valid_o(valid),
    .out_ready_i(ready), .out_data_o(data), .out_last_o(last));

  // The read path of the design: two registers that move with the reads, and one for the carry.
  for (genvar i = 0; i < 8; i++) begin : g_pair
    always_ff @(posedge clk) if (step) pairs[i] <= {noise[15:0], word[48*i +: 48]};
  end
  always_ff @(posedge clk) if (step) begin
    word <= reading ? vectors[product * LINES + 32'(count)] : noise;
    carry <= vectors[product * LINES + BEATS + 32'(segment)][40:0];
  end

  task automatic cycle;
    noise = {12{$urandom}};
    ready = $urandom % 256 >= slow;
    #1;
    if (valid && ready && reset_n) begin
      idle = 0; checked++;
      if (beat >= beats || data !== vectors[product * LINES + want + beat] || last !== (beat == beats - 1)) begin
        errors++;
        if (errors <= 5) $display("product %0d, part %0d, beat %0d:\n  output %h\n", product, kind, beat, data);
      end
      beat++;
    end
    #1 clk = 1'b1;
    #1 clk = 1'b0;
    start = 1'b0; idle++;
  endtask

  initial begin
    if (!$value$plusargs("vectors=%s", path)) $fatal(1, "the option +vectors=FILE is missing");
    $readmemh(path, vectors);
    clk = 1'b0; reset_n = 1'b0; start = 1'b0; ready = 1'b0; part = PART_ALL; product = 0; kind = 0; beat = 0; beats = 0; want = 0;
    slow = 0; checked = 0; errors = 0; interrupted = 0; idle = 0;
    cycle();
    reset_n = 1'b1;
    while (product < COUNT / LINES) begin
      part = kind == 0 ? PART_ALL : kind == 1 ? PART_LOW : PART_HIGH;
      want = kind == 2 ? HIGH : WHOLE;
      beats = kind == 0 ? BEATS : BEATS / 2;
      slow = product % 4 * 75; beat = 0; start = 1'b1; idle = 0;
      cycle();
      while ((busy || beat < beats) && idle < 1000 && !(interrupted == 0 && product == 2 && beat == 40)) cycle();
      if (beat == 40) begin
        interrupted = 1; reset_n = 1'b0;
        cycle();
        reset_n = 1'b1;
      end else begin
        if (beat < beats) $fatal(1, "FAILED: no beat in 1000 cycles of product %0d, part %0d", product, kind);
        // No beat may follow the last one.
        for (int i = 0; i < 5; i++) cycle();
        kind = (kind + 1) % 3;
        if (kind == 0) product++;
      end
    end
    if (errors != 0) $fatal(1, "FAILED: %0d of %0d outputs are wrong", errors, checked);
    $display("PASSED %0d", checked);
    $finish;
  end
endmodule
