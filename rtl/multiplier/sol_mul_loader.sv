// Fetches an operand in natural beats and hands out its digits by columns (the corner turn).
//
// The operand is 32 segments of 2^LOG_GROUPS groups of 16 KERNELS digits of 24 bits. A beat holds a group of a segment, so
// 32 beats, one of each segment, hold 16 KERNELS columns. Buffers for DEPTH such groups let requests run ahead. The operand
// is fetched twice, once for each round of the product.
//
// One cycle after step s of column_i, `column_o[k]` holds digit KERNELS column_i + k of the segments 2 l + s in lane l. The
// columns of a group are there while `ready_o` is high. `next_i` releases a group with its last column. Memory returns beats
// in order after any time; a request is only made when its place is free, so every beat is taken at once.
module sol_mul_loader #(parameter int LOG_GROUPS = 6, parameter int DEPTH = 3, parameter int KERNELS = 1) (
  input  logic clk_i, rst_ni,
  input  logic start_i,                         // a new operand; only while busy_o is low
  output logic busy_o,                          // requests are due
  output logic req_o, input logic gnt_i, output logic [LOG_GROUPS+4:0] addr_o,
  input  logic rvalid_i, input logic [384*KERNELS-1:0] rdata_i,
  output logic ready_o,                         // the columns of the present group are there
  input  logic next_i,
  input  logic [3:0] column_i, input logic step_i,
  output logic [KERNELS-1:0][15:0][23:0] column_o);

  if (DEPTH < 2 || DEPTH > 16) begin : g_check $fatal(1, "sol_mul_loader: DEPTH = %0d is not in 2..16", DEPTH); end
  localparam int LD = $clog2(DEPTH);
  function automatic logic [LD-1:0] after(logic [LD-1:0] buffer);
    return buffer == LD'(DEPTH - 1) ? '0 : buffer + 1'b1;
  endfunction

  // Requests: both rounds, group by group, segment by segment.
  localparam int LG = LOG_GROUPS == 0 ? 1 : LOG_GROUPS;
  logic round; logic [LG-1:0] group; logic [4:0] segment;
  wire last_group = group == LG'((1 << LOG_GROUPS) - 1);
  logic [$clog2(DEPTH+1)-1:0] claimed, filled;  // groups whose requests have begun; groups that are there
  logic [4:0] arriving; logic [LD-1:0] fill, use_q;
  wire first = segment == '0;
  assign req_o = busy_o & (!first | claimed != ($clog2(DEPTH+1))'(DEPTH));
  assign addr_o = (LOG_GROUPS+5)'({segment, group} >> (LG - LOG_GROUPS));
  wire asked = req_o & gnt_i;
  wire arrived = rvalid_i & (&arriving);
  assign ready_o = filled != '0;

  for (genvar k = 0; k < KERNELS; k++) begin : g_turn
    logic [383:0] beat;
    for (genvar i = 0; i < 16; i++) begin : g_digit assign beat[24*i +: 24] = rdata_i[24*(KERNELS*i + k) +: 24]; end
    sol_mul_turn #(.DEPTH(DEPTH)) u_turn (.clk_i, .we_i(rvalid_i), .write_group_i(fill), .segment_i(arriving), .beat_i(beat),
      .read_group_i(use_q), .column_i, .step_i, .column_o(column_o[k]));
  end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy_o <= 1'b0; round <= 1'b0; group <= '0; segment <= '0; claimed <= '0; filled <= '0; arriving <= '0; fill <= '0; use_q <= '0;
    end else begin
      if (start_i) begin busy_o <= 1'b1; round <= 1'b0; group <= '0; segment <= '0; end
      else if (asked) begin
        segment <= segment + 5'd1;
        if (&segment) begin
          group <= last_group ? '0 : group + 1'b1;
          if (last_group) begin round <= 1'b1; if (round) busy_o <= 1'b0; end
        end
      end
      claimed <= claimed + ($clog2(DEPTH+1))'(asked & first) - ($clog2(DEPTH+1))'(next_i);
      filled <= filled + ($clog2(DEPTH+1))'(arrived) - ($clog2(DEPTH+1))'(next_i);
      if (rvalid_i) begin arriving <= arriving + 5'd1; if (arrived) fill <= after(fill); end
      if (next_i) use_q <= after(use_q);
    end
endmodule
