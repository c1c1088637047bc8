"""The words of the interface that generated text uses, in both languages. Prose lives in docs/, not here."""

from __future__ import annotations

from proof.model import Lang

_WORDS: dict[str, tuple[str, str]] = {  # key: Chinese, English
    # states of a claim, as a badge says them
    "valid": ("有效", "valid"),
    "aged": ("超过 180 天", "older than 180 days"),
    "pending": ("尚未在 GPU 上测量", "not yet measured on a GPU"),
    "pending-compile": ("尚未由编译器判定", "not yet judged by the compiler"),
    "pending-interpreter": ("解释器尚未运行", "not yet run in the interpreter"),
    "stale-source": ("lab 的代码已改，待重测", "the lab has changed, to be measured again"),
    "stale-env": ("软件版本不在声明范围内，待重测", "measured outside the declared versions"),
    "stale-code": ("编译结果已变，待重测", "the compiled code has changed, to be measured again"),
    "contradicted": ("与最新一次运行矛盾，数字已撤下", "contradicted by the newest run, number withdrawn"),
    "interpreter-cannot": ("解释器不能判定", "not for the interpreter"),
    # how a broken variant fails, and what else a verdict says
    "error": ("超出误差界", "outside the bound"),
    "guard": ("保护带被改写", "guard bytes overwritten"),
    "nonfinite": ("出现非有限值", "non-finite values"),
    "fault": ("设备报错或进程崩溃", "a fault of the device or process"),
    "raised": ("抛出异常", "an exception"),
    "loose": ("误差界太松", "the bound is too loose"),
    "ok": ("没有被抓住", "not caught"),
    "-": ("此处未判定", "not judged here"),
    # devices
    "interpreter": ("解释器", "interpreter"),
    "compiler": ("编译器", "compiler"),
    # table heads and labels
    "claim": ("断言", "Claim"),
    "value": ("数值", "Value"),
    "relative": ("相对值", "Relative"),
    "bound": ("界与理由", "Bound and its reason"),
    "the bound": ("界", "Bound"),
    "device": ("设备", "Device"),
    "state": ("状态", "State"),
    "in the interpreter": ("解释器", "Interpreter"),
    "gpu": ("GPU", "GPU"),
    "date": ("日期", "Date"),
    "days": ("{n} 天", "{n} d"),
    "measured": ("测于", "Measured"),
    "pages": ("引用页", "Used on"),
    "versions": ("版本", "Versions"),
    "passed": ("通过", "Passed"),
    "failed": ("未通过", "Failed"),
    "not judged": ("未判定", "Not judged"),
    "record": ("测量记录", "Record"),
    "edited": ("记录被改动过，不计入", "edited after filing, does not count"),
    "older source": ("对应旧版代码，不计入", "of older code, does not count"),
    "break": ("坏版本", "Break"),
    "must fail": ("必须失败的断言", "Must fail"),
    "seen on": ("在哪里看到了什么", "Seen"),
    "how": ("方式", "How"),
    "timing": ("计时对象", "Timed"),
    "median": ("中位数", "Median"),
    "spread": ("p10–p90", "p10–p90"),
    "rate": ("吞吐", "Rate"),
    "repeats": ("次数", "Repeats"),
    "none": ("无", "none"),
    "colon": ("：", ": "),
    "comma": ("、", ", "),
    # claims by state
    "of claims": ("共 {n} 条断言", "{n} claims"),
    "in state": ("{n} 条{state}", "{n} {state}"),
    "list": ("逐条查看", "One by one"),
    # the lab page
    "lab": ("lab", "Lab"),
    "question": ("一句话", "In one sentence"),
    "claims": ("断言", "Claims"),
    "breaks": ("坏版本", "Breaks"),
    "breaks intro": (
        "每个坏版本只改动一小段代码，并声明哪条断言必须因此失败、怎样失败。抓不住它，说明检查形同虚设，这个 lab 就算不通过。",
        "Each break changes a few characters and names the claim that must then fail. If it does not fail, the check is worth nothing and the lab fails.",
    ),
    "devices": ("在哪些设备上跑过", "Where it ran"),
    "no records": ("还没有任何设备的记录。", "No device has a record yet."),
    "timings": ("计时", "Timings"),
    "the run": ("一次完整的运行", "The recorded run"),
    "card": ("lab 卡片", "Lab card"),
    "learn": ("学什么", "You learn"),
    "memory": ("显存", "GPU memory"),
    "measured peak": ("实测峰值", "measured peak"),
    "gpus": ("适用的卡", "Cards"),
    "minutes": ("时长", "Time"),
    "about minutes": ("约 {n} 分钟", "about {n} min"),
    "run": ("运行", "Run"),
    "run all": ("全部断言，然后全部坏版本", "every claim, then every break"),
    "run bench": ("只测速度，需要 GPU", "only the speed, on a GPU"),
    "download": ("下载", "Download"),
    "send": ("把你的结果交上来", "Send a record from your card"),
    "send intro": (
        "在你的机器上运行下面第一条命令，得到一个 JSON 文件。在仓库里运行第二条，它会先校验，再存入 `labs/records/`；"
        "提交这个文件即可。没有仓库时，把 JSON 附在 issue 里。",
        "Run the first command on your machine: it writes one JSON file. In a clone of the repository the second command "
        "validates that file and stores it under `labs/records/`; commit what it stored. Without a clone, attach the JSON to an issue.",
    ),
    # line notes
    "line": ("第 {n} 行", "line {n}"),
    "cited": ("引用", "cited"),
    "given": ("引用数据，非本站实测", "given by others, not measured here"),
    # status, glossary, decisions
    "status": ("全部断言", "Every claim"),
    "status intro": (
        "本站每个实测数字都来自这里的一条断言。按状态分组；只有“有效”和“超过 180 天”两组给出数值。",
        "Every measured number on this site belongs to one claim below. They are grouped by state; only valid and aged claims show a value.",
    ),
    "glossary": ("术语表", "Glossary"),
    "index": ("索引", "Index"),
    "also": ("又称", "Also"),
    "see also": ("另见", "See also"),
    "sources": ("出处", "Sources"),
    "may lag": ("这一页可能落后于英文版", "This page may lag behind the Chinese edition"),
    "other edition": ("英文版", "The Chinese edition"),
    "lags": (
        "{other}在 {on} 两版核对之后又改过，这一页还没有跟上。",
        "{other} has changed since both were compared on {on}, and this page has not.",
    ),
    "used in": ("出现在", "Used in"),
    "nvidia": ("仅 NVIDIA", "NVIDIA only"),
    "amd": ("仅 AMD", "AMD only"),
    "topic-model": ("编程模型", "Programming model"),
    "topic-memory": ("内存", "Memory"),
    "topic-device": ("设备", "Device"),
    "topic-compiler": ("编译器", "Compiler"),
    "topic-numerics": ("数值", "Numerics"),
    "topic-kernels": ("kernel", "Kernels"),
    "topic-measuring": ("测量", "Measuring"),
    "topic-serving": ("推理服务", "Serving"),
    "decisions": ("设计决策", "Decisions"),
    "decision": ("决策", "Decision"),
    "number": ("编号", "Number"),
    "supersedes": ("取代", "Supersedes"),
    "proposed": ("提议中", "proposed"),
    "accepted": ("已采纳", "accepted"),
    "rejected": ("已否决", "rejected"),
    "deprecated": ("已弃用", "deprecated"),
    "superseded": ("已被取代", "superseded"),
    # kinds of claim
    "kind-error": ("误差", "error"),
    "kind-ratio": ("速度比", "ratio"),
    "kind-count": ("计数", "count"),
    "kind-codegen": ("代码生成", "code generation"),
    "kind-break": ("坏版本", "break"),
    "kind-source": ("出处", "source"),
}


def known(key: str) -> bool:
    """Whether there is such a word: what people wrote, such as a status, may be none."""
    return key in _WORDS


def word(lang: Lang, key: str, **values: object) -> str:
    """The word for `key` in `lang`; a key that does not exist is a programmer's mistake and raises KeyError."""
    return _WORDS[key][0 if lang == "zh" else 1].format(**values)
