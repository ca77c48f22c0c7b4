// Drives a leaf with vectors and compares its outputs.
//
// A line of the file of vectors is {head, inputs, outputs}, each field in whole hexadecimal digits. The low seven bits of the
// head are a gap: the number of cycles before the vector, with noise on the inputs. The inputs in QUIET are 0 then. The
// top bit of the head says that the outputs are not compared. The outputs are due `latency_i` rising edges after the inputs.
// With RESIDUES they are words of 64 bits that are compared modulo p.
//
// The options are +vectors=FILE and the parameter COUNT, the number of lines. A mismatch ends the simulation with an error.
module bench_driver #(
  parameter int COUNT = 1, parameter int IN = 64, parameter int OUT = 64, parameter bit RESIDUES = 1'b1,
  parameter logic [IN-1:0] QUIET = '0
) (
  output logic clk_o, output logic [IN-1:0] in_o,
  input  logic [5:0] latency_i,                 // of the present inputs
  input  logic [OUT-1:0] out_i);

  localparam logic [63:0] P = 64'hFFFF_FFFF_0000_0001;
  localparam int DEPTH = 64;                    // outputs that are due
  logic [8+IN+OUT-1:0] vectors [0:COUNT-1];
  logic [OUT-1:0] want [0:DEPTH-1];
  logic due [0:DEPTH-1];
  string path;
  int cycle, checked, errors, place, vector;
  logic [6:0] gap; logic [7:0] head; logic [OUT-1:0] outputs; logic [IN+31:0] noise;

  function automatic logic same(input logic [OUT-1:0] a, input logic [OUT-1:0] b);
    logic [63:0] x, y;
    if (!RESIDUES) return a === b;
    // Outputs that are not residues may have fewer than 64 bits, and never come here.
    /* verilator lint_off SELRANGE */
    same = 1'b1;
    for (int i = 0; i < OUT; i += 64) begin
      x = a[i +: 64]; y = b[i +: 64];
      if (x >= P) x = x - P;
      if (y >= P) y = y - P;
      if (x !== y) same = 1'b0;
    end
    /* verilator lint_on SELRANGE */
  endfunction

  // One cycle: compares, then a rising and a falling edge.
  task automatic step;
    #1;
    place = cycle % DEPTH;
    if (due[place] === 1'b1) begin
      checked++;
      if (!same(out_i, want[place])) begin
        errors++;
        if (errors <= 5) $display("mismatch in cycle %0d:\n  output %h\n  vector %h", cycle, out_i, want[place]);
      end
    end
    due[place] = 1'b0;
    #1 clk_o = 1'b1;
    #1 clk_o = 1'b0;
    cycle++;
  endtask

  task automatic idle(input int cycles);
    for (int i = 0; i < cycles; i++) begin
      for (int j = 0; j < IN; j += 32) noise[j +: 32] = $urandom;
      in_o = noise[IN-1:0] & ~QUIET;
      step();
    end
  endtask

  initial begin
    if (!$value$plusargs("vectors=%s", path)) $fatal(1, "the option +vectors=FILE is missing");
    $readmemh(path, vectors);
    clk_o = 1'b0; in_o = '0; cycle = 0; checked = 0; errors = 0;
    for (int i = 0; i < DEPTH; i++) due[i] = 1'b0;
    idle(3);
    for (vector = 0; vector < COUNT; vector++) begin
      head = vectors[vector][IN+OUT +: 8];
      gap = head[6:0];
      idle(32'(gap));
      in_o = vectors[vector][OUT +: IN];
      outputs = vectors[vector][OUT-1:0];
      #1;
      place = (cycle + 32'(latency_i)) % DEPTH;
      want[place] = outputs; due[place] = !head[7];
      step();
    end
    idle(DEPTH - 1);
    if (errors != 0 || checked == 0) $fatal(1, "FAILED: %0d of %0d outputs are wrong", errors, checked);
    $display("PASSED %0d", checked);
    $finish;
  end
endmodule
