"""Every sentence of the playground, in Chinese and English. {count:s} is the s of a plural."""

from __future__ import annotations


def _pair(zh: str, en: str) -> dict[str, str]:
    return {"zh": zh, "en": en}


TEXTS: dict[str, dict[str, str]] = {
    # The source
    "syntax": _pair("Python 读不懂这一行：{reason}。", "Python cannot read this line: {reason}."),
    "null_byte": _pair(
        "源码里有一个空字符，请删掉它。", "The source holds a null character; delete it."
    ),
    "too_nested": _pair(
        "表达式嵌套得太深，请拆成几行。",
        "An expression is nested too deeply; split it into several lines.",
    ),
    "unsupported_syntax": _pair(
        "kernel 里不能写 `{what}`：Triton 编译器不支持这种语法。",
        "A kernel cannot contain `{what}`: Triton's compiler does not support this syntax.",
    ),
    "syntax_elsewhere": _pair(
        "练习场不支持在 kernel 里写 `{what}`；编译器也只在少数情况下接受。请改用循环或单独的语句。",
        "The playground does not support `{what}` in a kernel, and the compiler takes it in a few cases only; use a loop or separate statements.",
    ),
    "several_targets": _pair(
        "kernel 里不能写 `a = b = …`，请分成两行赋值。",
        "A kernel cannot assign `a = b = …`; use two assignments.",
    ),
    "chained_comparison": _pair(
        "kernel 里不能写 `a < b < c`，请写成 `(a < b) & (b < c)`。",
        "A kernel cannot contain `a < b < c`; write `(a < b) & (b < c)`.",
    ),
    "block_item_assigned": _pair(
        "不能给块里的某个位置赋值：块没有可寻址的元素，编译器不支持 `__setitem__`。请用 `tl.where` 按 lane 选择，或用 `tl.store` 写到内存。",
        "An element of a block cannot be assigned: its elements have no addresses, and the compiler has no `__setitem__`. Select lanes with `tl.where`, or write to memory with `tl.store`.",
    ),
    "attribute_assigned": _pair(
        "kernel 里不能给属性赋值，编译器不支持。",
        "A kernel cannot assign to an attribute; the compiler does not support it.",
    ),
    "star_arguments": _pair(
        "kernel `{kernel}` 不能有 `*args`、`**kwargs` 或仅限关键字的参数。",
        "The kernel `{kernel}` cannot have `*args`, `**kwargs` or keyword-only parameters.",
    ),
    "loop_over_range_only": _pair(
        "kernel 里的 for 只能遍历 `range`、`tl.range` 或 `tl.static_range`。",
        "A `for` in a kernel can only run over `range`, `tl.range` or `tl.static_range`.",
    ),
    "python_container": _pair(
        "kernel 里不能用会增长的 Python 容器（`.{method}`）：编译器把列表当作固定的元组。请用一个块，或写到内存里。",
        "A kernel cannot use a Python container that grows (`.{method}`): the compiler takes a list as a fixed tuple. Use one block, or write to memory.",
    ),
    "return_in_loop": _pair(
        "循环里不能有 `return`，编译器不支持。请用 mask，或把条件写进循环的范围。",
        "A loop cannot contain `return`; the compiler does not support it. Use a mask, or put the condition into the bounds of the loop.",
    ),
    "not_a_function": _pair(
        "源码里没有名为 `{name}` 的函数，请不要改它的名字。",
        "The source has no function named `{name}`; keep its name.",
    ),
    "not_callable": _pair(
        "`{name}` 不是函数，而是 {what}。", "`{name}` is not a function, but {what}."
    ),
    "not_a_kernel": _pair(
        "`{name}` 上面没有 `@triton.jit`，不是 kernel。",
        "`{name}` is no kernel: `@triton.jit` is missing above it.",
    ),
    # Imports and names
    "import_torch": _pair(
        "网页里没有 PyTorch，请删掉这一行：张量由页面提供，或者用 `play.tensor(…)` 创建。",
        "There is no PyTorch in the page; delete this line. The page provides the tensors, or make one with `play.tensor(…)`.",
    ),
    "import_other": _pair(
        "练习场里不能 import `{name}`，这里只有 `triton`、`triton.language`、`math` 和 `play`。",
        "`{name}` cannot be imported in the playground, which has `triton`, `triton.language`, `math` and `play`.",
    ),
    "runs_on_interpreter": _pair(
        "练习场没有 `{name}`；它能在 Triton 解释器（TRITON_INTERPRET=1）和 GPU 上运行。",
        "The playground does not have `{name}`; it runs in Triton's interpreter (TRITON_INTERPRET=1) and on a GPU.",
    ),
    "runs_on_gpu": _pair(
        "练习场没有 `{name}`；它只能在 GPU 上运行。",
        "The playground does not have `{name}`; it runs on a GPU only.",
    ),
    "no_such_name": _pair("Triton 里没有 `{name}`。", "Triton has no `{name}`."),
    "no_such_name_but": _pair(
        "Triton 里没有 `{name}`，是不是想写 `{nearest}`？",
        "Triton has no `{name}`. Did you mean `{nearest}`?",
    ),
    "not_of_torch": _pair(
        "这里的 torch 只有建张量和核对结果要用的那一小部分，没有 `{name}`。要用它，请在自己的机器上运行。",
        "The torch of this page has only what makes tensors and checks results, and no `{name}`. To use it, run the program on your own machine.",
    ),
    "host_shapes": _pair(
        "形状 {a} 和 {b} 不一样。这里的张量运算不做广播。",
        "The shapes {a} and {b} differ, and tensors are not broadcast here.",
    ),
    "builtin_not_here": _pair(
        "练习场里不能用 Python 的 `{name}`。",
        "Python's `{name}` is not available in the playground.",
    ),
    "builtin_in_kernel": _pair(
        "kernel 里不能用 Python 的 `{name}`：编译器不认识它。`tl` 里也许有同名的函数。",
        "A kernel cannot use Python's `{name}`, which the compiler does not know. `tl` may have a function of that name.",
    ),
    "function_not_jit": _pair(
        "kernel 调用了 `{name}`，但它上面没有 `@triton.jit`，编译器看不到它。",
        "The kernel calls `{name}`, which the compiler cannot see, because it is not under `@triton.jit`.",
    ),
    "global_not_constexpr": _pair(
        "kernel 不能读取全局变量 `{name}`，除非它是 `tl.constexpr(…)`。请把它写成 `{name} = tl.constexpr(…)`，或作为参数传入。",
        "A kernel cannot read the global variable `{name}` unless it is a `tl.constexpr(…)`. Write `{name} = tl.constexpr(…)`, or pass it as an argument.",
    ),
    "name_not_defined": _pair("没有定义过名字 `{name}`。", "The name `{name}` is not defined."),
    "jit_of_other": _pair(
        "`@triton.jit` 要写在用 `def` 定义的函数上面。",
        "`@triton.jit` must be above a function defined by `def`.",
    ),
    # Names and types in loops and branches
    "defined_in_loop": _pair(
        "`{name}` 是在第 {where} 行的循环里才定义的，循环之外编译器不认识它。请在循环之前先给它一个初值。",
        "`{name}` is defined only inside the loop of line {where}, and the compiler does not know it outside. Give it a value before the loop.",
    ),
    "defined_in_branch": _pair(
        "`{name}` 只在第 {where} 行的 if 的一个分支里定义，编译器在 if 之后不认识它。请在 if 之前先给它一个值，或在两个分支里都定义。",
        "`{name}` is defined in only one branch of the `if` of line {where}, so the compiler does not know it afterwards. Give it a value before the `if`, or define it in both branches.",
    ),
    "loop_changes_type": _pair(
        "`{name}` 在循环之前是 {before}，在循环里变成了 {after}：编译器要求类型和形状保持不变。",
        "`{name}` is {before} before the loop and becomes {after} in it: the compiler requires the same type and shape.",
    ),
    "loop_changes_constant": _pair(
        "`{name}` 是编译期常量，不能在循环里重新赋值。请去掉 `tl.constexpr` 标注，或换一个名字。",
        "`{name}` is a constant of the compiler and cannot be reassigned in a loop. Drop its `tl.constexpr` annotation, or use another name.",
    ),
    "branch_changes_type": _pair(
        "`{name}` 在 if 之前是 {before}，在分支里变成了 {after}：编译器要求类型和形状保持不变。",
        "`{name}` is {before} before the `if` and becomes {after} in a branch: the compiler requires the same type and shape.",
    ),
    "undefined_condition": _pair(
        "if 或 while 的条件用到了未定义的值，走哪个分支是不确定的。",
        "The condition of an `if` or `while` uses an undefined value, so which way it goes is undefined.",
    ),
    "assertion": _pair("断言不成立：{text}", "An assertion does not hold: {text}"),
    # Endless and too much
    "endless": _pair(
        "运行了很久还没有结束，已经停下。请检查循环的条件和步长。",
        "Stopped, because the run came to no end. Check the condition and the step of the loop.",
    ),
    "recursion": _pair(
        "`{name}` 直接或间接地调用了自己。编译器把被调用的函数全部内联，所以 kernel 里不能有递归。",
        "`{name}` calls itself, directly or through others. The compiler inlines every call, so a kernel cannot recurse.",
    ),
    "too_deep": _pair(
        "函数调用嵌套得太深，已经停下。", "Stopped, because function calls are nested too deeply."
    ),
    "memory": _pair("内存不够用了，请用小一点的尺寸。", "Out of memory; use smaller sizes."),
    "block_too_large": _pair(
        "这个块有 {count} 个元素，练习场里最多 {limit} 个；在 GPU 上可以更大。",
        "This block has {count} elements, and the playground takes up to {limit}; a GPU takes more.",
    ),
    "block_too_large_for_triton": _pair(
        "这个块有 {count} 个元素，Triton 最多允许 {limit} 个。",
        "This block has {count} elements, and Triton allows at most {limit}.",
    ),
    "grid_too_large": _pair(
        "grid 里有 {count} 个 program，练习场里最多 {limit} 个。",
        "The grid has {count} programs, and the playground runs up to {limit}.",
    ),
    # Launch
    "kernel_without_grid": _pair(
        "启动 kernel 要先给出 grid：`{kernel}[grid](…)`。",
        "A launch needs a grid: `{kernel}[grid](…)`.",
    ),
    "launch_in_kernel": _pair(
        "kernel 里不能再启动 kernel；要调用另一个 `@triton.jit` 函数，直接写 `f(…)`。",
        "A kernel cannot launch another one; to use another `@triton.jit` function, call it as `f(…)`.",
    ),
    "outside_kernel": _pair(
        "`{name}` 只能在 kernel 里调用。", "`{name}` can only be called in a kernel."
    ),
    "missing_arguments": _pair(
        "启动 `{kernel}` 时少了参数：{names}。", "The launch of `{kernel}` lacks: {names}."
    ),
    "arguments": _pair(
        "传给 `{kernel}` 的参数不对：{reason}。",
        "The arguments of `{kernel}` do not fit: {reason}.",
    ),
    "unknown_argument": _pair(
        "`{function}` 没有参数 `{argument}`。", "`{function}` has no argument `{argument}`."
    ),
    "unsupported_argument": _pair(
        "练习场不支持 `{function}` 的参数 `{argument}`。",
        "The playground does not support the argument `{argument}` of `{function}`.",
    ),
    "argument_type": _pair(
        "参数 `{name}` 是 {what}；kernel 的参数只能是张量或数。",
        "The argument `{name}` is a {what}; a kernel takes tensors and numbers.",
    ),
    "tensor_as_constant": _pair(
        "`{name}` 标注了 tl.constexpr，不能传张量。",
        "`{name}` is annotated tl.constexpr and cannot be a tensor.",
    ),
    "constant_parameter": _pair(
        "`{kernel}` 的参数 `{name}` 标注了 tl.constexpr，不能传运行时的值。",
        "The parameter `{name}` of `{kernel}` is annotated tl.constexpr and cannot take a runtime value.",
    ),
    "num_warps": _pair(
        "num_warps 必须是 2 的幂，现在是 {value}。",
        "num_warps must be a power of two; it is {value}.",
    ),
    "grid_not_tuple": _pair(
        "grid 必须是元组：写成 `({value},)`，注意逗号。",
        "A grid must be a tuple: write `({value},)`, with the comma.",
    ),
    "grid_float": _pair(
        "grid 的尺寸是小数 {value}。program 的个数必须是整数：请用 `triton.cdiv(n, BLOCK)`。",
        "A size of the grid is the fraction {value}. The number of programs is an integer: use `triton.cdiv(n, BLOCK)`.",
    ),
    "grid_type": _pair(
        "grid 的尺寸必须是整数，现在是 {what}。",
        "A size of the grid must be an integer; it is a {what}.",
    ),
    "grid_axes": _pair(
        "grid 有 1 到 3 个轴，现在有 {count} 个。", "A grid has 1 to 3 axes; this one has {count}."
    ),
    "grid_negative": _pair(
        "grid 的尺寸是负数：{size}。", "A size of the grid is negative: {size}."
    ),
    "program_axis": _pair(
        "axis 只能是 0、1 或 2，现在是 {axis}。", "axis is 0, 1 or 2; it is {axis}."
    ),
    # Values and types
    "unknown_dtype": _pair("没有名为 {name} 的类型。", "There is no type named {name}."),
    "not_a_dtype": _pair("{what} 不是类型。", "{what} is not a type."),
    "not_a_value": _pair(
        "这里需要块或数，现在是 {what}。", "A block or a number is needed here; this is a {what}."
    ),
    "number_too_large": _pair("{value} 超出了 64 位。", "{value} does not fit into 64 bits."),
    "number_out_of_range": _pair(
        "{value} 超出了 {dtype} 的范围。", "{value} is out of range for {dtype}."
    ),
    "negative_with_unsigned": _pair(
        "不能用负数 {value} 和无符号的 {dtype} 运算，请先用 `.to(…)` 转换。",
        "The negative number {value} cannot be combined with the unsigned {dtype}; cast with `.to(…)` first.",
    ),
    "mixed_signedness": _pair(
        "{a} 和 {b} 一个有符号、一个无符号，不能做 `/`、`//`、`%`，请先用 `.to(…)` 转成一样的。",
        "{a} and {b} differ in signedness, so `/`, `//` and `%` are refused; cast both to one with `.to(…)`.",
    ),
    "operands": _pair(
        "不能对 {a} 和 {b} 做 `{symbol}`。", "`{symbol}` is not defined for {a} and {b}."
    ),
    "integers_only": _pair(
        "`{symbol}` 只能用于整数，这里是 {dtype}。", "`{symbol}` takes integers; this is {dtype}."
    ),
    "floats_only": _pair(
        "`tl.{function}` 不接受 {dtype}。请先转成 fp32：`.to(tl.float32)`。",
        "`tl.{function}` does not take {dtype}. Cast to fp32 first: `.to(tl.float32)`.",
    ),
    "no_power": _pair(
        "块没有 `**`。平方写 `x * x`，其他的用 `tl.exp2`、`tl.log2`。",
        "Blocks have no `**`. Write `x * x` for a square, and use `tl.exp2` and `tl.log2` for the rest.",
    ),
    "no_matmul_operator": _pair(
        "块没有 `@`，请用 `tl.dot(a, b)`。", "Blocks have no `@`; use `tl.dot(a, b)`."
    ),
    "bitcast_width": _pair(
        "{a} 和 {b} 宽度不同，不能按位转换。", "{a} and {b} differ in width and cannot be bit-cast."
    ),
    "pointer_cast": _pair(
        "练习场不能把指针转换成 {dtype}。", "The playground cannot cast a pointer to {dtype}."
    ),
    "shapes_differ": _pair(
        "形状 {a} 和 {b} 在第 {axis} 轴上不一致，无法广播。是不是少了 `[:, None]` 或 `[None, :]`？",
        "The shapes {a} and {b} differ along axis {axis} and cannot be broadcast. Is a `[:, None]` or `[None, :]` missing?",
    ),
    "broadcast_too_small": _pair(
        "形状 {a} 不能变成 {b}：值的形状比指针大。",
        "The shape {a} cannot become {b}: the value is larger than the pointer.",
    ),
    "reshape_count": _pair(
        "形状 {a} 和 {b} 的元素个数不同，不能 reshape。",
        "The shapes {a} and {b} have different numbers of elements, so reshape is impossible.",
    ),
    "not_a_permutation": _pair(
        "{order} 不是形状 {shape} 的轴的排列。",
        "{order} is not a permutation of the axes of {shape}.",
    ),
    "trans_needs_axes": _pair(
        "形状 {shape} 不是二维，tl.trans 需要写出轴的顺序。",
        "The shape {shape} is not two-dimensional; tl.trans needs the order of the axes.",
    ),
    "split_needs_two": _pair(
        "tl.split 要求最后一轴长度为 2，现在是 {shape}。",
        "tl.split needs a last axis of size 2; the shape is {shape}.",
    ),
    "cat_needs_reorder": _pair(
        "tl.cat 需要 `can_reorder=True`。", "tl.cat needs `can_reorder=True`."
    ),
    # Constants and shapes
    "arange_not_constant": _pair(
        "tl.arange 的两端必须是编译期常量（tl.constexpr），现在是运行时的 {what}。块的长度在编译时就要确定：请把它作为 tl.constexpr 参数传入，或写 `名字: tl.constexpr = …`。",
        "The bounds of tl.arange must be constants (tl.constexpr); this is {what}, known only at run time. The length of a block is fixed when the kernel is compiled: pass it as a tl.constexpr parameter, or write `name: tl.constexpr = …`.",
    ),
    "arange_empty": _pair(
        "tl.arange({start}, {end}) 是空的：终点必须大于起点。",
        "tl.arange({start}, {end}) is empty: its end must be greater than its start.",
    ),
    "arange_not_power_of_two": _pair(
        "tl.arange({start}, {end}) 的长度是 {count}，必须是 2 的幂。请用 `triton.next_power_of_2`，再用 mask 挡住多出来的 lane。",
        "tl.arange({start}, {end}) has {count} elements, which must be a power of two. Use `triton.next_power_of_2` and mask the lanes beyond.",
    ),
    "shape_not_constant": _pair(
        "块的形状必须是编译期常量，现在是 {what}。",
        "The shape of a block must be constant when the kernel is compiled; this is {what}.",
    ),
    "shape_not_power_of_two": _pair(
        "块的每一轴长度必须是 2 的幂，现在是 {size}。",
        "Each axis of a block must be a power of two; this one is {size}.",
    ),
    "constexpr_of_runtime": _pair(
        "标注了 tl.constexpr 的名字不能是运行时的值（{what}）。",
        "A name annotated tl.constexpr cannot hold a runtime value ({what}).",
    ),
    "runtime_value_as_constant": _pair(
        "这里需要编译期常量，现在是运行时的 {block}。",
        "A constant is needed here; this is {block}, known only at run time.",
    ),
    "static_assert": _pair("static_assert 不成立：{text}", "static_assert does not hold: {text}"),
    "static_assert_runtime": _pair(
        "static_assert 只能检查编译期常量，现在是运行时的 {what}。",
        "static_assert can only check constants; this is {what}, known only at run time.",
    ),
    "static_range_runtime": _pair(
        "tl.static_range 的范围必须是编译期常量，现在是运行时的 {what}；请用 range。",
        "The bounds of tl.static_range must be constants; this is {what}, known only at run time. Use range.",
    ),
    "range_not_integer": _pair(
        "循环的范围必须是整数标量，现在是 {what}。",
        "The bounds of a loop are integer scalars; this is {what}.",
    ),
    "range_bounds": _pair("range 有 1 到 3 个参数。", "range takes 1 to 3 arguments."),
    "range_step_zero": _pair(
        "循环的步长是 0，永远不会结束。", "The step of the loop is 0, so it never ends."
    ),
    # What Python would do with a block, and the compiler refuses
    "block_indexed": _pair(
        "不能用 `[{index}]` 索引块：块分布在许多线程的寄存器里，没有「第几个元素」可取。请用 tl.where、归约（如 tl.sum），或者从内存里 tl.load。",
        "A block cannot be indexed by `[{index}]`: it is spread over the registers of many threads and has no i-th element to take. Use tl.where, a reduction such as tl.sum, or tl.load from memory.",
    ),
    "block_as_condition": _pair(
        "`if`、`while` 不能判断一个块（{block}）：它有多个值，各 lane 不同。请用 mask 或 tl.where。",
        "`if` and `while` cannot test a block ({block}): its lanes differ. Use a mask or tl.where.",
    ),
    "block_iterated": _pair(
        "不能遍历块（{block}），也不能用 Python 的 sum、max、min 处理它。请用 tl.sum、tl.max、tl.min。",
        "A block ({block}) cannot be iterated, nor given to Python's sum, max or min. Use tl.sum, tl.max or tl.min.",
    ),
    "python_function_on_block": _pair(
        "不能对 {block} 用 Python 的 {function}()：它的值在编译时还不知道。转换类型用 `.to(…)`，数学函数用 `tl.`。",
        "Python's {function}() cannot take {block}, whose value is not known when the kernel is compiled. Use `.to(…)` to convert, and `tl.` for functions.",
    ),
    # Memory
    "not_a_pointer": _pair(
        "{function} 的第一个参数必须是指针，现在是 {what}。请写成 `x_ptr + offsets`。",
        "The first argument of {function} must be a pointer; it is {what}. Write `x_ptr + offsets`.",
    ),
    "float_offset": _pair(
        "指针不能加 {dtype}：偏移必须是整数。`/` 得到小数，请用 `//`。",
        "A pointer cannot be moved by {dtype}: an offset is an integer. `/` gives a fraction; use `//`.",
    ),
    "pointers_added": _pair(
        "两个指针不能做 `{symbol}`。", "`{symbol}` is not defined for two pointers."
    ),
    "pointers_mixed": _pair(
        "练习场不能在指向不同张量的指针之间做选择。",
        "The playground cannot select between pointers to different tensors.",
    ),
    "other_without_mask": _pair(
        "给了 other 却没有 mask：other 只用于 mask 为假的 lane。",
        "other without a mask: it is the value of lanes whose mask is false.",
    ),
    "mask_type": _pair(
        "mask 必须是布尔值，现在是 {dtype}。", "A mask must be boolean; it is {dtype}."
    ),
    "mask_of_scalar": _pair(
        "指针是一个标量，mask 却是一个块（{mask}）。",
        "The pointer is a scalar, but the mask is a block ({mask}).",
    ),
    "block_to_scalar": _pair(
        "指针是一个标量，要写的值却是一个块（{value}）。是不是忘了 `+ offsets`？",
        "The pointer is a scalar, but the value is a block ({value}). Is `+ offsets` missing?",
    ),
    "boundary_check": _pair(
        "tl.{function} 的 boundary_check 只用于块指针，练习场和 Triton 3.9 都没有块指针。请用 mask。",
        "boundary_check of tl.{function} is for block pointers, which neither the playground nor Triton 3.9 has. Use a mask.",
    ),
    "atomic_type": _pair("`tl.{name}` 不支持 {dtype}。", "`tl.{name}` does not support {dtype}."),
    "gather_outside": _pair(
        "tl.gather 的下标 {index} 超出了 0 到 {size} - 1。",
        "The index {index} of tl.gather is outside 0 … {size} - 1.",
    ),
    # Reductions and dot
    "axis_not_constant": _pair(
        "axis 必须是整数常量，现在是 {what}。", "axis must be an integer constant; it is {what}."
    ),
    "axis_outside": _pair(
        "形状 {shape} 没有第 {axis} 轴。", "The shape {shape} has no axis {axis}."
    ),
    "reduce_scalar": _pair(
        "tl.{function} 需要块，现在是标量。", "tl.{function} needs a block; this is a scalar."
    ),
    "last_axis_only": _pair(
        "tl.{function} 只能沿最后一轴。", "tl.{function} works along the last axis only."
    ),
    "combine_count": _pair(
        "合并函数返回了 {count} 个值，应为 {wanted} 个。",
        "The combining function returned {count} value{count:s}, and {wanted} are needed.",
    ),
    "dot_needs_matrices": _pair(
        "tl.dot 需要两个二维块，现在是 {a} 和 {b}。",
        "tl.dot needs two matrices; the shapes are {a} and {b}.",
    ),
    "dot_types": _pair(
        "tl.dot 的两个操作数类型必须相同，现在是 {a} 和 {b}。",
        "Both operands of tl.dot must have one type; they are {a} and {b}.",
    ),
    "dot_integers": _pair(
        "tl.dot 的整数操作数只能是 int8，现在是 {dtype}。",
        "Integers in tl.dot must be int8; this is {dtype}.",
    ),
    "dot_shapes": _pair(
        "tl.dot 的形状 {a} 和 {b} 不匹配：第一个的列数必须等于第二个的行数。",
        "The shapes {a} and {b} do not fit in tl.dot: the columns of the first must be as many as the rows of the second.",
    ),
    "dot_too_small": _pair(
        "tl.dot 的 K 是 {inner}，在 NVIDIA GPU 上至少要 {smallest}（解释器不检查）。",
        "K in tl.dot is {inner}, and an NVIDIA GPU needs at least {smallest} (the interpreter does not check).",
    ),
    "dot_precision": _pair(
        "input_precision 只能是 ieee、tf32 或 tf32x3，现在是 {value}。",
        "input_precision is ieee, tf32 or tf32x3; it is {value}.",
    ),
    "dot_accumulator": _pair(
        "tl.dot 的累加器是 {acc}，需要 {wanted}。",
        "The accumulator of tl.dot is {acc}, and {wanted} is needed.",
    ),
    "dot_bf16_result": _pair(
        "tl.dot 的 out_dtype 不能是 bf16：请累加到 fp32，再用 `.to(tl.bfloat16)`。",
        "out_dtype of tl.dot cannot be bf16: accumulate in fp32, then `.to(tl.bfloat16)`.",
    ),
    # Tensors of the page
    "ragged_values": _pair("各行的长度不一样。", "The rows differ in length."),
    "count_of_values": _pair(
        "给了 {count} 个值，形状 {shape} 需要的个数不同。",
        "{count} values were given, which do not fill the shape {shape}.",
    ),
    "tensor_index": _pair(
        "下标 {index} 超出了长度 {size}。", "The index {index} is outside the length {size}."
    ),
    # Errors of Python
    "python_error": _pair("{kind}：{reason}", "{kind}: {reason}"),
    "division_by_zero": _pair("除数是 0。", "Division by zero."),
    "stopped": _pair("程序自己结束了。", "The program ended itself."),
    # What programs did
    "past_end_load": _pair(
        "program {program} 越过 {tensor} 的末尾读了 {count} 个元素，从 {place} 开始{more}。",
        "program {program} read {count} element{count:s} past the end of {tensor}, from {place} on{more}.",
    ),
    "past_end_store": _pair(
        "program {program} 越过 {tensor} 的末尾写了 {count} 个元素，从 {place} 开始{more}。",
        "program {program} wrote {count} element{count:s} past the end of {tensor}, from {place} on{more}.",
    ),
    "past_end_atomic": _pair(
        "program {program} 越过 {tensor} 的末尾做了 {count} 次原子操作，从 {place} 开始{more}。",
        "program {program} did {count} atomic operation{count:s} past the end of {tensor}, from {place} on{more}.",
    ),
    "before_start_load": _pair(
        "program {program} 在 {tensor} 开头之前读了 {count} 个元素，第一个在 {place}{more}。",
        "program {program} read {count} element{count:s} before the start of {tensor}, the first at {place}{more}.",
    ),
    "before_start_store": _pair(
        "program {program} 在 {tensor} 开头之前写了 {count} 个元素，第一个在 {place}{more}。",
        "program {program} wrote {count} element{count:s} before the start of {tensor}, the first at {place}{more}.",
    ),
    "before_start_atomic": _pair(
        "program {program} 在 {tensor} 开头之前做了 {count} 次原子操作，第一次在 {place}{more}。",
        "program {program} did {count} atomic operation{count:s} before the start of {tensor}, the first at {place}{more}.",
    ),
    "gap_load": _pair(
        "program {program} 从 {tensor} 的两行之间读了 {count} 个不属于它的元素{more}。是不是没有用 stride？",
        "program {program} read {count} element{count:s} between the rows of {tensor}, which belong to no row{more}. Was the stride ignored?",
    ),
    "gap_store": _pair(
        "program {program} 往 {tensor} 的两行之间写了 {count} 个不属于它的元素{more}。是不是没有用 stride？",
        "program {program} wrote {count} element{count:s} between the rows of {tensor}, which belong to no row{more}. Was the stride ignored?",
    ),
    "gap_atomic": _pair(
        "program {program} 对 {tensor} 两行之间不属于它的 {count} 个元素做了原子操作{more}。是不是没有用 stride？",
        "program {program} did {count} atomic operation{count:s} between the rows of {tensor}{more}. Was the stride ignored?",
    ),
    "undefined_store": _pair(
        "program {program} 往 {tensor} 里写了 {count} 个未定义的值，第一个在 {place}{more}。它们来自 mask 为假而没有 other 的读取，或来自没有人写过的内存。",
        "program {program} wrote {count} undefined value{count:s} to {tensor}, the first at {place}{more}. They come from a masked load without other, or from memory that no program wrote.",
    ),
    "undefined_atomic": _pair(
        "program {program} 把 {count} 个未定义的值加进了 {tensor}，第一个在 {place}{more}。它们来自 mask 为假而没有 other 的读取，或来自没有人写过的内存。",
        "program {program} combined {count} undefined value{count:s} into {tensor}, the first at {place}{more}. They come from a masked load without other, or from memory that no program wrote.",
    ),
    "undefined_address_load": _pair(
        "program {program} 从 {tensor} 读取时，有 {count} 个 lane 的地址或 mask 是未定义的{more}。",
        "program {program} read {tensor} with {count} lane{count:s} whose address or mask is undefined{more}.",
    ),
    "undefined_address_store": _pair(
        "program {program} 写 {tensor} 时，有 {count} 个 lane 的地址或 mask 是未定义的{more}。",
        "program {program} wrote {tensor} with {count} lane{count:s} whose address or mask is undefined{more}.",
    ),
    "undefined_address_atomic": _pair(
        "program {program} 对 {tensor} 做原子操作时，有 {count} 个 lane 的地址或 mask 是未定义的{more}。",
        "program {program} changed {tensor} with {count} lane{count:s} whose address or mask is undefined{more}.",
    ),
    "unwritten_read_load": _pair(
        "program {program} 读了 {tensor} 里 {count} 个还没有人写过的元素，第一个在 {place}{more}。",
        "program {program} read {count} element{count:s} of {tensor} that no program has written, the first at {place}{more}.",
    ),
    "unwritten_read_atomic": _pair(
        "program {program} 对 {tensor} 里 {count} 个还没有人写过的元素做了原子操作，第一个在 {place}{more}。请先清零。",
        "program {program} combined into {count} element{count:s} of {tensor} that no program has written, the first at {place}{more}. Set them to zero first.",
    ),
    "lanes_store": _pair(
        "program {program} 的同一条 store 里，有多个 lane 往 {tensor} 的同一个元素 {place} 写了不同的值{more}：留下哪一个是不确定的。",
        "In one store of program {program}, several lanes wrote different values to the same element {place} of {tensor}{more}: which one stays is undefined.",
    ),
    "overlap_store": _pair(
        "program {program} 和 program {other} 都写了 {tensor} 的 {place}，一共重叠 {total} 个元素：留下谁的值取决于执行顺序。",
        "programs {other} and {program} both wrote {tensor} at {place}, {total} element{total:s} in all: which value stays depends on the order of programs.",
    ),
    "race_load": _pair(
        "program {program} 读了 program {other} 在同一次启动里写的 {tensor} 的元素 {place}，一共 {total} 个：program 之间没有顺序，读到什么是不确定的。",
        "program {program} read {tensor} at {place}, which program {other} wrote in the same launch, {total} element{total:s} in all: programs run in no order, so what is read is undefined.",
    ),
    "race_store": _pair(
        "program {program} 写了 {tensor} 的元素 {place}，而 program {other} 在同一次启动里也用到了它，一共 {total} 个：结果取决于 program 的执行顺序。",
        "program {program} wrote {tensor} at {place}, which program {other} uses in the same launch, {total} element{total:s} in all: the result depends on the order of programs.",
    ),
    "race_atomic": _pair(
        "program {program} 对 {tensor} 的元素 {place} 做了原子操作，而 program {other} 用普通的读写也碰了它，一共 {total} 个：结果取决于执行顺序。",
        "program {program} changed {tensor} at {place} by an atomic operation, and program {other} touched it by a plain load or store, {total} element{total:s} in all: the result depends on the order.",
    ),
    "never_written": _pair(
        "{tensor} 有 {count} 个元素没有任何 program 写过，第一个在 {place}。",
        "{count} element{count:s} of {tensor} were written by no program, the first at {place}.",
    ),
    # What follows a finding
    "more_programs": _pair(
        "；另有 {others} 个 program 也这样", "; {others} other program{others:s} did the same"
    ),
}
