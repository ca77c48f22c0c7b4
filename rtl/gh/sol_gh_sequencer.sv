// Master control: reads instructions one after the other and starts the units (doroz2015 section 4).
//
// Products are issued as fast as the multiplier takes them; the next one loads while the last one is stored. A product waits
// until no more than `flying` earlier ones are in flight, so that it finds their results. Every other instruction waits for the
// end of all products: the other units work alone, so that they share one read port and the write port with the sink.
module sol_gh_sequencer import sol_gh_pkg::*; (
  input  logic clk_i, rst_ni,
  input  logic start_i, input logic [LOG_PROGRAM-1:0] entry_i,
  output logic busy_o, done_o, error_we_o, output error_e error_o,
  output logic [LOG_PROGRAM-1:0] program_addr_o, input instruction_t instruction_i,
  output instruction_t now_o,                  // the instruction of the units below
  // multiplier and sink
  output logic product_valid_o, input logic product_ready_i, refused_i,
  output logic sink_start_o, output instruction_t sink_o, input logic sink_busy_i,
  // the other units: a pulse starts one, busy tells its end
  output logic sum_start_o, sum_columns_o, output logic [LOG_LIST-1:0] sum_first_o, sum_count_o, input logic sum_busy_i,
  output logic candidates_start_o, input logic candidates_busy_i, unsafe_i,
  output logic compare_start_o, input logic compare_busy_i, greater_i, equal_i, odd_i,
  input  logic [LOG_CANDIDATES:0] count_i,
  output logic bit_we_o, bit_o);

  typedef enum logic [2:0] {IDLE, FETCH, READ, ISSUE, START, RUN, REDUCE, SUBTRACT} state_e;
  state_e state; logic [LOG_PROGRAM-1:0] counter; instruction_t now;
  assign busy_o = state != IDLE;
  assign program_addr_o = counter;
  assign now_o = now;

  // Products in flight: their instructions in order of issue.
  instruction_t queue [4]; logic [1:0] queue_in, queue_out; logic [2:0] queued;
  logic sink_started;                          // the pulse needs one cycle to show as busy
  wire push = product_valid_o & product_ready_i;
  assign sink_start_o = queued != '0 & !sink_busy_i & !sink_started;
  assign sink_o = queue[queue_out];
  wire [2:0] flying = queued + 3'(sink_busy_i | sink_started);
  wire quiet = flying == '0;
  always_ff @(posedge clk_i) if (push) queue[queue_in] <= now;
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin queue_in <= '0; queue_out <= '0; queued <= '0; sink_started <= 1'b0; end
    else begin
      sink_started <= sink_start_o;
      if (push) queue_in <= queue_in + 2'd1;
      if (sink_start_o) queue_out <= queue_out + 2'd1;
      queued <= queued + 3'(push) - 3'(sink_start_o);
    end

  wire product = now.op == I_MULTIPLY;
  assign product_valid_o = state == ISSUE & product & queued != 3'd4 & (&now.flying | flying <= 3'(now.flying));
  assign sum_columns_o = now.op == I_COLUMNS;
  assign sum_start_o = (state == START & now.op inside {I_SUM, I_COLUMNS}) | state == REDUCE;
  assign sum_first_o = state == REDUCE ? now.c[LOG_LIST-1:0] : now.a[LOG_LIST-1:0];
  assign sum_count_o = state == REDUCE ? LOG_LIST'(2) : sum_columns_o ? LOG_LIST'(count_i) : now.b[LOG_LIST-1:0];
  assign candidates_start_o = state == START & now.op == I_CANDIDATES;
  assign compare_start_o = state == START & now.op inside {I_REDUCE, I_PARITY};
  assign bit_we_o = state == RUN & now.op == I_PARITY & !compare_busy_i;
  assign bit_o = odd_i ^ greater_i;
  wire units_busy = sum_busy_i | candidates_busy_i | compare_busy_i;
  wire known = now.op inside {I_HALT, I_MULTIPLY, I_SUM, I_COLUMNS, I_CANDIDATES, I_REDUCE, I_PARITY};
  wire halts = state == ISSUE & now.op == I_HALT & quiet;
  wire unsafe = state == RUN & now.op == I_CANDIDATES & !units_busy & unsafe_i;
  assign error_we_o = (state == ISSUE & !known & quiet) | unsafe | refused_i;
  assign error_o = refused_i ? E_MULTIPLIER : unsafe ? E_GUARD : E_ILLEGAL;
  assign done_o = halts | error_we_o;

  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin state <= IDLE; counter <= '0; now <= '0; end
    else if (error_we_o) state <= IDLE;
    else unique case (state)
      IDLE:    if (start_i) begin state <= FETCH; counter <= entry_i; end
      FETCH:   state <= READ;
      READ:    begin now <= instruction_i; counter <= counter + 1'b1; state <= ISSUE; end
      ISSUE:   if (halts) state <= IDLE;
               else if (product) begin if (push) state <= FETCH; end
               else if (quiet & now.op != I_HALT & known) state <= START;
      START:   state <= RUN;
      // A unit is busy from the cycle after its start on.
      RUN:     if (!units_busy) state <= now.op == I_REDUCE & (greater_i | equal_i) ? REDUCE : FETCH;
      // a <- a - b, then compare again.
      REDUCE:  state <= SUBTRACT;
      SUBTRACT: if (!sum_busy_i) state <= START;
      default: state <= IDLE;
    endcase
endmodule
