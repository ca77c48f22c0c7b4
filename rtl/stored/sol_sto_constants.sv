// Twiddle factors of the 16 multipliers behind kernel S: w^(-64 k2 j2), or w^(-32 k1 j2) in the small instance, j2 = 2 l + s.
// They are 32 constants and a rotation. Latency: 1.
module sol_sto_constants import sol_pkg::*; import sol_sto_pkg::*; #(parameter bit BIG = 1'b1) (
  input  logic clk_i,
  input  control_t control_i,                   // one cycle before the multipliers
  output logic [15:0][63:0] factor_o, output logic [15:0][5:0] rot_o);

  // Constant i is in bits 64 i to 64 i + 63.
  function automatic logic [32*64-1:0] row0();
    logic [63:0] power, step;
    step = ROOT;
    for (int k = 0; k < 5; k++) step = 64'((128'(step) * 128'(step)) % 128'(P));
    power = 64'd1;
    for (int i = 0; i < 32; i++) begin
      row0[64*i +: 64] = power;
      power = 64'((128'(power) * 128'(step)) % 128'(P));
    end
  endfunction
  localparam logic [32*64-1:0] CONSTANTS = row0();

  for (genvar l = 0; l < 16; l++) begin : g_lane
    wire [4:0] j = {4'(l), control_i.count[0]};
    wire [10:0] i = BIG ? -(11'(control_i.count[5:1]) * 11'(j) << 1) : -(11'({control_i.count[5:1], control_i.round}) * 11'(j));
    wire [4:0] entry = BIG ? {i[4:1], 1'b0} : i[4:0];
    always_ff @(posedge clk_i) begin factor_o[l] <= CONSTANTS[64*entry +: 64]; rot_o[l] <= i[10:5]; end
  end
  wire unused = ^{control_i.count[11:6], control_i.pass, control_i.round};
endmodule
