// Types of the accelerator for the scheme of Gentry and Halevi (doroz2015).
//
// Memory is an array of beats of 384 bits. A slot is an aligned run of 2^LOG_SLOT beats and holds one integer, lowest beat
// first: one operand of the multiplier. Slots are numbered from the beat BASE on.
package sol_gh_pkg;
  parameter int BEAT = 384;                 // bits of a beat
  parameter int OVER = 12;                  // bits of a sum above its beat, sign included: sums of at most 2047 terms
  parameter int OUTPUTS = 5;                // sums that one pass over the table makes: the bits of a candidate
  parameter int LOG_PROGRAM = 10;           // instructions of the program store
  parameter int LOG_LIST = 10;              // entries of the list store
  parameter int LOG_CANDIDATES = 9;         // candidates of a block

  // BEAT and OUTPUTS bits. Icarus does not find these constants where it uses a type of the package, so they are numbers here.
  typedef logic [383:0]    beat_t;
  typedef logic [31:0]     addr_t;          // index of a beat in memory
  typedef logic [13:0]     slot_t;
  typedef logic [4:0]      candidate_t;

  // A summand of a sum: its slot, whether it is subtracted, and whether it is left out.
  typedef struct packed { logic skip; logic negative; slot_t slot; } term_t;

  typedef enum logic [2:0] {
    I_HALT,        // end of the program
    I_MULTIPLY,    // slot a times slot b; the sink tells where the product goes
    I_SUM,         // slot d <- sum of the b terms of the list from entry a on, plus the bit BIT if c[0]
    I_COLUMNS,     // slots d to d+4 <- sums of the next block of the table, one for each bit of the candidates
    I_CANDIDATES,  // candidates of block b <- expansion in slots a, a+1; the ciphertext is in slot c
    I_REDUCE,      // slot a <- a mod slot b, for a below a few times b; entry c of the list on: terms +a, -b
    I_PARITY       // result bit <- lowest bit of slot a, plus 1 if slot a is greater than slot b
  } opcode_e;

  // Where a product P goes. X is what memory holds at slot d (or c).
  typedef enum logic [2:0] {
    K_STORE,       // slots d, d+1 <- P
    K_ADD,         // slots d, d+1 <- X + P
    K_SPLIT,       // slot d <- low half of P, slot c <- P >> SHIFT
    K_ADD_SPLIT,   // the same for X + P, with X in slots d, d+1
    K_HIGH,        // slot d <- high half of P, or one less
    K_SUBTRACT,    // slot d <- slot c - P, modulo the size of a slot
    K_ADD_LOW      // slot d <- X + P, modulo the size of a slot
  } sink_e;

  typedef struct packed {
    opcode_e   op;
    sink_e sink;
    logic [1:0] flying;  // products that may be in flight when a product is issued; 3 for any number
    slot_t a, b, c, d;
  } instruction_t;

  // Error codes of the status register.
  typedef enum logic [2:0] {
    E_NONE,
    E_BUSY,        // a command came while a program ran; it was ignored
    E_ILLEGAL,     // an instruction with an unknown operation; the program stopped
    E_GUARD,       // the guard bits of an expansion are all equal: the candidates may be wrong; the program stopped
    E_MULTIPLIER   // the multiplier refused a command; the program stopped
  } error_e;

  // Registers, by the address of their 64-bit word. The list store begins at
  // 0x4000, the program store at 0x8000.
  localparam logic [15:0] R_ID = 16'h00, R_COMMAND = 16'h01, R_STATUS = 16'h02, R_IRQ = 16'h03, R_BASE = 16'h04,
                          R_TABLE = 16'h05, R_SHIFT = 16'h06, R_POINT = 16'h07, R_RATIO = 16'h08, R_GUARD = 16'h09,
                          R_SIZE = 16'h0A, R_BITS = 16'h0B, R_CYCLES = 16'h0C;
  localparam logic [31:0] ID = 32'h47480001;   // "GH", version 1

  // A place in an integer: a beat, and a bit of it.
  typedef struct packed { logic [12:0] word; logic [8:0] bits; } place_t;
endpackage
