# Commands for gdb where kernels of Trine run on the CPU with `-g`:
#
#   info cuda kernels                 what runs, its grid and block
#   info cuda threads                 CUDA threads of the blocks that are here, and where they wait
#   cuda thread [(X,Y,Z) | N]         show the stack of another thread of this block; continuing forgets it
#   cuda block (X,Y,Z) [thread ...]   the same for another block (cooperative launches have several)
#
# Printers for dim3, float4 and their like; backtraces leave out the frames of the runtime ("set cuda-all-frames on").
# gdb loads this file with the library where `add-auto-load-safe-path` allows it, else: source <this file>.
# What the runtime keeps is read as plain words: src/simt/run/debug_view.h, src/simt/run/abi.h.
import os
import re
import struct

import gdb
import gdb.printing
import gdb.unwinder

KERNEL_FRAME_VARIABLE = "threadIdx"
NOTHING, BARRIER, GRID, WARP, CONVERGENCE = range(5)


class Memory:
    """Words of the program."""

    @staticmethod
    def read(address, form):
        data = gdb.selected_inferior().read_memory(address, struct.calcsize(form))
        return struct.unpack("=" + form, bytes(data))

    @staticmethod
    def word(address):
        return Memory.read(address, "Q")[0]

    @staticmethod
    def text(address):
        return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string() if address else None


class Layout:
    """trine_simt_debug: where the fields of a Thread are, and the first of the executors."""

    def __init__(self):
        try:
            address = int(gdb.parse_and_eval("(unsigned long)&trine_simt_debug"))
        except gdb.error:
            raise gdb.GdbError("no kernels here: libtrine_compute is not loaded")
        words = Memory.read(address, "8Q")
        if words[0] != 1:
            raise gdb.GdbError("libtrine_compute is of another version than this script")
        self.thread_bytes, self.where, self.wait, self.exited, self.barrier, self.fibre, self.first = words[1:]


class CudaThread:
    """One thread of a block; `index` counts from the executor's first."""

    def __init__(self, executor, index):
        self.executor, self.index = executor, index
        self.address = executor.threads + index * executor.layout.thread_bytes
        self.begun = index < executor.begun
        self.linear = index % executor.block_threads
        x, y, _ = executor.block_dim
        self.thread = (self.linear % x, self.linear // x % y, self.linear // x // y)
        number = executor.first_block + index // executor.block_threads
        x, y, _ = executor.grid_dim
        self.block = (number % x, number // x % y, number // x // y)

    def state(self):
        layout = self.executor.layout
        if not self.begun:
            return "has not begun"
        if Memory.read(self.address + layout.exited, "B")[0]:
            return "has ended"
        if self.address == self.executor.current:
            return "runs"
        wait = Memory.read(self.address + layout.wait, "B")[0]
        if wait == BARRIER:
            return "waits at barrier %d" % Memory.read(self.address + layout.barrier, "i")[0]
        return {NOTHING: "can go on", GRID: "waits for the grid", WARP: "waits for its warp",
                CONVERGENCE: "waits for its warp"}[wait]

    def place(self):
        """Of its latest barrier, shuffle or the like."""
        if not self.begun or self.state() == "has ended" or self.address == self.executor.current:
            return ""
        return os.path.basename(Memory.text(Memory.word(self.address + self.executor.layout.where)) or "")

    def has_stack(self):
        return self.state() not in ("has not begun", "has ended")

    def registers(self):
        """As its stack was left: src/simt/run/context.cc."""
        top = Memory.word(Memory.word(self.address + self.executor.layout.fibre))
        names = ("r15", "r14", "r13", "r12", "rbx", "rbp", "rip")
        found = dict(zip(names, Memory.read(top, "7Q")))
        found["rsp"] = top + 56
        return found


class Executor:
    """A host thread in a kernel."""

    def __init__(self, layout, address):
        self.layout, self.address = layout, address
        (self.next, self.host_thread, kernel, self.threads, self.count, self.block_threads, self.first_block, begun,
         current) = Memory.read(address, "9Q")
        self.kernel = Memory.text(kernel)
        if not self.kernel:
            return
        self.begun = Memory.word(begun)
        self.current = Memory.word(current)
        block = Memory.word(self.threads)  # that of the first thread, which has always begun
        dims = Memory.read(block, "6I")
        self.grid_dim, self.block_dim = dims[:3], dims[3:]

    def all_threads(self):
        return [CudaThread(self, i) for i in range(self.count)]

    def running(self):
        return CudaThread(self, (self.current - self.threads) // self.layout.thread_bytes)


def executors():
    layout = Layout()
    address, found = layout.first, []
    while address:
        executor = Executor(layout, address)
        address = executor.next
        if executor.kernel and executor.begun:
            found.append(executor)
    return found


def executor_here():
    """That of the selected host thread, else the only one."""
    all_here = executors()
    selected = gdb.selected_thread()
    for executor in all_here:
        if selected and executor.host_thread == selected.ptid[1]:
            return executor
    if len(all_here) != 1:
        raise gdb.GdbError("no kernel runs on this host thread; see `info cuda kernels` and `info threads`")
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == all_here[0].host_thread:
            thread.switch()
    return all_here[0]


def triple(numbers):
    return "(%d,%d,%d)" % tuple(numbers)


# --- the stack of another thread: the frame that really runs seems to have been called by that thread's

class OtherThread(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("trine-cuda-thread")
        self.drop()

    def drop(self):
        self.chosen, self.innermost, self.frame_id, self.host_thread = None, None, None, None

    def choose(self, thread, frame):
        """`frame` is the innermost, found before."""
        self.innermost = int(frame.read_register("rsp"))
        self.host_thread = gdb.selected_thread().ptid
        self.chosen, self.name = thread.registers(), thread
        # gdb takes stacks for damaged whose outer frames are not above the inner ones.
        self.frame_id = FrameId(min(self.innermost, self.chosen["rsp"] - 1), frame.pc())

    def __call__(self, pending):
        if not self.chosen or gdb.selected_thread().ptid != self.host_thread:
            return None
        if int(pending.read_register("rsp")) != self.innermost:
            return None
        info = pending.create_unwind_info(self.frame_id)
        word = gdb.lookup_type("unsigned long")
        for name, value in self.chosen.items():
            info.add_saved_register(name, gdb.Value(value).cast(word))
        return info


class FrameId:
    def __init__(self, sp, pc):
        word = gdb.lookup_type("unsigned long")
        self.sp, self.pc = gdb.Value(sp).cast(word), gdb.Value(pc).cast(word)


other = OtherThread()
gdb.unwinder.register_unwinder(None, other, replace=True)


def forget_choice(_):
    if other.chosen:
        other.drop()
        gdb.invalidate_cached_frames()


# Steps compare frames before and after: they begin from the real ones.
for step in ("step", "next", "stepi", "nexti", "finish", "until", "advance"):
    gdb.execute("define hook-%s\npython import __main__; __main__.forget_choice(None)\nend" % step)
gdb.events.cont.connect(forget_choice)
gdb.events.stop.connect(forget_choice)
gdb.events.exited.connect(forget_choice)


def is_kernel_frame(frame):
    try:
        block = frame.block()
    except RuntimeError:
        return False
    while block and not block.is_static and not block.is_global:
        if any(symbol.name == KERNEL_FRAME_VARIABLE for symbol in block):
            return True
        block = block.superblock
    return False


def select_kernel_frame():
    frame = gdb.newest_frame()
    if other.chosen:
        frame = frame.older()
    while frame and not is_kernel_frame(frame):
        frame = frame.older()
    if not frame:
        raise gdb.GdbError("its frames have no debug information; compile the kernel with -g")
    frame.select()
    gdb.execute("frame")


# --- commands

class Cuda(gdb.Command):
    """Look at the threads of kernels that run on the CPU: `cuda thread`, `cuda block`."""

    def __init__(self):
        super().__init__("cuda", gdb.COMMAND_DATA, prefix=True)


class InfoCuda(gdb.Command):
    """What kernels are doing: `info cuda kernels`, `info cuda threads`."""

    def __init__(self):
        super().__init__("info cuda", gdb.COMMAND_DATA, prefix=True)


class InfoCudaKernels(gdb.Command):
    """Kernels that run, each with its grid and block, and the blocks that are here."""

    def __init__(self):
        super().__init__("info cuda kernels", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        found = executors()
        if not found:
            print("no kernel runs")
        for executor in found:
            print("%s, grid %s, block %s; block %s on host thread %d" % (
                executor.kernel, triple(executor.grid_dim), triple(executor.block_dim),
                triple(executor.running().block), executor.host_thread))


class InfoCudaThreads(gdb.Command):
    """CUDA threads of the blocks that are here: what they do, and where they wait. Those alike share a line."""

    def __init__(self):
        super().__init__("info cuda threads", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        executor = executor_here()
        groups = []
        for thread in executor.all_threads():
            key = (thread.block, thread.state(), thread.place())
            if groups and groups[-1][0] == key:
                groups[-1][1].append(thread)
            else:
                groups.append((key, [thread]))
        rows = [("  block", "threads", "count", "what", "where")]
        for (block, state, place), threads in groups:
            first, last = threads[0], threads[-1]
            span = triple(first.thread) + (" to " + triple(last.thread) if len(threads) > 1 else "")
            mark = "* " if first.address == executor.current else "  "
            rows.append((mark + triple(block), span, str(len(threads)), state, place))
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        for row in rows:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def parse_triple(text, dim):
    """(1,2,3), 1,2,3, or one number that counts all."""
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if not numbers or len(numbers) > 3:
        raise gdb.GdbError("not a position: '%s'; write (X,Y,Z) or a number" % text)
    if len(numbers) == 1:
        n = numbers[0]
        numbers = [n % dim[0], n // dim[0] % dim[1], n // dim[0] // dim[1]]
    numbers = tuple(numbers + [0] * (3 - len(numbers)))
    if any(n >= most for n, most in zip(numbers, dim)):
        raise gdb.GdbError("%s is outside of %s" % (triple(numbers), triple(dim)))
    return numbers


def focus(block, thread):
    forget_choice(None)
    executor = executor_here()
    for candidate in executor.all_threads():
        if candidate.block != block or candidate.thread != thread:
            continue
        if not candidate.has_stack():
            raise gdb.GdbError("block %s, thread %s %s: it has no stack" % (
                triple(block), triple(thread), candidate.state()))
        frame = gdb.newest_frame()
        if candidate.address != executor.current:
            other.choose(candidate, frame)
            gdb.invalidate_cached_frames()
        print("[block %s, thread %s %s]" % (triple(block), triple(thread), candidate.state()))
        return select_kernel_frame()
    raise gdb.GdbError("block %s is not here: it has ended, or has not begun" % triple(block))


def focused():
    return other.name if other.chosen else executor_here().running()


class SwitchThread(gdb.Command):
    """cuda thread [(X,Y,Z) | N]: show the stack of another thread of the block."""

    def __init__(self):
        super().__init__("cuda thread", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        now = focused()
        if not argument:
            print("block %s, thread %s %s" % (triple(now.block), triple(now.thread), now.state()))
            return
        focus(now.block, parse_triple(argument, now.executor.block_dim))


class SwitchBlock(gdb.Command):
    """cuda block (X,Y,Z) [thread (X,Y,Z)]: show the stack of a thread of another block."""

    def __init__(self):
        super().__init__("cuda block", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        now = focused()
        if not argument:
            print("block %s of a grid of %s" % (triple(now.block), triple(now.executor.grid_dim)))
            return
        block, _, thread = argument.partition("thread")
        focus(parse_triple(block, now.executor.grid_dim),
              parse_triple(thread, now.executor.block_dim) if thread else (0, 0, 0))


class AllFrames(gdb.Parameter):
    """Whether backtraces show the frames of the runtime between a kernel and what launched it."""

    set_doc = "Show the runtime's frames in backtraces of kernels."
    show_doc = "Show whether backtraces of kernels have the runtime's frames."

    def __init__(self):
        super().__init__("cuda-all-frames", gdb.COMMAND_STACK, gdb.PARAM_BOOLEAN)
        self.value = False

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return "The runtime's frames are shown: %s." % value


class RuntimeFrames:
    """Leaves out frames of libtrine_*.so and of calls that the compiler made, and the frame that really runs when another thread's stack is shown."""

    def __init__(self):
        self.name, self.priority, self.enabled = "trine-runtime", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        for decorated in frames:
            frame = decorated.inferior_frame()
            if all_frames.value or not self.hidden(frame):
                yield decorated

    @staticmethod
    def hidden(frame):
        if other.chosen and frame == gdb.newest_frame():
            return True
        if re.match(r"trine\.thread\.|__device_stub__", frame.name() or ""):
            return True
        library = gdb.solib_name(frame.pc())
        return library is not None and re.match(r"libtrine_(compute|cudart|rt)\.so", os.path.basename(library))


class VectorPrinter:
    """dim3, float4 and their like as (1, 2, 3)."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "(%s)" % ", ".join(str(self.value[field.name]) for field in self.value.type.fields())


def printers():
    found = gdb.printing.RegexpCollectionPrettyPrinter("trine")
    words = "u?char|u?short|u?int|u?long|u?longlong|float|double"
    found.add_printer("vectors", r"^(dim3|(%s)[1-4])$" % words, VectorPrinter)
    return found


for command in (Cuda, InfoCuda, InfoCudaKernels, InfoCudaThreads, SwitchThread, SwitchBlock):
    command()
all_frames = AllFrames()
RuntimeFrames()
gdb.printing.register_pretty_printer(None, printers(), replace=True)
