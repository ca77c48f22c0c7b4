//! Launches and graphs on the emulated device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use solinas_gpu::{Arg, Buffer, Device, DeviceOptions, Error, Graph, Kernel, Launch, Module, Stream};

/// `y[i] <- y[i] + a x[i]` for the threads `i` of all blocks.
static ADD: Module = Module::new(
    "add",
    "
.version 8.4
.target sm_90
.address_size 64
.visible .entry add(
	.param .u64 add_param_0,
	.param .u64 add_param_1,
	.param .u32 add_param_2
)
.maxntid 64, 1, 1
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [add_param_0];
	ld.param.u64 %rd2, [add_param_1];
	ld.param.u32 %r1, [add_param_2];
	cvta.to.global.u64 %rd3, %rd1;
	cvta.to.global.u64 %rd4, %rd2;
	mov.u32 %r6, %ctaid.x;
	mov.u32 %r7, %ntid.x;
	mov.u32 %r8, %tid.x;
	mad.lo.s32 %r2, %r6, %r7, %r8;
	mul.wide.u32 %rd5, %r2, 4;
	add.s64 %rd6, %rd3, %rd5;
	add.s64 %rd7, %rd4, %rd5;
	ld.global.u32 %r3, [%rd6];
	ld.global.u32 %r4, [%rd7];
	mad.lo.s32 %r5, %r4, %r1, %r3;
	st.global.u32 [%rd6], %r5;
	ret;
}
",
);

fn setup(seed: u64) -> (Device, Stream, Kernel) {
    let device = Device::emulated(DeviceOptions { memory: None, seed });
    let stream = Stream::new(&device).unwrap();
    let kernel = Kernel::load(&device, &ADD, "add").unwrap();
    (device, stream, kernel)
}

fn launch<'a>(kernel: &'a Kernel, threads: usize, y: Arg, x: Arg, a: u32) -> Launch<'a> {
    Launch::new(kernel, [1, 1, 1], threads as u32, 0, vec![y, x, a.into()])
}

fn values(stream: &Stream, buffer: &Buffer<u32>) -> Result<Vec<u32>, Error> {
    let mut values = vec![0; buffer.len()];
    stream.read(buffer, 0, &mut values).map(|()| values)
}

#[test]
fn kernels_of_two_streams_run_in_the_order_of_their_calls() {
    for seed in 0..20 {
        let (device, one, kernel) = setup(seed);
        let two = Stream::new(&device).unwrap();
        let x = one.buffer_of(&[1u32; 8], "x").unwrap();
        let y = two.buffer_of(&[0u32; 8], "y").unwrap();
        for (step, stream) in [&one, &two, &two, &one].into_iter().enumerate() {
            // y <- y + x, then x <- x + 2 y, and again: the result depends on the order.
            let (to, from, a) = if step % 2 == 0 { (&y, &x, 1) } else { (&x, &y, 2) };
            stream.launch(&launch(&kernel, 8, Arg::write(to), Arg::read(from), a)).unwrap();
        }
        assert_eq!(values(&one, &x).unwrap(), [11; 8], "seed {seed}");
        assert_eq!(values(&two, &y).unwrap(), [4; 8], "seed {seed}");
    }
}

#[test]
fn a_graph_repeats_its_kernels_on_the_present_values() {
    let (device, stream, kernel) = setup(1);
    let (x, y) = (stream.buffer_of(&[1u32; 4], "x").unwrap(), stream.buffer_of(&[0u32; 4], "y").unwrap());
    let forth = launch(&kernel, 4, Arg::write(&y), Arg::read(&x), 1);
    let back = launch(&kernel, 4, Arg::write(&x), Arg::read(&y), 2);
    let graph = Graph::new(&device, &[forth, back]).unwrap();
    assert_eq!(values(&stream, &y).unwrap(), [0; 4], "recording runs nothing");
    stream.replay(&graph).unwrap();
    stream.replay(&graph).unwrap();
    assert_eq!(values(&stream, &x).unwrap(), [11; 4]);
    stream.write(&y, 0, &[10; 4]).unwrap();
    stream.replay(&graph).unwrap();
    // The graph may go before it has run.
    drop(graph);
    assert_eq!(values(&stream, &y).unwrap(), [21; 4]);
}

#[test]
fn bytes_outside_of_the_buffers_of_a_launch_are_found() {
    for (wrong, problem) in [(0, "writes bytes"), (1, "reads bytes"), (2, "uninitialised")] {
        let (_, stream, kernel) = setup(2);
        // Buffers of 64 values fill their blocks, so the bytes behind the first one belong to the next one.
        let [first, _next, y] = std::array::from_fn(|_| stream.buffer_of(&[1u32; 64], "x").unwrap());
        let empty = stream.buffer::<u32>(64, "empty").unwrap();
        let (y, x) = match wrong {
            0 => (Arg::read(&y), Arg::read(&first)),
            1 => (Arg::write(&first), Arg::read(&first)),
            _ => (Arg::write(&y), Arg::read(&empty)),
        };
        let grid = if wrong == 1 { [2, 1, 1] } else { [1, 1, 1] };
        stream.launch(&Launch::new(&kernel, grid, 64, 0, vec![y, x, 1u32.into()])).unwrap();
        let error = stream.synchronize().unwrap_err().to_string();
        assert!(error.contains(problem), "{wrong}: {error}");
        assert!(stream.synchronize().is_err(), "the first error stays");
    }
}

#[test]
fn launches_that_do_not_fit_the_kernel_are_refused() {
    let (_, stream, kernel) = setup(3);
    let x = stream.buffer_of(&[1u32; 4], "x").unwrap();
    let (_, foreign, _) = setup(4);
    let foreign = foreign.buffer_of(&[1u32; 4], "y").unwrap();
    let good = launch(&kernel, 4, Arg::write(&x), Arg::read(&x), 1);
    let args = |args: Vec<Arg>| Launch::new(&kernel, [1; 3], 4, 0, args);
    let shape = |grid, block| Launch::new(&kernel, grid, block, 0, vec![Arg::write(&x), Arg::read(&x), 1u32.into()]);
    for (bad, problem) in [
        (args(vec![Arg::write(&x), Arg::read(&x)]), "parameters"),
        (args(vec![Arg::write(&x), Arg::read(&x), 1u64.into()]), "parameters"),
        (args(vec![Arg::write(&x), Arg::read(&foreign), 1u32.into()]), "another device"),
        (shape([1; 3], 65), "at most 64"),
        (shape([1; 3], 0), "block 0"),
        (shape([1, 0, 1], 4), "grid [1, 0, 1]"),
    ] {
        let error = stream.launch(&bad).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    stream.launch(&good).unwrap();
    assert_eq!(values(&stream, &x).unwrap(), [2; 4]);
    let device = stream.device();
    assert!(Kernel::load(device, &ADD, "sub").unwrap_err().to_string().contains("no kernel sub"));
}
