// Returns the product in natural beats: adds the carries between the segments to the stored pairs of digits.
//
// The result is 64 segments of pairs of 48 bits. Each beat takes 8 pairs. The carry out of a segment is added at the head of the
// next one; after that the carry from beat to beat is one bit. Latency: LAT_RAM + LAT_XNET + 1 from a read to the beat.
module sol_mul_unload import sol_pkg::*; import sol_mul_pkg::*; #(
  parameter int LOG_SEGMENT = 6                 // beats of a segment
) (
  input  logic clk_i, rst_ni,
  input  logic start_i, input part_e part_i,
  output logic busy_o,                          // a read is due, or its beat is still in the output registers of the memory
  output logic [LOG_SEGMENT+5:0] count_o,       // the beat that is read now
  output logic reading_o,                       // read beat count_o
  input  logic [7:0][63:0] pairs_i,             // the pairs of that beat, LAT_RAM + LAT_XNET cycles later
  output logic step_o,                          // reads go on; registers of the read path keep their values otherwise
  output logic [5:0] segment_o, input logic [40:0] carry_i,   // the carry out of a segment, one step later
  output logic out_valid_o, input logic out_ready_i, output logic [383:0] out_data_o, output logic out_last_o);

  localparam int DELAY = LAT_RAM + LAT_XNET;
  logic [LOG_SEGMENT+5:0] count; part_e part;
  // The state of the beats under way. The first place belongs to the last read.
  logic [DELAY:1] valid, head, first, last; logic [DELAY:1][5:0] segment;
  assign count_o = count;
  assign step_o = !out_valid_o | out_ready_i;
  assign busy_o = reading_o | (|valid[LAT_RAM:1]);
  wire final_beat = part == PART_LOW ? count == {1'b0, {(LOG_SEGMENT+5){1'b1}}} : &count;
  wire first_beat = part == PART_HIGH ? count == {1'b1, {(LOG_SEGMENT+5){1'b0}}} : count == '0;

  assign segment_o = segment[DELAY-1] - 6'd1;
  logic ripple; logic [383:0] packed_pairs;
  for (genvar i = 0; i < 8; i++) begin : g_pair assign packed_pairs[48*i +: 48] = pairs_i[i][47:0]; end
  // The first segment of the product has no segment before it.
  wire [384:0] sum = {1'b0, packed_pairs} + (head[DELAY] & segment[DELAY] != '0 ? 385'(carry_i) : 385'd0) + 385'(ripple & !first[DELAY]);
  always_ff @(posedge clk_i) if (step_o) begin out_data_o <= sum[383:0]; out_last_o <= last[DELAY]; end

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      reading_o <= 1'b0; count <= '0; part <= PART_ALL; out_valid_o <= 1'b0; ripple <= 1'b0;
      valid <= '0; head <= '0; first <= '0; last <= '0; segment <= '0;
    end else begin
      if (start_i) begin
        reading_o <= 1'b1; part <= part_i; count <= part_i == PART_HIGH ? {1'b1, {(LOG_SEGMENT+5){1'b0}}} : '0;
      end else if (step_o & reading_o) begin
        // The count of the last beat stays: its array is read by nobody else until the beat has left the memory.
        if (final_beat) reading_o <= 1'b0; else count <= count + 1'b1;
      end
      if (step_o) begin
        valid <= {valid[DELAY-1:1], reading_o}; head <= {head[DELAY-1:1], count[LOG_SEGMENT-1:0] == '0};
        first <= {first[DELAY-1:1], first_beat}; last <= {last[DELAY-1:1], final_beat};
        segment <= {segment[DELAY-1:1], count[LOG_SEGMENT+5:LOG_SEGMENT]};
        out_valid_o <= valid[DELAY];
        if (valid[DELAY]) ripple <= sum[384];
      end
    end
  wire unused = ^{pairs_i[0][63:48], pairs_i[1][63:48], pairs_i[2][63:48], pairs_i[3][63:48],
                  pairs_i[4][63:48], pairs_i[5][63:48], pairs_i[6][63:48], pairs_i[7][63:48]};
endmodule
