// Memory, stores and a stream around a unit of the accelerator, which works on operations from a file of vectors.
//
// A line is {kind, address, data} of 8, 32 and 384 bits:
//   0  the beat at this address of memory       3  an operation with these settings; a reset ends it after `address` cycles
//   1  a word of the stores                     4  what memory must hold then at this address
//   2  a beat of the stream; address 1: last    5  what the result with this number must be then
// Grants, answers and the stream stall at random, in some operations more than in others. Answers come in order, up to 15 cycles
// after their requests. A request outside memory is an error.
module bench_memory #(parameter int COUNT = 1) (
  output logic clk_o, rst_no, start_o, output logic [383:0] settings_o, input logic busy_i,
  output logic store_we_o, output logic [31:0] store_addr_o, output logic [383:0] store_data_o,
  output logic [31:0] result_o, input logic [383:0] result_i,
  input  logic req_i, output logic gnt_o, input logic [31:0] addr_i,
  output logic rvalid_o, input logic rready_i, output logic [383:0] rdata_o,
  input  logic wreq_i, output logic wgnt_o, input logic [31:0] waddr_i, input logic [383:0] wdata_i,
  output logic valid_o, input logic ready_i, output logic [383:0] data_o, output logic last_o);

  localparam logic [31:0] BASE = 32'h0001_2000;
  localparam int WORDS = 1024;
  logic [423:0] vectors [0:COUNT-1];
  logic [383:0] memory [0:WORDS-1], answers [0:255], stream [0:63];
  int due [0:255];
  string path;
  int cycle, checked, errors, operation, late, slow, first, last, next, filled, vector, busy_for;
  logic answered, taken; logic [7:0] kind; logic [31:0] address; logic [383:0] data;

  // Whether a stream flows in this cycle.
  function automatic logic flows(input int stalls);
    return $urandom % 256 >= stalls;
  endfunction

  task automatic wrong(input logic [383:0] output_word);
    errors++;
    if (errors <= 5) $display("operation %0d, line %0d:\n  output %h\n  vector %h", operation, vector, output_word, data);
  endtask

  function automatic logic outside(input logic [31:0] place);
    return place < BASE || place >= BASE + WORDS;
  endfunction

  task automatic step;
    gnt_o = flows(late); wgnt_o = flows(slow);
    // An answer and a beat of the stream stay until they are taken.
    rvalid_o = first != last && due[first % 256] <= cycle && (rvalid_o || flows(late));
    rdata_o = rvalid_o ? answers[first % 256] : {12{$urandom}};
    valid_o = next != filled && (valid_o || flows(late));
    data_o = valid_o ? stream[next] : {12{$urandom}};
    last_o = valid_o && next == filled - 1;
    #1;
    if (req_i && gnt_o) begin
      if (outside(addr_i)) begin errors++; $display("operation %0d reads the address %h", operation, addr_i); end
      else begin answers[last % 256] = memory[addr_i - BASE]; due[last % 256] = cycle + 1 + $urandom % 15; last++; end
    end
    if (wreq_i && wgnt_o) begin
      if (outside(waddr_i)) begin errors++; $display("operation %0d writes the address %h", operation, waddr_i); end
      else memory[waddr_i - BASE] = wdata_i;
    end
    answered = rvalid_o && rready_i; taken = valid_o && ready_i;
    #1 clk_o = 1'b1;
    #1 clk_o = 1'b0;
    if (answered) begin first++; rvalid_o = 1'b0; end
    if (taken) begin next++; valid_o = 1'b0; end
    #1 cycle++;
  endtask

  // Works until the unit is idle, or until the reset.
  task automatic operate(input int cycles);
    late = operation % 3 * 90; slow = operation / 3 % 3 * 90;
    settings_o = data; start_o = 1'b1;
    step();
    start_o = 1'b0; settings_o = ~data; busy_for = 1;
    while (busy_i && (cycles == 0 || busy_for < cycles)) begin
      step();
      busy_for++;
      if (busy_for > 50000) $fatal(1, "FAILED: operation %0d does not end", operation);
    end
    if (cycles != 0) begin rst_no = 1'b0; first = last; rvalid_o = 1'b0; valid_o = 1'b0; next = filled; step(); rst_no = 1'b1; end
    for (int i = 0; i < 5; i++) step();
    if (next != filled && cycles == 0) begin errors++; $display("operation %0d leaves a part of the stream", operation); end
    next = 0; filled = 0; operation++;
  endtask

  initial begin
    if (!$value$plusargs("vectors=%s", path)) $fatal(1, "the option +vectors=FILE is missing");
    $readmemh(path, vectors);
    clk_o = 1'b0; rst_no = 1'b0; start_o = 1'b0; settings_o = '0; store_we_o = 1'b0; store_addr_o = '0; store_data_o = '0; result_o = '0;
    rvalid_o = 1'b0; valid_o = 1'b0; cycle = 0; checked = 0; errors = 0; operation = 0; late = 0; slow = 0; first = 0; last = 0; next = 0;
    filled = 0;
    step();
    rst_no = 1'b1;
    for (vector = 0; vector < COUNT; vector++) begin
      {kind, address, data} = vectors[vector];
      case (kind)
        8'd0: memory[address - BASE] = data;
        8'd1: begin store_we_o = 1'b1; store_addr_o = address; store_data_o = data; step(); store_we_o = 1'b0; end
        8'd2: begin stream[filled] = data; filled++; end
        8'd3: operate(32'(address));
        8'd4: begin checked++; if (memory[address - BASE] !== data) wrong(memory[address - BASE]); end
        8'd5: begin result_o = address; #1 checked++; if (result_i !== data) wrong(result_i); end
        default: $fatal(1, "line %0d has an unknown kind", vector);
      endcase
    end
    if (errors != 0 || checked == 0) $fatal(1, "FAILED: %0d of %0d outputs are wrong", errors, checked);
    $display("PASSED %0d", checked);
    $finish;
  end
endmodule
