// The subset of CUDA that kernels use. No other file names the compiler's own functions.
//
// Arithmetic on doubles goes through `add_`, `sub_`, `mul_` and `fma_`: each rounds once, to nearest, and no compiler
// fuses or splits it. A kernel therefore gives the bits of the CPU engine.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

// A kernel of at most `threads` threads a block, compiled so that `blocks` blocks fit a multiprocessor.
#define KERNEL(name, threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks) name
// A function that a kernel calls, and a member function.
#define FN static __device__ __forceinline__
#define FN_METHOD __device__ __forceinline__
// An array that the threads of a block share.
#define SHARED(type, name, count) __shared__ type name[count]
// The array whose length the launch chooses, in bytes. A kernel has at most one.
#define SHARED_OF_LAUNCH(type, name) extern __shared__ __align__(16) type name[]
#define RESTRICT __restrict__
#define UNROLL _Pragma("unroll")
#define ROLL _Pragma("unroll 1")

#define TID (threadIdx.x)
#define BID (blockIdx.x)
#define BID_Y (blockIdx.y)
#define BID_Z (blockIdx.z)
#define GRID_X (gridDim.x)
#define GRID_Z (gridDim.z)
#define THREADS (blockDim.x)
#define LANE (threadIdx.x & 31u)

// Barrier of the block. It orders the accesses to memory of all its threads.
#define SYNC() __syncthreads()
// Barrier of the warp: all 32 lanes call it.
#define SYNCWARP() __syncwarp()
// Barrier of the lanes of a mask: all of them call it with this mask.
#define SYNCLANES(mask) __syncwarp(mask)
// Exchanges between the 32 lanes of a warp. All of them call it. Bit `lane` of BALLOT is the predicate of that lane.
#define SHFL(value, lane) __shfl_sync(0xffffffffu, value, lane)
#define SHFL_UP(value, lanes) __shfl_up_sync(0xffffffffu, value, lanes)
#define SHFL_XOR(value, mask) __shfl_xor_sync(0xffffffffu, value, mask)
#define BALLOT(predicate) __ballot_sync(0xffffffffu, predicate)

FN double add_(double a, double b) { return __dadd_rn(a, b); }
FN double sub_(double a, double b) { return __dsub_rn(a, b); }
FN double mul_(double a, double b) { return __dmul_rn(a, b); }
// a b + c, rounded once.
FN double fma_(double a, double b, double c) { return __fma_rn(a, b, c); }
FN double from_bits(u32 high, u32 low) { return __hiloint2double((int)high, (int)low); }
FN u32 low_bits(double a) { return (u32)__double2loint(a); }
FN u32 high_bits(double a) { return (u32)__double2hiint(a); }

FN u32 mulhi32(u32 a, u32 b) { return __umulhi(a, b); }
FN u64 mulhi64(u64 a, u64 b) { return __umul64hi(a, b); }
FN u32 POPC(u32 a) { return (u32)__popc((int)a); }
// The low word of (high 2^32 + low) >> bits. Range: bits below 32.
FN u32 shift_right(u32 low, u32 high, u32 bits) { return __funnelshift_r(low, high, bits); }
// Zero bits above the highest one. Range: any word; 32 for 0.
FN u32 CLZ(u32 a) { return (u32)__clz((int)a); }
FN u32 rotate_left(u32 a, u32 bits) { return __funnelshift_l(a, a, bits); }
// Starts a copy of 16 bytes from global to shared memory. COPY_GROUP() ends a group of copies, and COPY_WAIT(n) waits for
// all groups of the thread but the last n. Other threads see the bytes after a barrier.
FN void copy_async(void *shared, const void *global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(shared)), "l"(global)
               : "memory");
}
#define COPY_GROUP() asm volatile("cp.async.commit_group;" ::: "memory")
#define COPY_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
// Loads what no thread of the launch writes.
template <class T> FN T load_constant(const T *at) { return __ldg(at); }

// The sum over the 32 lanes of a warp, in each of them.
template <class T> FN T warp_sum(T value) {
  UNROLL for (int mask = 16; mask; mask >>= 1) value += SHFL_XOR(value, mask);
  return value;
}
