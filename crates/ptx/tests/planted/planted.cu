// Kernels with one planted fault each. NAME.ptx is this file, compiled with -DNAME by NVRTC 12.4 (options as in cuda/);
// clean.ptx is compiled without a definition. Grid: 2 blocks of 128 threads.
typedef unsigned int u32;
typedef unsigned long long u64;

// sum[i] = x[i] * w[i] + x[i ^ 1] + x[i ^ 64] (128 bits, little endian), i = 128 block + thread.
extern "C" __global__ void __launch_bounds__(128, 1) planted(u64 *__restrict__ sum, const u64 *__restrict__ x, const u64 *__restrict__ w) {
  __shared__ u64 s[129];
  u32 t = threadIdx.x, i = 128 * blockIdx.x + t;
#ifdef off_by_one
  s[t] = x[i + 1];
#elif defined misaligned
  s[t] = *(const u64 *)((const char *)(x + i) + (t == 77 ? 4 : 0));
#else
  s[t] = x[i];
#endif
#ifdef divergent_barrier
  if (t < 100) __syncthreads(); else asm volatile("bar.sync 0;");
#elif defined early_exit
  if (t == 40 && blockIdx.x == 1) return;
  __syncthreads();
#elif defined lane_race
  if (t < 64) asm volatile("bar.warp.sync 0xffffffff;"); else __syncwarp();
#elif !defined missing_barrier
  __syncthreads();
#endif
#ifdef lane_race
  u64 other = s[t ^ 1], far = s[t];
  s[t ^ 2] = other;
#elif defined uninitialised_shared
  u64 other = s[t ^ 1], far = s[t == 5 ? 128 : t ^ 64];
#else
  u64 other = s[t ^ 1], far = s[t ^ 64];
#endif
#ifdef wrong_twiddle
  u64 root = w[(t ^ 1) + 128 * blockIdx.x];
#else
  u64 root = w[i];
#endif
  u64 low = s[t] * root, high = __umul64hi(s[t], root);
#ifdef lost_carry
  asm("add.u64 %0, %0, %2; addc.u64 %1, %1, 0;" : "+l"(low), "+l"(high) : "l"(other));
#elif defined dropped_carry
  asm("add.cc.u64 %0, %0, %2; add.u64 %1, %1, 0;" : "+l"(low), "+l"(high) : "l"(other));
#else
  asm("add.cc.u64 %0, %0, %2; addc.u64 %1, %1, 0;" : "+l"(low), "+l"(high) : "l"(other));
#endif
  asm("add.cc.u64 %0, %0, %2; addc.u64 %1, %1, 0;" : "+l"(low), "+l"(high) : "l"(far));
#ifdef block_race
  i &= 127;
#endif
#ifdef uninitialised_global
  low += sum[2 * i];
#endif
  sum[2 * i] = low;
  sum[2 * i + 1] = high;
}
