// A control that travels beside the data: stage i holds the input of i cycles ago. Only its upper bits, the kind of a pass, are reset.
module sol_pipe #(parameter int KIND = 4, parameter int WIDTH = 17, parameter int STAGES = 1) (
  input  logic clk_i, rst_ni,
  input  logic [WIDTH-1:0] x_i,
  output logic [STAGES:0][WIDTH-1:0] y_o);

  localparam int REST = WIDTH - KIND;
  logic [STAGES:0][KIND-1:0] kind; logic [STAGES:0][REST-1:0] rest;
  assign {kind[0], rest[0]} = x_i;
  always_ff @(posedge clk_i) rest[STAGES:1] <= rest[STAGES-1:0];
  always_ff @(posedge clk_i or negedge rst_ni) if (!rst_ni) kind[STAGES:1] <= '0; else kind[STAGES:1] <= kind[STAGES-1:0];
  always_comb for (int i = 0; i <= STAGES; i++) y_o[i] = {kind[i], rest[i]};
endmodule
