"""A kernel's lines in the editor and its card below: each lights up in the other, and notes stand beside the lines."""

from __future__ import annotations

import shutil

import nbformat
from playwright.sync_api import Locator, expect

from tests.browser.axe import violations
from tests.browser.lab import Lab, Notebook
from tests.browser.server import JupyterServer

SUMS = """%%triton cpu --show tiling
import torch, triton, triton.language as tl

@triton.jit
def sums(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        part = tl.load(x_ptr + row * stride + offsets, mask=offsets < columns, other=0.0)
        total += part
    tl.store(y_ptr + row, tl.sum(total))

sums[(6,)](torch.arange(120.0).reshape(6, 20), torch.empty(6), 20, 20, BLOCK=8)"""
PLAIN = """import torch, triton, triton.language as tl

@triton.jit
def double(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i, 2 * tl.load(x_ptr + i))"""
MODULE = """import triton
import triton.language as tl


@triton.jit
def triple(x_ptr, y_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i, 3 * tl.load(x_ptr + i))
"""
ELSEWHERE = "%%triton cpu\ndouble[(1,)](torch.arange(8.0), torch.empty(8), B=8)"
FROM_FILE = "%%triton cpu\nfrom kernels_of_mine import triple\ntriple[(1,)](torch.arange(8.0), torch.empty(8), B=8)"
BAD = """%%triton cpu
import torch, triton, triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x + 1, mask=i < n)

add[(4,)](torch.arange(100.0), torch.empty(100), 100, BLOCK=32)"""
LOSE = """for one in list(get_ipython().kernel.comm_manager.comms.values()):
    if one.target_name.startswith("triton_lab"):
        one.close()
        print("closed")"""
LIT, PICKED, NOTE = ".cm-line.triton-lab-lit", ".cm-line.triton-lab-picked", ".triton-lab-note-of-line"
VALUE, FOUND = ".triton-lab-value", ".cm-lintRange.triton-lab-finding"

SAID = ["×3", "×3", "95% ×3", "×3", "5%"]
FIXED = "    x = tl.load(x_ptr + i, mask=i < n, other=0.0)\n"
# Notebook 7.6's own core complains of this while it loads settings, with or without us.
ITS_OWN = "Cannot read properties of undefined (reading 'schema')"

# The caret's line in the editor of a cell, from 1; the text of the whole.
_CARET = """([index, whole]) => {
  const { state } = window.jupyterapp.shell.currentWidget.content.widgets[index].editor.editor;
  return whole ? state.doc.toString() : String(state.doc.lineAt(state.selection.main.head).number);
}"""


_OPENED = """async ([path, mode]) => {
  const panel = await window.jupyterapp.commands.execute('docmanager:open', { path, options: { mode } });
  await panel.context.ready;
  await panel.revealed;
  window.jupyterapp.shell.activateById(panel.id);
}"""


# The contrast of what stands in the gutter, words and signs, where the bar of the share is behind it. (CodeMirror hides
# gutters from screen readers, and so from axe.)
_CONTRASTS = """() => {
  const brush = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const paint = (colour, opacity = 1) => {
    brush.globalAlpha = opacity;
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
  };
  const luminance = () => {
    const part = [...brush.getImageData(0, 0, 1, 1).data].map(value => value / 255);
    const [r, g, b] = part.map(one => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const upwards = node => (node ? [node, ...upwards(node.parentElement)] : []);
  const signs = '[data-severity]:not([data-severity=""])';
  return [...document.querySelectorAll(`.triton-lab-note-of-line, .triton-lab-note-of-line ${signs}`)].map(node => {
    const { backgroundImage } = getComputedStyle(node.closest('.triton-lab-note-of-line'));
    const [bar] = backgroundImage.match(/(color|rgba?)\\([^)]*\\)/);
    const around = upwards(node);
    around.reverse().forEach(each => paint(getComputedStyle(each).backgroundColor));
    paint(bar);
    const behind = luminance();
    paint(getComputedStyle(node).color, around.reduce((all, each) => all * getComputedStyle(each).opacity, 1));
    const [dark, light] = [behind, luminance()].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  });
}"""

# Ends the kernel's process from within.
_DIE = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  kernel.requestExecute({ code: 'import os; os._exit(1)' }).done.catch(() => undefined);
}"""


# Resolves once the kernel answers. What it is asked while it starts may be lost: it is asked again.
_ANSWERS = """async () => {
  const { session } = window.jupyterapp.shell.currentWidget.sessionContext;
  const asked = () => session.kernel.requestKernelInfo().then(() => true, () => new Promise(later));
  const later = resolve => setTimeout(resolve, 2000, false);
  for (let times = 0; times < 30; times++) {
    if (await Promise.race([asked(), new Promise(later)])) return;
  }
  throw new Error('the kernel does not answer');
}"""


# Restarts the kernel and does not wait: `window.restarted` does.
_RESTARTING = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  window.restarted = kernel.restart();
}"""


def written(lab: Lab, name: str, *sources: str) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in ("%load_ext triton_lab", *sources)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, lab.folder / name)


def run(lab: Lab, *sources: str) -> Notebook:
    """A notebook of these cells, after all of it has run."""
    written(lab, "linked.ipynb", *sources)
    notebook = lab.open("linked.ipynb")
    notebook.run_all()
    lab.page.set_default_timeout(10_000)
    return notebook


def opened(lab: Lab, name: str, mode: str = "tab-after") -> None:
    """Have another document in front, of those that are open or beside them."""
    path = str((lab.folder / name).relative_to(lab.folder.parent))
    lab.page.evaluate(_OPENED, [path, mode])


def shown(notebook: Notebook, index: int) -> Locator:
    """The cell, of the notebook in front."""
    return notebook.cell(index).locator("visible=true")


def execute(lab: Lab, command: str) -> None:
    lab.page.evaluate(f"() => window.jupyterapp.commands.execute('triton-lab:{command}')")


def code(cell: Locator, text: str) -> Locator:
    return cell.locator(".cm-line", has_text=text).first


def caret(notebook: Notebook, index: int) -> str:
    return str(notebook.page.evaluate(_CARET, [index, False]))


def source(notebook: Notebook, index: int) -> str:
    return str(notebook.page.evaluate(_CARET, [index, True]))


def away(lab: Lab) -> None:
    lab.page.mouse.move(4, 4)


def readable_in_both_themes(lab: Lab) -> None:
    """What stands in the gutter can be read in both themes."""
    for theme in ("Dark", "Light"):
        change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
        lab.page.evaluate(change, f"JupyterLab {theme}")
        expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
        lab.screenshot(f"linked-gutter-{theme.lower()}")
        contrasts = lab.page.evaluate(_CONTRASTS)
        assert contrasts and min(contrasts) >= 4.5, (theme, contrasts)


def test_a_line_lights_up_what_it_touches_and_an_element_its_line(lab: Lab) -> None:
    asked: list[str] = []
    lab.page.on("request", lambda request: asked.append(request.url))
    notebook = run(lab, SUMS)
    cell = shown(notebook, 1)
    card = cell.locator(".tl-card")
    chosen = card.locator(".tl-names:visible [aria-selected=true]")
    expect(chosen).to_have_text("y_ptr", timeout=60_000)
    code(cell, "part = tl.load").hover()
    expect(chosen).to_have_text("x_ptr")
    expect(cell.locator(LIT)).to_contain_text("part = tl.load")
    lab.screenshot("linked-line")
    away(lab)
    expect(chosen).to_have_text("y_ptr")
    expect(cell.locator(LIT)).to_have_count(0)

    # An element's line, by pointer, by click and by keyboard.
    picture = card.locator(".tl-overlay:visible")
    picture.hover(position={"x": 120, "y": 30})
    expect(cell.locator(LIT)).to_contain_text("tl.store(y_ptr")
    lab.screenshot("linked-element")
    picture.click(position={"x": 120, "y": 30})
    expect(card.locator(".tl-chosen")).to_contain_text("program (")
    assert caret(notebook, 1) == "12"
    away(lab)
    lab.page.keyboard.press("ArrowLeft")
    expect(cell.locator(LIT)).to_contain_text("tl.store(y_ptr")

    # With the caret on a variable, what it holds: in the picked program and iteration.
    code(cell, "total += part").click(position={"x": 80, "y": 8})
    value = cell.locator(VALUE)
    card.locator(".tl-chosen + button").click()
    expect(value).to_have_text("total = 8 float32, 16 to 33   program (0, 0, 0), iteration 2 of 3")
    card.get_by_role("tab", name="Accesses", exact=True).click()
    card.get_by_role("textbox", name="number or place").locator("visible=true").fill("3")
    lab.page.keyboard.press("Enter")
    expect(value).to_contain_text("program (3, 0, 0), iteration 2 of 3")
    card.get_by_role("tab", name="x_ptr", exact=True).locator("visible=true").click()
    card.get_by_role("slider", name="iteration").locator("visible=true").fill("0")
    expect(value).to_contain_text("8 float32, 60 to 67   program (3, 0, 0), iteration 0 of 3")
    lab.screenshot("linked-value")

    # So in all pictures, where what is pointed at has a line.
    def in_tab(name: str, number: int, line: str) -> None:
        """Pointing with the keyboard at the fourth row of a tab's picture, or its last, lights ``line``."""
        card.get_by_role("tab", name=name, exact=True).locator("visible=true").click()
        card.locator(".tl-overlay:visible").nth(number).focus()
        for _ in range(4):
            lab.page.keyboard.press("ArrowDown")
        expect(cell.locator(LIT)).to_contain_text(line)
        card.locator(".tl-overlay:visible").nth(number).blur()
        expect(cell.locator(LIT)).to_have_count(0)

    card.get_by_role("tab", name="Timeline", exact=True).locator("visible=true").click()
    card.get_by_role("tab", name="y_ptr", exact=True).locator("visible=true").click()
    in_tab("Timeline", 0, "tl.store(y_ptr")
    in_tab("Grid", 1, "tl.store(y_ptr")
    in_tab("Origins", 0, "tl.store(y_ptr")
    in_tab("Origins", 1, "part = tl.load")
    lab.screenshot("linked-origins")
    code(cell, "total = tl.zeros").click(position={"x": 80, "y": 8})
    expect(value).to_have_text("total = 8 float32, 0 everywhere   program (3, 0, 0)")

    # The keyboard's ways: pick the line at the caret, and go to the one that is picked.
    execute(lab, "show-line")
    expect(card.locator(".tl-chosen")).to_contain_text("line 7")
    expect(cell.locator(PICKED)).to_contain_text("total = tl.zeros")
    lab.page.keyboard.press("Control+Home")
    execute(lab, "go-to-line")
    assert caret(notebook, 1) == "7"
    assert lab.console_errors == []
    assert [url for url in asked if "//127.0.0.1:" not in url and not url.startswith(("data:", "blob:"))] == []


def test_kernels_of_another_cell_and_of_a_file_are_linked_too(lab: Lab) -> None:
    (lab.folder / "kernels_of_mine.py").write_text(MODULE)
    notebook = run(lab, PLAIN, ELSEWHERE, FROM_FILE)
    definition, launched = shown(notebook, 1), shown(notebook, 2)
    expect(definition.locator(".triton-lab-gutter")).to_have_count(0)
    launched.locator(".tl-overlay:visible").hover(position={"x": 120, "y": 30})
    expect(definition.locator(LIT)).to_contain_text("tl.store(y_ptr")
    lab.screenshot("linked-cells")
    code(definition, "i = tl.arange").click(position={"x": 34, "y": 8})
    expect(definition.locator(VALUE)).to_have_text("i = 8 int32, 0 to 7   program (0, 0, 0)")

    last = shown(notebook, 3)
    last.locator("summary", has_text="Source").click()
    last.get_by_role("button", name="open kernels_of_mine.py at line 5").click()
    editor = lab.page.locator(".jp-FileEditor")
    expect(editor.locator(".cm-content")).to_be_visible()
    expect(lab.page.locator(".jp-StatusBar-Widget, #jp-main-statusbar")).to_contain_text("Ln 5, Col 1")
    code(editor, "i = tl.arange").click(position={"x": 34, "y": 8})
    expect(editor.locator(VALUE)).to_have_text("i = 8 int32, 0 to 7   program (0, 0, 0)")
    lab.screenshot("linked-file")
    opened(lab, "linked.ipynb")
    shown(notebook, 3).locator(".tl-overlay:visible").click(position={"x": 120, "y": 30})
    expect(editor.locator(LIT)).to_contain_text("tl.store(y_ptr")
    assert lab.console_errors == []


# What is announced stays only until the editor is drawn again.
_HEAR = """region => {
  window.heard = [];
  new MutationObserver(() => heard.push(region.textContent)).observe(region, { childList: true, subtree: true });
}"""


def test_notes_and_findings_stand_beside_the_lines_and_a_fix_edits_the_cell(lab: Lab) -> None:
    notebook = run(lab, BAD)
    cell = shown(notebook, 1)
    found = cell.locator(FOUND)
    expect(found).to_have_text("x = tl.load(x_ptr + i)", timeout=60_000)
    expect(cell.locator(NOTE)).to_have_text(["✖"])  # it was stopped before it had moved anything
    expect(shown(notebook, 0).locator(".triton-lab-gutter")).to_have_count(0)
    cell.locator(".tl-title").first.scroll_into_view_if_needed()
    message = lab.page.locator(".cm-tooltip-lint")
    found.hover(position={"x": 40, "y": 8})
    expect(message).to_contain_text("The access has no mask.")
    lab.screenshot("linked-finding")
    assert min(lab.page.evaluate(_CONTRASTS)) >= 4.5
    assert violations(lab.page, ".triton-lab-gutter, .cm-tooltip") == []  # what stands around is JupyterLab's own
    message.get_by_role("button", name="Fix: x = tl.load").click()
    assert FIXED in source(notebook, 1)
    lab.page.keyboard.press("Control+z")
    assert FIXED not in source(notebook, 1)

    # Typing makes it old, taking that back makes it new.
    code(cell, "add[(4,)]").click()
    lab.page.keyboard.press("Home")
    lab.page.keyboard.insert_text("# ")
    expect(cell.locator(".triton-lab-aged")).to_have_count(1)
    lab.screenshot("linked-aged")
    lab.page.keyboard.press("Control+z")
    expect(cell.locator(".triton-lab-aged")).to_have_count(0)

    # By the keyboard alone: the list of findings, the next one, what stands beside its line, and its remedy.
    execute(lab, "list-findings")
    panel = cell.locator(".cm-panel-lint")
    expect(panel).to_contain_text("The access has no mask.")
    expect(panel).to_contain_text("Fix: x = tl.load")
    assert violations(lab.page, ".cm-panel-lint") == []
    lab.screenshot("linked-panel")
    lab.page.keyboard.press("Control+Home")
    execute(lab, "next-finding")
    assert caret(notebook, 1) == "7"
    cell.locator(".cm-announced[aria-live=polite]").evaluate(_HEAR)
    lab.page.keyboard.press("Alt+Shift+N")
    read = lab.page.locator(".triton-lab-read")
    expect(read).to_contain_text("The access has no mask.")
    lab.page.wait_for_function("heard.some(one => one.includes('The access has no mask.'))")
    assert violations(lab.page, ".triton-lab-read") == []
    lab.screenshot("linked-read")
    lab.page.keyboard.press("ArrowRight")
    expect(read).to_have_count(0)
    lab.page.keyboard.press("Alt+Shift+F")
    assert FIXED in source(notebook, 1)
    expect(cell.locator(".triton-lab-aged")).to_have_count(1)
    notebook.run_all()
    expect(found).to_have_count(0)
    expect(cell.locator(NOTE)).to_have_text(["50%", "50%"])
    readable_in_both_themes(lab)
    code(cell, "add[(4,)]").click()
    lab.page.keyboard.insert_text(" ")
    expect(cell.locator(".triton-lab-aged")).to_have_count(1)
    readable_in_both_themes(lab)

    # They are saved with the output, and gone with it.
    lab.page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-cell-output')")
    expect(cell.locator(".triton-lab-gutter")).to_have_count(0)
    assert lab.console_errors == []


def test_notes_outlive_the_kernel_and_belong_to_one_notebook(lab: Lab) -> None:
    notebook = run(lab, SUMS)
    expect(shown(notebook, 1).locator(NOTE)).to_have_text(SAID, timeout=60_000)
    notebook.save()
    lab.close_all()
    shutil.copy(lab.folder / "linked.ipynb", lab.folder / "twin.ipynb")
    notebook = lab.open("linked.ipynb")
    cell = shown(notebook, 1)
    expect(cell.locator(NOTE)).to_have_text(SAID)
    code(cell, "total += part").click(position={"x": 80, "y": 8})
    value = cell.locator(VALUE)
    expect(value).to_contain_text("program (0, 0, 0), iteration 2 of 3")
    # Of another program nobody knows: nothing is said.
    cell.get_by_role("textbox", name="number or place").locator("visible=true").fill("3")
    lab.page.keyboard.press("Enter")
    expect(value).to_have_count(0)

    # A notebook beside it that says the same keeps to its own, and a cell's end is heard of.
    opened(lab, "twin.ipynb", mode="split-right")
    notebooks = lab.page.locator(".jp-NotebookPanel")
    expect(notebooks).to_have_count(2)
    code(notebooks.nth(1), "part = tl.load").hover()
    expect(notebooks.nth(1).locator(LIT)).to_contain_text("part = tl.load")
    expect(notebooks.nth(0).locator(LIT)).to_have_count(0)
    lab.screenshot("linked-twins")
    lab.page.evaluate(
        "() => { const { content } = window.jupyterapp.shell.currentWidget; content.model.sharedModel.deleteCell(1); }"
    )
    expect(lab.page.locator(LIT)).to_have_count(0)
    expect(lab.page.locator(".triton-lab-gutter")).to_have_count(1)
    assert lab.console_errors == []


def test_all_stays_calm_when_comm_kernel_or_extension_is_gone(lab: Lab, jupyter_server: JupyterServer) -> None:
    notebook = run(lab, SUMS, LOSE)
    cell = shown(notebook, 1)
    number = cell.get_by_role("textbox", name="number or place").locator("visible=true")
    value = cell.locator(VALUE)

    def linked() -> None:
        """Notes stand, lines and elements light up: what needs no kernel."""
        expect(cell.locator(NOTE)).to_have_text(SAID)
        code(cell, "part = tl.load").hover()
        expect(cell.locator(LIT)).to_contain_text("part = tl.load")
        away(lab)
        expect(cell.locator(".tl-names:visible [aria-selected=true]")).to_have_text("y_ptr")
        cell.locator(".tl-overlay:visible").hover(position={"x": 120, "y": 30})
        expect(cell.locator(LIT)).to_contain_text("tl.store(y_ptr")
        away(lab)
        expect(cell.locator(LIT)).to_have_count(0)

    def pick(program: int) -> None:
        number.fill(str(program))
        lab.page.keyboard.press("Enter")

    # The comm was closed by the last cell: another is opened for what is asked.
    expect(cell.locator(NOTE)).to_have_text(SAID, timeout=60_000)
    expect(shown(notebook, 2).locator(".jp-OutputArea-output")).to_contain_text("closed")
    code(cell, "total += part").click(position={"x": 80, "y": 8})
    linked()
    pick(3)
    expect(value).to_contain_text("program (3, 0, 0), iteration 2 of 3")

    # The file gets another name: all stays as it is, and values come.
    lab.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.rename('renamed.ipynb')")
    linked()
    pick(2)
    expect(value).to_contain_text("program (2, 0, 0), iteration 2 of 3")

    # The kernel dies by itself, and JupyterLab starts another.
    lab.page.evaluate(_DIE)
    died = lab.page.locator(".jp-Dialog", has_text="appears to have died")
    expect(died).to_be_visible()
    died.get_by_role("button", name="Ok").click()
    lab.page.evaluate(_ANSWERS)
    linked()
    pick(1)
    expect(value).to_have_count(0)

    # Restarted while somebody asks, then idle again: of what nobody knows any more nothing is said.
    lab.page.evaluate(_RESTARTING)
    pick(4)
    expect(value).to_have_count(0)
    lab.page.evaluate("async () => void (await window.restarted)")
    lab.page.evaluate(_ANSWERS)
    linked()
    pick(3)
    expect(value).to_contain_text("program (3, 0, 0), iteration 2 of 3")
    pick(5)
    expect(value).to_have_count(0)
    notebook.save()

    # Without a kernel.
    lab.shut_down_kernels()
    linked()
    code(cell, "part = tl.load").click(position={"x": 34, "y": 8})
    lab.page.keyboard.press("Alt+Shift+N")
    expect(lab.page.locator(".triton-lab-read")).to_contain_text("95% of the bytes that sums moves")
    execute(lab, "show-line")
    expect(cell.locator(PICKED)).to_contain_text("part = tl.load")
    lab.screenshot("linked-no-kernel")
    lab.close_all()

    # Without the extension: the HTML that was saved draws itself, else its words stand; then what its run shows.
    saved = nbformat.read(lab.folder / "renamed.ipynb", as_version=4)
    for cell_output in saved.cells[1].outputs:
        for kind in ("image/png", "text/html"):
            cell_output.data.pop(kind, None)
    nbformat.write(saved, lab.folder / "words.ipynb")
    with jupyter_server.extension_disabled():
        lab.load()
        notebook = lab.show("words.ipynb")
        output = shown(notebook, 1).locator(".jp-OutputArea-output")
        expect(output.locator("pre")).to_contain_text("sums[6, 1, 1]")
        lab.screenshot("linked-disabled-words")
        notebook = lab.show("renamed.ipynb")
        output = shown(notebook, 1).locator(".jp-OutputArea-output")
        expect(output.locator(".tl-card canvas").first).to_be_visible()
        lab.screenshot("linked-disabled-saved")
        notebook.run_all()
        expect(output.locator(".tl-card canvas").first).to_be_visible()
        expect(lab.page.locator(".triton-lab-gutter, .triton-lab-scene, .triton-lab-magic-line")).to_have_count(0)
        lab.screenshot("linked-disabled-run")
    lab.close_all()
    lab.page.goto("about:blank")  # no other test goes on in that page
    assert lab.console_errors == []


def test_notebook_7_has_the_notes_and_the_links(lab: Lab) -> None:
    written(lab, "linked.ipynb", SUMS)
    notebook = lab.open_in_notebook_7("linked.ipynb")
    notebook.run_all()
    cell = notebook.cell(1)
    expect(cell.locator(NOTE)).to_have_text(SAID, timeout=60_000)
    code(cell, "part = tl.load").hover()
    expect(cell.locator(LIT)).to_contain_text("part = tl.load")
    code(cell, "total += part").click(position={"x": 80, "y": 8})
    expect(cell.locator(VALUE)).to_contain_text("program (0, 0, 0), iteration 2 of 3")
    lab.screenshot("linked-notebook7")
    assert [error for error in lab.console_errors if error != ITS_OWN] == []
