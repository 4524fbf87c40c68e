"""The size of each part can only fall: code lines, without blank lines, comments and docstrings.

``python tests/contract/test_size.py`` lowers the numbers below to today's counts. A number that
goes up is written by hand, with a sentence that says why.
"""

import ast
import re
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Folders (or files) of each part -> the most code lines it may have. What grew says why.
MOST = {
    # declared types of the reader
    # a warning names the line that read the table, and a schema says how persons become rows
    # names of a frame are checked before Arrow refuses them in its own words
    # rows are told apart by the keys that tables have, thirty times as fast as by whole rows
    # names of a Parquet file are as they are written
    # a workbook without a stated number of rows is refused; decimals of any type are numbers
    # the blanks around a cell are looked for where there are some: half of a draft's time and less
    # the import of a function that checks what is known
    # texts of eight columns are counted by one pass: a draft takes a fifth of the time and less
    "engine/data": 1859,
    # what is said of an ε before a run is a module of its own: Run loads no forecast for it
    # a report's curve has the colours of the theme
    # a plan whose answers the noise hides is told before a run
    # a sweep without a true graph counts links and runs
    # command and page draw what a search goes over by one function
    # what a cell of a file may be is two conditions with names
    # a stop is heard between two looks at the pool, whose locks stay whole
    # an ε from few seeds has no interval
    # a plan's answer is in its JSON, and none where nothing can be said
    "engine/studies": 1997,
    # the counts of all pairs of many columns, by one product
    # x ln x is looked up in EM-PC's search: without, Figure 1 takes longer
    # the noise that a plan puts on an answer
    "engine/algorithms engine/search engine/statistics engine/tables": 3488,
    # one edge is "1 edge"
    # the command story
    # a plan whose answers the noise hides is told before a run
    # a thread that Ctrl-C cuts off says nothing
    # held-out networks are refused where they would not be looked at
    # a sweep of a person's own rows says what it cost, files are not overwritten, flags refused
    # nor are those of a scene and of a story
    # synthetic rows of another format, or with a column set twice, are refused
    # how a value with a minus sign in front is given
    "engine/cli engine/__main__.py": 1490,
    # RunResult and the sentences of a run have files of their own; they were on pages
    # and the earlier names of its attributes, for one version
    # one place says where files that come with the project are, installed or not
    # a release and the budget that pays for it are two modules
    # a count with its noun, which pages wrote
    # and what an algorithm says of its noise
    # what is known names the table's columns, which is asked where it is said
    # a class's declarations are made once
    # what runs cost together, which a page wrote
    # a table in the place of a key is refused and not shown
    "engine/*.py": 1620,
    # combine, knowledge applied afterwards, resuming, and budgets bound to a table; what a failed
    # release says has a function of its own, so that make is one screen
    # a release that was cut short after its files were kept is ended
    # folders above a file are made private, too
    # a check replays each release once
    # calling the module says that a budget releases
    # a place below a file is none, and numbers are compared each by itself
    # a synthetic table is written in one way, which its schema reads
    "engine/release": 1449,
    # imports of names that moved
    "engine/marginals engine/privacy": 2240,
    # the table of the classes of links, DAGs that the chains met, and the one still drawer
    # and no path of a drawn graph leads to an earlier tier, as no path of an effect's does
    # the hundred figures, which pages drew
    "engine/graphs": 1049,
    # the story as a folder: its frames, their contents (some were on pages), the bundle of modules
    # the hospitals of its frame are runs that are pooled
    # many nodes have a larger frame
    # and what is paid for, in words
    "engine/story": 443,
    "engine/audit": 799,
    "engine/score": 981,
    # every theorem and lemma is computed; one table compares all of them, its networks stated once
    # every published table has its command, those of seconds too
    "engine/papers engine/teaching": 1526,
    # plausible graphs and their probabilities; tiers bar paths through columns in no tier
    # no counts as no, and a gap as neither
    # a chance beyond 0 or 1 is cut, which is said; levels are asked for as cells are read
    "engine/effects": 695,
    "engine/pairs": 599,
    # My table opens with a place for a file; releases are combined and told what is known.
    # what pages and pins share stands below both, so that no imports go round in a circle
    # small files are read at once again: through the worker, a table that was slow to read opened
    # at its first step
    # a link that is pressed as a run ends is followed
    # a button that is pressed as work ends is seen
    # what led to a page is kept until the page has done what it asks for
    # My table keeps the last release here, where Which ε? finds it
    # work that a page draws is seen by it; what a visit holds is one object, with names
    # a change of theme is told once
    # the import of a function that checks what is known
    # a run that cost ε is kept while another dataset is looked at; a stop is told in one way
    # persons are not called rows
    "pages/shell": 1458,
    # imports of the drawer in the engine; the colours, which stood in the shell
    # a figure is plain mappings that Plotly checks once: by its classes a click took twice as long
    # true links not tested to the end are drawn as such
    # and have a legend where there is no true graph
    "pages/draw": 971,
    # a wide column for the report's graph, and on slides the part that the question is about
    # and a plan whose answers the noise hides is told
    # a budget that is declared pays the next release; the last release is offered first
    # a best setting is searched on a release's synthetic tables
    # the ZIP of a run, which only the report offers, stood in the engine
    # figures as plain mappings
    # a scene's rows go with it to Run
    # how many values of ε a search tries is counted
    # work that a page draws is seen by it
    # and what a visit holds is one object
    # Back from Run reaches Scene, Plan says what to press, slides draw false positives
    # the cards of a workbook ask for its number of rows
    # what Trust attacks stands in its address
    # a change of theme is told once
    # the import of a function that checks what is known
    # the form that pays checks its numbers; what a curve and a forecast are of is said
    "pages": 8642,
    # signs of the classes of links in the scene's legend
    # and the hundred figures next to the dial, and the story's own start and style
    # and a dial that leaves the crowd as it is
    # the places of the boxes that give the largest letters
    # the graph of one purse in such letters, next to a small one for each
    # missed links have heads, and what does nothing without privacy is disabled
    "static": 2264,
    # attacks on live servers of both modes, six processes on one budget, what a cut release leaves
    # the story opened from a disk; messages are read for odd words
    # what pages and commands say is kept as text and compared
    # progress and a column of seconds are left out of what commands print
    # no arrow leads to an earlier tier
    # a draft's persons, gaps and logs are looked at by all ways in
    # ways in that a table's cells take, and a press while work ends
    # letters in every step of Learn; kept scenes of large networks; a slide's part
    # a vote's cutoff, against the majority of the blocks
    # what waits to be ended keeps no budget from being used; folders above it are private
    # a press right after Back ends the page, and its run is begun all the same
    # faults that were drawn: a plural of one, a difference cut at 1, the reason of a stop
    # what drawn faults found: whole numbers, EM-PC at order 1
    # what drawn faults found: a pile of answers, an axis of one value
    # plans whose answers the noise hides
    # a sweep without a true graph is a test, and so is a draft with decimal commas
    # a place below a file is asked for
    # a search on a release: the page's numbers are the command's
    # a thread that Ctrl-C cuts off; a story of fewer draws
    # how near kept graphs are to the true ones, which a file of F1 said
    # two refusals of what was passed over in silence
    # and that a scene brings its rows
    # two journeys begin as a new visitor: in another order they met what others left
    # the most levels, and cells of none in every place of a key
    # a forecast says the scores that a run says
    # of a search the better half goes on
    # a stopped descent that decided nothing, as a stopped search
    # quick tests of releases
    # the walk through all pages begins as a new visitor
    # a schema of nothing but numbers of rows
    # numbers of any type, workbooks without a number of rows, names of partitions and long ones
    # what a sweep of own rows cost, and what stands for yes and no
    "tests": 19499,
    # a picture of the layers from their contracts; sentences of the documents drawn to be checked
    # and imports of names that moved
    # Figure 1 counts the seconds of its workers
    # and the seconds from a typed epsilon to its graphs, after a run that compiles
    # a network's band is computed once for all that it is judged by
    "benchmarks scripts": 3796,
}

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_lines(text):
    """Lines of Python that are not empty and no comment, or in a string that is no docstring."""
    lines = map(str.strip, text.splitlines())
    code = {k for k, line in enumerate(lines, 1) if line and not line.startswith("#")}
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            code |= set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(code - docstrings)


def script_lines(text):
    """Lines of JavaScript or CSS that are not empty and do not begin as a comment."""
    lines = map(str.strip, text.splitlines())
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)


@cache
def code_lines(path):
    """Code lines of one file; 0 for what is no code, or is vendored in minified form."""
    if ".min." in path.name or "node_modules" in path.parts:
        return 0
    if path.suffix == ".py":
        return python_lines(path.read_text(encoding="utf-8"))
    if path.suffix in (".js", ".css"):
        return script_lines(path.read_text(encoding="utf-8"))
    return 0


def size(part):
    """Code lines of a part: its folders with all below them, and its files."""
    return sum(code_lines(path) for path in files(part))


def files(part):
    """The files of a part; ``engine/*.py`` leaves out those that another part names."""
    found = set()
    for name in part.split():
        if "*" in name:
            found |= {
                p for p in ROOT.glob(name) if f"engine/{p.name}" not in " ".join(MOST).split()
            }
        elif (ROOT / name).is_file():
            found.add(ROOT / name)
        else:
            found |= {p for p in (ROOT / name).rglob("*") if p.is_file()}
    return found


@pytest.mark.parametrize("part", MOST)
def test_a_part_does_not_grow(part):
    assert size(part) <= MOST[part], f"{part} grew: remove as much, or say here why it may"


def test_every_file_of_the_engine_belongs_to_a_part():
    covered = set().union(*(files(part) for part in MOST if part.startswith("engine")))
    everything = set((ROOT / "engine").rglob("*.py"))
    assert everything == {p for p in covered if p.suffix == ".py"}


def test_only_code_counts():
    text = """
    # Why.
    def f():
        '''Doc.'''

        return (
            1
        )
    """
    assert python_lines(dedent(text)) == 4
    assert script_lines("// no\n/* no\n * no */\nconst a = 1;\n\n}\n") == 2


def lower():
    """Write today's counts where they are below what this file holds."""
    here = Path(__file__)
    text = here.read_text(encoding="utf-8")
    for part, most in MOST.items():
        found = min(size(part), most)
        text = re.sub(rf'("{re.escape(part)}"): \d+,', rf"\1: {found},", text)
    here.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    lower()
