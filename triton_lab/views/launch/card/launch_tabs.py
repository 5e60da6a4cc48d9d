"""The table of the pictures of a launch: a row for each tab of its card.

The words of ``%%triton --show`` and its help, the tabs of a card and its static forms all follow from the table. A new
picture needs a `View` and its `Panel` in a module of their own, its drawing in `front/`, a row here, and a method of
`launch_plot.Pictures`.
"""

from __future__ import annotations

from triton_lab.localization import N_
from triton_lab.views.launch.card.card_tab import Tab

# In the order of the tabs: the word of --show, the tab's label, its help, and its panel.
TABS = (
    Tab(
        "comparison",
        N_("GPU and CPU"),
        "",
        "triton_lab.views.launch.comparison.comparison_view:ComparisonPanel",
        "both_ran",
    ),
    Tab(
        "tiling",
        N_("Tiling"),
        N_("which program touches each element"),
        "triton_lab.views.launch.tiling.tiling_view:TilingPanel",
        "touched",
    ),
    Tab(
        "accesses",
        N_("Accesses"),
        N_("how often each element is touched"),
        "triton_lab.views.launch.accesses.accesses_view:AccessesPanel",
        "touched",
    ),
    Tab(
        "timeline",
        N_("Timeline"),
        N_("which elements are touched when"),
        "triton_lab.views.launch.accesses.timeline_view:TimelinePanel",
        "over_time",
    ),
    Tab(
        "storage",
        N_("Storage"),
        N_("the tensors as they lie in memory"),
        "triton_lab.views.launch.storage.storage_view:StoragePanel",
        "tensors",
    ),
    Tab(
        "grid",
        N_("Grid"),
        N_("the programs in the order in which they start"),
        "triton_lab.views.launch.tiling.grid_view:GridPanel",
    ),
    Tab(
        "values",
        N_("Values"),
        N_("the values of a program's variables at its end"),
        "triton_lab.views.launch.values.program_variables:ValuesPanel",
        "replays",
        words=("value", "touched"),
    ),
    Tab(
        "steps",
        N_("Steps"),
        N_("one program step by step"),
        "triton_lab.views.launch.values.steps_view:StepsPanel",
        "replays",
        words=("assigned",),
        window=1,
    ),
    Tab(
        "pipeline",
        N_("Pipeline"),
        N_("asynchronous copies, products and waits of a program over time"),
        "triton_lab.views.launch.values.pipeline_view:PipelinePanel",
        "has_film",
    ),
    Tab(
        "shared_memory",
        N_("Shared memory"),
        N_("which bank of shared memory holds which element, and what a warp accesses at once"),
        "triton_lab.views.launch.storage.shared_memory_view:SharedMemoryPanel",
        "has_film",
    ),
    Tab(
        "origins",
        N_("Origins"),
        N_("the loaded elements behind a stored element"),
        "triton_lab.views.launch.values.origins_view:OriginsPanel",
        "followable",
        words=("origin",),
    ),
    Tab(
        "autotune",
        N_("Autotuner"),
        N_("the configurations that an autotuner tried and chose"),
        "triton_lab.views.launch.benchmark.autotune_view:AutotunePanel",
        "tuned",
    ),
    # A card shows these beside its tabs.
    Tab("source", N_("Source"), N_("the kernel's lines, and the memory that each touches")),
    Tab("findings", N_("Findings"), N_("errors, warnings and notes")),
)

# Further tabs of a card whose launch was compiled; `compiled.plot` has their methods. A panel with a picture for each
# compilation is a `CompiledPanel`.
COMPILED_TABS = (
    Tab(
        "compiled",
        N_("Compiled"),
        N_("registers, shared memory, instructions"),
        "triton_lab.views.compiled.resource_table:SummaryPanel",
        "",
    ),
    Tab(
        "stages",
        N_("Stages"),
        N_("the source beside every stage"),
        "triton_lab.views.compiled.stages_view:StagesPanel",
        "",
    ),
    Tab(
        "transactions",
        N_("Transactions"),
        N_("requests, sectors and bank conflicts of each access"),
        "triton_lab.views.compiled.transactions_view:TransactionsPanel",
        "",
    ),
    Tab(
        "cost",
        N_("Cost"),
        N_("bytes, operations, roofline, and each line's share"),
        "triton_lab.views.compiled.cost_view:CostPanel",
        "",
    ),
    Tab(
        "layouts",
        N_("Layouts"),
        N_("which thread holds which element"),
        "triton_lab.views.compiled.layouts_tab:LayoutsPanel",
        "",
    ),
    Tab("passes", N_("Passes"), N_("what each pass changed"), "triton_lab.views.compiled.passes_view:PassesPanel", ""),
)

SHOWN = tuple(tab.name for tab in TABS if tab.help)
# Further words of --show for a launch that is compiled.
COMPILED_SHOWN = tuple(tab.name for tab in COMPILED_TABS)
