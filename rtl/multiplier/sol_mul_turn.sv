// Memory of a loader: DEPTH groups of 32 beats, one beat of each segment. A beat is written whole; the read takes digit
// column_i of 16 segments, those of parity step_i. Latency of the read: 1.
module sol_mul_turn #(parameter int DEPTH = 3, localparam int LD = $clog2(DEPTH)) (
  input  logic clk_i,
  input  logic we_i, input logic [LD-1:0] write_group_i, input logic [4:0] segment_i, input logic [383:0] beat_i,
  input  logic [LD-1:0] read_group_i, input logic [3:0] column_i, input logic step_i,
  output logic [15:0][23:0] column_o);
  logic [383:0] beats [DEPTH][32];
  always_ff @(posedge clk_i) if (we_i) beats[write_group_i][segment_i] <= beat_i;
  for (genvar l = 0; l < 16; l++) begin : g_lane
    wire [383:0] beat = beats[read_group_i][{4'(l), step_i}];
    always_ff @(posedge clk_i) column_o[l] <= beat[24*column_i +: 24];
  end
endmodule
