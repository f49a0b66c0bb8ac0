"""Other projects' names for Pestle (pestle.compat) and `pestle run --as`."""

import linecache
import subprocess
import sys

import numpy as np
import pytest

import pestle
import process
from pestle import compat


@pytest.fixture(params=sorted(compat.PEERS))
def name(request):
    if request.param in sys.modules:
        pytest.skip("the real package has been imported")
    compat.install(request.param)
    yield request.param
    compat.uninstall(request.param)
    pestle.reset()


def imported(name):
    return __import__(name)


def test_a_program_under_the_other_name(name):
    ti = imported(name)
    ti.init(arch=ti.cpu, random_seed=3, print_ir=False)

    @ti.kernel
    def f(x: ti.types.ndarray()):
        for i in x:
            x[i] += i

    x = np.zeros(3)
    f(x)
    assert x.tolist() == [0, 1, 2]
    assert ti.cfg.random_seed == 3 and ti.cfg.arch == ti.x64
    ti.reset()
    assert ti.cfg.random_seed == 0


def test_modules_and_exceptions(name):
    ti = imported(name)
    prefix = compat.PEERS[name].prefix
    impl = __import__(f"{name}.lang.impl", fromlist=["impl"])
    error = getattr(ti, prefix + "SyntaxError")
    assert issubclass(error, SyntaxError) and getattr(ti.lang.exception, prefix + "SyntaxError") is error
    assert impl.current_cfg() is ti.cfg and impl.get_runtime().default_fp is pestle.f32
    with pytest.raises(ModuleNotFoundError):
        __import__(f"{name}.nowhere")
    with pytest.raises(AttributeError, match="'nowhere'"):
        ti.nowhere

    @ti.kernel
    def f():
        import os  # noqa: F401

    with pytest.raises(getattr(ti, prefix + "CompilationError")):
        f()


@pytest.mark.parametrize("dtype", "i8 i16 i32 i64 u8 u16 u32 u64".split())
def test_integers_wrap(name, dtype):
    """An int that does not fit gives its low bits, as with the peers; in Pestle itself it is refused."""
    ti = imported(name)
    numpy_dtype = np.dtype({"i": "int", "u": "uint"}[dtype[0]] + dtype[1:])
    bits = numpy_dtype.itemsize * 8
    dtype = getattr(ti, dtype)
    x, y, v = ti.ndarray(dtype, 1), ti.field(dtype, ()), ti.Vector.field(2, dtype, ())

    @ti.kernel
    def same(a: dtype) -> dtype:
        return a

    for value in (-1, -128, 255, 1 << 31, -(1 << 31) - 1, 1 << 63, (1 << 64) - 1, -(1 << 63)):
        x[0], y[None], v[None] = value, value, [value, 1]
        low = value & ((1 << bits) - 1)
        wanted = low - (1 << bits) if numpy_dtype.kind == "i" and low >> (bits - 1) else low
        assert [x[0], y[None], v[None][0], same(value)] == [wanted] * 4
    for value in (1 << 64, -(1 << 63) - 1):
        with pytest.raises(ValueError, match="out of range"):
            x[0] = value
    with pytest.raises(ValueError, match="out of range"):
        ti.ndarray(ti.u1, 1)[0] = 2


def test_arguments_that_do_not_fit(name):
    """Programs may ask for TypeError, ValueError or RuntimeError."""
    ti = imported(name)

    @ti.kernel
    def f(x: ti.types.ndarray(dtype=ti.i32, ndim=1), n: ti.i32):
        pass

    wrong = [(np.zeros(2), 1), (np.zeros((2, 2), np.int32), 1), (3, 1), (np.zeros(2, np.int32), 1.5)]
    classes = [ValueError, TypeError] + [getattr(ti, compat.PEERS[name].prefix + k) for k in ("RuntimeError", "RuntimeTypeError", "TypeError")]
    for args in wrong:
        for error in classes:
            with pytest.raises(error, match="argument '[xn]' of kernel 'f'"):
                f(*args)
    with pytest.raises(classes[2], match="is not a valid shape for ndarray"):
        ti.ndarray(ti.i32, shape=1.5)


def test_options(name, monkeypatch):
    ti = imported(name)
    with pytest.raises(KeyError, match="Unrecognized keyword argument.*colour"):
        ti.init(colour=1)
    with pytest.raises(KeyError, match="default_up"):
        ti.init(default_up=ti.u64)
    with pytest.raises(RuntimeError, match="Arch=cuda is not supported"):
        ti.init(arch=ti.cuda, enable_fallback=False)
    with pytest.warns(UserWarning, match="falling back to CPU"):
        ti.init(arch=ti.gpu)
    monkeypatch.setenv(compat.PEERS[name].environment + "DEFAULT_FP", "64")
    monkeypatch.setenv(compat.PEERS[name].environment + "DEBUG", "1")
    ti.init()
    assert ti.cfg.default_fp is pestle.f64 and ti.cfg.debug is True

    @ti.kernel
    def f(x: ti.types.ndarray(), i: ti.i32):
        x[i] = 1

    with pytest.raises(AssertionError, match="out of bounds"):
        f(np.zeros(2), 7)
    with pytest.warns(UserWarning, match="DEFAULT_FP"):
        ti.init(default_fp=ti.f32)
    assert ti.cfg.default_fp is pestle.f32


def test_install_refuses():
    with pytest.raises(ValueError, match="expected one of gstaichi, quadrants, taichi, found 'numpy'"):
        compat.install("numpy")
    program = "import sys, types\nsys.modules['taichi'] = types.ModuleType('taichi')\nimport pestle.compat\npestle.compat.install('taichi')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "RuntimeError: install: taichi itself has been imported already" in done.stderr


def test_run(tmp_path):
    (tmp_path / "beside.py").write_text("FACTOR = 3\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport gstaichi as ti\nimport beside\nti.init()\n\n"
        "@ti.kernel\ndef f(x: ti.i32) -> ti.i32:\n    return x * beside.FACTOR\n\n"
        "if __name__ == '__main__':\n    print(f(int(sys.argv[2])), sys.argv[1:])\n"
    )
    env = process.environment({"PESTLE_CACHE_DIR": str(tmp_path / "cache")})
    words = [sys.executable, "-m", "pestle", "run", "--as", "gstaichi", str(program), "--as", "14"]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.stdout == "42 ['--as', '14']\n", done.stderr
    done = subprocess.run([*words[:-3], "nowhere.py"], capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "nowhere.py" in done.stderr and "Traceback" not in done.stderr
    program.write_text("open('/nowhere/at/all')\n")
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "Traceback" in done.stderr and f'File "{program}", line 1' in done.stderr


def test_processes_have_the_alias(tmp_path):
    """Whatever way multiprocessing starts them: they import the program, and with it the peer's name."""
    program = tmp_path / "program.py"
    program.write_text(
        "import concurrent.futures, multiprocessing\nimport quadrants as qd\n\n"
        "@qd.kernel\ndef f(n: qd.i32) -> qd.i32:\n    return 2 * n\n\n"
        "def work(n):\n    return f(n), qd.__name__\n\n"
        "if __name__ == '__main__':\n"
        "    for how in ('spawn', 'forkserver', 'fork'):\n"
        "        context = multiprocessing.get_context(how)\n"
        "        with context.Pool(1) as pool:\n            print(how, pool.map(work, [3, 4]))\n"
        "        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:\n"
        "            print(pool.submit(work, 5).result())\n"
    )
    env = process.environment({"PESTLE_CACHE_DIR": str(tmp_path / "cache")})
    words = [sys.executable, "-m", "pestle", "run", "--as", "quadrants", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    pool, future = "[(6, 'quadrants'), (8, 'quadrants')]", "(10, 'quadrants')"
    assert done.stdout == "".join(f"{how} {pool}\n{future}\n" for how in ("spawn", "forkserver", "fork")), done.stderr


def test_messages_name_the_alias(name):
    ti, short = imported(name), compat.PEERS[name].short

    @ti.kernel
    def f():
        def inner():
            pass

    @ti.kernel
    def g():
        ti.static_assert(False, "ti.text")

    with pytest.raises(SyntaxError, match=f"Function definition is not allowed in '{short}.kernel'"):
        f()
    with pytest.raises(AssertionError, match="ti.text") as caught:
        g()
    assert isinstance(caught.value, getattr(ti, compat.PEERS[name].prefix + "CompilationError"))
    with pytest.raises(SyntaxError, match=f"^{short}.ndrange.axes=...."):
        ti.ndrange(2, axes=(1,))


def test_private_names(name):
    ti, short = imported(name), compat.PEERS[name].short
    runtime = ti.lang.impl.get_runtime()
    ti.init(default_fp=ti.f64)
    runtime.set_default_ip(ti.i64)
    assert ti.cfg.default_fp is ti.f64 and runtime.default_ip is ti.i64
    assert ti.types.is_integral(ti.u8) and not ti.types.is_signed(ti.u8) and ti.types.is_real(ti.f16)
    kinds = __import__(f"{name}.types.primitive_types", fromlist=["all_types"])
    assert len(kinds.all_types) == 12 and id(ti.f32) in kinds.type_ids and ti.f32.to_string() == "f32"
    assert ti.init(_test_mode=True, log_level=ti.WARN).log_level == "warn"
    ti.set_logging_level(ti.ERROR)
    assert ti._logging.is_logging_effective(ti.CRITICAL) and not ti.is_logging_effective(ti.INFO)
    with pytest.raises(RuntimeError, match="version 9.9.9 is required"):
        ti.init(require_version="9.9.9")
    Ndrange = __import__(f"{name}.lang._ndrange", fromlist=["_Ndrange"])._Ndrange
    assert Ndrange(2, 2, axes=(0, 1)).axes is None and Ndrange(2, 2, axes=(1, 0)).axes == (1, 0)
    assert [v.to_list() for v in Ndrange(1, 2).grouped()] == [[0, 0], [0, 1]]
    with pytest.warns(DeprecationWarning, match=f"Use {short}.real_func instead"):
        ti.experimental.real_func(annotated)
    loader = __import__(f"{name}._test_tools.load_kernel_string", fromlist=["load_kernel_from_string"])
    with loader.load_kernel_from_string(f"import {name} as m\n@m.kernel\ndef one() -> m.i32:\n    return 1\n", "one") as one:
        assert one() == 1
    ti.reset()


def annotated(a: int) -> int:
    return a


def test_public_names(name):
    """dir() says what the peers' modules have; what Pestle has not is an AttributeError that says why."""
    ti, prefix = imported(name), compat.PEERS[name].prefix
    names = dir(ti)
    assert {"kernel", "field", "FieldsBuilder", "ad", f"{prefix}SyntaxError"} <= set(names) and len(names) == len(set(names))
    assert not {"KernelSyntaxError", "Func", "NDRange"} & set(names) and ("make_spd" in names) == (name == "quadrants")
    assert {"vec2", "popcnt"} <= set(dir(ti.math)) and len(dir(ti.math)) == 73 and dir(ti.sparse) == ["grid", "usage"]
    why = {}
    for module in (ti, ti.math, ti.ad, ti.graph, ti.algorithms, ti.interop, ti.sparse):
        for public in dir(module):
            try:
                getattr(module, public)
            except AttributeError as error:
                why[public] = str(error)
    assert "layout trees are not there yet" in why["root"] and "differentiation is not there yet" in why["Tape"]
    assert not {"kernel", "Matrix", "pure", "reset", "vec2", "atomic_add", "ScalarField"} & set(why)
    for public in ("clock_counter",):  # of no larger subject
        why.pop(public, None)
    assert [text for text in why.values() if "not there yet" not in text and "only GPUs have" not in text] == []


def test_classes_of_fields_and_arrays(name):
    ti = imported(name)
    made = {
        "ScalarField": ti.field(ti.f32, 3),
        "MatrixField": ti.Vector.field(2, ti.f32, 3),
        "StructField": ti.Struct.field({"a": ti.f32}, 3),
        "ScalarNdarray": ti.ndarray(ti.f32, 3),
        "VectorNdarray": ti.Vector.ndarray(2, ti.f32, 3),
        "MatrixNdarray": ti.Matrix.ndarray(2, 2, ti.f32, 3),
    }
    for kind in made:
        assert [of for of, value in made.items() if isinstance(value, getattr(ti, kind))] == [kind]
        assert isinstance(made[kind], ti.Field) == kind.endswith("Field") != isinstance(made[kind], ti.Ndarray)
        assert issubclass(type(made[kind]), getattr(ti, kind)) and {"fill", "shape"} <= set(dir(getattr(ti, kind)))
    assert not isinstance(3, ti.Field) and ti.Field.fill is pestle.Field.fill
    with pytest.raises(TypeError, match="ScalarNdarray is the class of a kind"):
        ti.ScalarNdarray(ti.f32, 3)
    with pytest.raises(AttributeError, match="class 'Field' has no attribute 'snode': layout trees are not there yet"):
        ti.Field.snode
    with pytest.raises(ti.KernelRuntimeError, match="FieldsBuilder: layout trees are not there yet"):
        ti.FieldsBuilder()
    with pytest.raises(AttributeError, match="layout trees"):
        ti.SNode.dense
    assert "dense" in dir(ti.FieldsBuilder)
    with pytest.raises(NotImplementedError):
        ti.clock_freq_hz()

    @ti.kernel
    def kinds(x: ti.template()) -> ti.i32:
        r = 0
        if ti.static(isinstance(x, ti.MatrixField)):
            r = 1
        if ti.static(isinstance(x, ti.Field)):
            r += 2
        return r

    assert [kinds(made[kind]) for kind in ("ScalarField", "MatrixField")] == [2, 3]


def test_places_in_messages_are_as_the_peers_show_them(name):
    """With a colon, the line's own indentation, tabs up to multiples of four, rows of 80 columns."""
    ti, short = imported(name), compat.PEERS[name].short
    long = "a" * 50 + "b" * 60
    text = f"""
import {name} as {short}
@{short}.func
def inner(x):
    if True:
        y =\tx +\tmissing
    return y
@{short}.kernel
def outer():
        inner({short}.ä if False else 1)
@{short}.kernel
def wide():
        {long}(111)
"""
    file = f"<{name} places>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"__name__": "places"}
    exec(compile(text, file, "exec"), scope)
    with pytest.raises(NameError) as caught:
        scope["outer"]()
    call = f"inner({short}.ä if False else 1)"
    assert caught.value.args[0] == f'''
File "{file}", line 10, in outer:
        {call}
        {"^" * len(call)}
File "{file}", line 6, in inner:
        y = x + missing
                ^^^^^^^
Name "missing" is not defined'''
    with pytest.raises(NameError) as caught:
        scope["wide"]()
    assert caught.value.args[0] == f'''
File "{file}", line 13, in wide:
        {long[:72]}
        {"^" * 72}
{long[72:]}(111)
{"^" * len(long[72:])}
Name "{long}" is not defined'''
    assert (caught.value.lineno, caught.value.offset) == (13, 9)

    @ti.kernel
    def sliced(n: ti.i32) -> ti.i32:
        return ti.Vector([1, 2, 3])[n:].sum()

    with pytest.raises(TypeError, match=f"{compat.PEERS[name].prefix} does not support variables in slice"):
        sliced(1)


def test_hints_change_nothing(name):
    ti = imported(name)
    x = ti.field(ti.i32, 8)

    @ti.pure
    @ti.kernel
    def f():
        ti.block_local(x)
        ti.cache_read_only(x)
        ti.loop_config(block_dim=4)
        for i in x:
            x[ti.lang.misc.loop_unique(ti.assume_in_range(i, 0, 0, 8), covers=[x])] += i

    f()
    assert x.to_numpy().tolist() == list(range(8))


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("DEFAULT_FP", "foo", "sets default_fp to 'foo'; expected a dtype"),
        ("CPU_MAX_NUM_THREADS", "a", "sets cpu_max_num_threads to 'a'; expected int"),
        ("ARCH", "nope", "there is no arch 'nope'; expected cpu"),
    ],
)
def test_environment_says_nonsense(name, text, message, monkeypatch):
    peer = compat.PEERS["quadrants"]
    monkeypatch.setenv(peer.environment + name, text)
    with pytest.raises(ValueError, match=message):
        peer.configuration.init()


def test_arch_of_another_kind():
    with pytest.raises(TypeError, match=r"expected qd.cpu or another arch, found 'cpu'"):
        compat.PEERS["quadrants"].configuration.init(arch="cpu")
