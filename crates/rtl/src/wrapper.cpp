// The C interface of a model: its ports by name and address, and the clock.
#include <cstdint>

#include "Vtop.h"
#include "verilated.h"
#ifdef TRACE
#include "verilated_vcd_c.h"
#endif

namespace {
struct Port {
    const char* name;
    void* data;
    uint32_t bits;
    uint32_t is_input;
};

struct Model {
    VerilatedContext context;
    Vtop top{&context};
    uint64_t time = 0;
#ifdef TRACE
    VerilatedVcdC trace;
#endif

    void eval() {
        top.eval();
#ifdef TRACE
        if (trace.isOpen()) trace.dump(time);
#endif
        time += 5;
    }
};
}  // namespace

extern "C" {
// What the model depends on: see build.rs of the crate solinas-rtl.
const char* solinas_key() { return KEY; }

void* solinas_new() {
    auto* model = new Model;
#ifdef TRACE
    model->context.traceEverOn(true);
    model->top.trace(&model->trace, 99);
#endif
    return model;
}

void solinas_free(void* model) { delete static_cast<Model*>(model); }

// Settles the outputs for the present inputs.
void solinas_eval(void* model) { static_cast<Model*>(model)->top.eval(); }

// A rising and a falling edge of the clock.
void solinas_tick(void* handle) {
    auto* model = static_cast<Model*>(handle);
#ifdef TRACE
    // The inputs that were set since the last edge.
    model->eval();
#endif
#ifdef CLOCK
    model->top.clk_i = 1;
    model->eval();
    model->top.clk_i = 0;
#endif
    model->eval();
}

// Writes a waveform from now on. Returns whether the model can do that.
int solinas_trace(void* handle, const char* path) {
#ifdef TRACE
    auto* model = static_cast<Model*>(handle);
    model->trace.open(path);
    return model->trace.isOpen();
#else
    (void)handle;
    (void)path;
    return 0;
#endif
}

// Fills the table of ports, of which there is room for `room`. Returns their number.
uint32_t solinas_ports(void* handle, Port* ports, uint32_t room) {
    auto& top = static_cast<Model*>(handle)->top;
    const Port table[] = {
/* PORTS */
    };
    const uint32_t count = sizeof(table) / sizeof(table[0]);
    for (uint32_t i = 0; i < count && i < room; i++) ports[i] = table[i];
    return count;
}
}
