// sol_sto_carry without HOLD: both coefficients of a pair come in one cycle. The rest is in bench_sol_sto_carry.
module bench_sol_sto_carry_together #(parameter int COUNT = 1);
  bench_sol_sto_carry #(.COUNT(COUNT), .HOLD(1'b0)) u_bench ();
endmodule
