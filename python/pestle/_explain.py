# SPDX-License-Identifier: Apache-2.0
"""What `kernel.explain()` gives: the notes of the code generator by line, as text, for rich and as HTML. Decides nothing."""

import html
import textwrap
from typing import NamedTuple

COUNTED = ("load", "store", "atomic", "reduction", "math", "call")
WIDE = 58  # columns of a program's line; longer ones are cut


class Line(NamedTuple):
    """A line of a kernel or of a function it calls."""

    file: str
    function: str
    number: int
    text: str
    notes: tuple  # of texts such as "load: contiguous"
    bytes: int  # between the CPU and arrays, each time the line runs
    flops: int  # each time the line runs; an fma counts as two
    assembly: tuple = ()  # instructions and labels, in the order of the code; where others stand between, "..."

    def words(self):
        """The notes, with what the line costs at the end."""
        both = (self.bytes, "byte"), (self.flops, "flop")
        cost = [f"{n} {what}{'s' * (n > 1)}" for n, what in both if n]
        return [*self.notes, ", ".join(cost)] if cost else list(self.notes)


def notes_of(entries):
    """Each note once, with how often one expansion of the function has it."""
    counts, order = {}, []
    for source, topic, text, _, _ in entries:
        if topic == "cost":
            continue
        if (topic, text) not in counts:
            order.append((topic, text))
        each = counts.setdefault((topic, text), {})
        each[source] = each.get(source, 0) + 1
    most = [(topic, text, max(counts[topic, text].values())) for topic, text in order]
    return tuple(f"{topic}: {text}" + (f" ({n})" if n > 1 and topic in COUNTED else "") for topic, text, n in most)


def body_of(text):
    """The lines of a function, without comments and empty lines behind it."""
    lines = text.splitlines()
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return lines


def cost_of(entries):
    """Bytes and flops of one expansion: of the one that costs most."""
    sums = {}
    for source, _, _, size, flops in entries:
        before = sums.get(source, (0, 0))
        sums[source] = before[0] + size, before[1] + flops
    return tuple(max(column) for column in zip(*sums.values())) if sums else (0, 0)


def assembly_by_line(text):
    """{(source, line): instructions} of assembly whose .loc directives name source << 16 | line. A label goes with what follows."""
    found, at, before, labels = {}, None, None, []
    for line in text.splitlines():
        words = line.split()
        if not words or words[0][0] in "#;":
            continue
        if words[0] == ".loc":
            number = int(words[2])
            at = (number >> 16, number & 0xFFFF) if number >> 16 else None
        elif words[0].endswith(":"):
            labels = [] if words[0].startswith((".Ltmp", ".Lfunc")) else [*labels, words[0]]
            if not words[0].startswith(".L"):
                at = None  # another function
        elif words[0][0] != "." and at:
            lines = found.setdefault(at, [])
            if lines and before != at:
                lines.append("...")
            lines += [*labels, "    " + " ".join(words)]
            labels, before = [], at
        elif words[0][0] != ".":
            labels, before = [], None
    return found


class Explanation:
    """What became of each line of a kernel for some arguments. Print it, or look through `lines`."""

    def __init__(self, kernel, found, assembly=None):
        sources, notes = found
        code = {}  # by function and line
        for (source, line), text in assembly_by_line(assembly or "").items():
            if source < len(sources):
                code.setdefault((sources[source][:3], line), []).extend(text)
        self.name = kernel.__name__
        self.lines = []
        at, functions = {}, {}  # notes by function and line; functions in the order in which they are met
        for name, file, first, text, *_ in sources[1:]:
            functions.setdefault((name, file, first), text or "")
        for source, line, *rest in notes:
            key = sources[source][:3]
            at.setdefault((key, line), []).append((source, *rest))
        for key, text in functions.items():
            name, file, first = key
            for i, line in enumerate(body_of(text)):
                entries = at.get((key, i), [])
                cost = cost_of(entries)
                self.lines.append(Line(file, name, first + i, line, notes_of(entries), *cost, tuple(code.get((key, i), ()))))

    def functions(self):
        """(file, function, lines), the kernel first."""
        groups = {}
        for line in self.lines:
            groups.setdefault((line.file, line.function), []).append(line)
        for (file, function), lines in groups.items():
            texts = textwrap.dedent("\n".join(line.text for line in lines)).split("\n")
            yield file, function, [line._replace(text=text) for line, text in zip(lines, texts)]

    def rows(self, lines):
        """(number, text, note): a row for each note, and one for a line without."""
        for line in lines:
            words = line.words() or [""]
            for i, word in enumerate(words):
                yield ("", "", word) if i else (str(line.number), line.text, word)

    def __str__(self):
        parts = []
        for file, function, lines in self.functions():
            width = min(WIDE, max(len(line.text) for line in lines))
            parts.append(f"{function}, {file}")
            for line in lines:
                for number, text, word in self.rows([line]):
                    text = text if len(text) <= width else text[: width - 3] + "..."
                    parts.append(f"{number:>5}  {text:{width}}  {word}".rstrip())
                parts += [f"       | {text}" for text in line.assembly]
            parts.append("")
        return "\n".join(parts).rstrip()

    __repr__ = __str__

    def __rich__(self):
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        tables = []
        for file, function, lines in self.functions():
            table = Table(title=f"{function}, {file}", title_justify="left", box=None, pad_edge=False)
            table.add_column("line", justify="right", style="dim")
            table.add_column("program", no_wrap=True)
            table.add_column("what became of it")
            for line in lines:
                for number, text, word in self.rows([line]):
                    table.add_row(number, Text(text), Text(word, style=style_of(word)))
                for text in line.assembly:
                    table.add_row("", Text("| " + text, style="dim"), "")
            tables.append(table)
        return Group(*tables)

    def html(self):
        """Tables, as a piece of a page."""
        parts = []
        for file, function, lines in self.functions():
            parts.append(f"<h2>{html.escape(function)}</h2>\n<p>{html.escape(file)}</p>\n<table>")
            for line in lines:
                words = "<br>".join(f'<span class="{style_of(word)}">{html.escape(word)}</span>' for word in line.words())
                code = html.escape("\n".join(line.assembly))
                code = f"<details><summary>assembly</summary><pre>{code}</pre></details>" if code else ""
                parts.append(f"<tr><td>{line.number}</td><td><pre>{html.escape(line.text)}</pre>{code}</td><td>{words}</td></tr>")
            parts.append("</table>")
        return "\n".join(parts)

    _repr_html_ = html


def style_of(word):
    """A colour: what runs in lanes as it should, what costs, the rest."""
    slow = ("loop: scalar", "gather", "scatter", "lane by lane", "not reproducible", "no reduction", "a call")
    if any(part in word for part in slow):
        return "yellow"
    good = ("lanes:", "contiguous", "reproducible", "not needed", "written out", "combined first")
    return "green" if any(part in word for part in good) else "default"


PAGE = """<!doctype html>
<meta charset="utf-8">
<title>pestle explain</title>
<style>
body {{ font-family: sans-serif; margin: 2em }}
table {{ border-collapse: collapse }}
td {{ vertical-align: top; padding: 0 1em 0 0 }}
td:first-child {{ color: gray; text-align: right }}
pre {{ margin: 0 }}
.green {{ color: green }} .yellow {{ color: darkorange }}
</style>
{}
"""


def page(explanations):
    return PAGE.format("\n".join(each.html() for each in explanations))


def show(explanations):
    """On stdout: by rich where it is installed and stdout is a terminal, else as plain text."""
    import sys

    if sys.stdout.isatty():
        try:
            from rich.console import Console
        except ImportError:
            pass
        else:
            for each in explanations:
                Console().print(each)
            return
    for each in explanations:
        print(each)
        print()
