"""Which view shows which model: what `providers` finds for a method that draws, by ``type.method``."""

from __future__ import annotations

PROVIDED = {
    "Advice.html": "triton_lab.views.compiled.advice_table:advice_html",
    "Comparison.plot": "triton_lab.views.launch.comparison.comparison_view:ComparisonView",
    "Compiled.plot": "triton_lab.views.compiled.compiled_plot:CompiledPlot",
    "CompiledList.card": "triton_lab.views.compiled.compiled_card:CompilationCard",
    "Conversion.plot": "triton_lab.views.layouts.conversion_view:ConversionView",
    "Explanation.plot": "triton_lab.views.launch.comparison.explanation_view:ExplanationView",
    "FindingList.html": "triton_lab.views.launch.card.findings_text:findings_html",
    "KernelLayouts.plot": "triton_lab.views.layouts.kernel_layouts_view:KernelLayoutsView",
    "KernelScop.plot": "triton_lab.views.polyhedral.kernel_view:KernelView",
    "Launch.page": "triton_lab.views.launch.card.launch_plot_accessor:page_of",
    "Launch.plot": "triton_lab.views.launch.card.launch_plot_accessor:LaunchPlot",
    "Launches.plot": "triton_lab.views.launch.card.launch_table:LaunchTable",
    "Layout.plot_access": "triton_lab.views.layouts.bank_view:layout_access",
    "Layout.plot": "triton_lab.views.layouts.layout_view:LayoutView",
    "Maximal.plot": "triton_lab.views.polyhedral.maximal_view:MaximalView",
    "PageDomain.plot": "triton_lab.views.polyhedral.page_view:PageFigures",
    "Parting.plot": "triton_lab.views.launch.comparison.parting_view:PartingView",
    "Proof.plot": "triton_lab.views.proofs.proof_view:ProofView",
    "Ragged.plot": "triton_lab.views.polyhedral.ragged_view:RaggedView",
    "Schedule.plot": "triton_lab.views.polyhedral.iteration_view:IterationView",
    "Step.explain": "triton_lab.views.lazy.explain:StepView",
    "Sweep.plot": "triton_lab.views.launch.benchmark.sweep_view:SweepView",
    "Totals.report": "triton_lab.views.lazy.lazy_report:LazyReport",
    "Values.compare": "triton_lab.views.launch.values.variable_view:compare",
    "Values.view": "triton_lab.views.launch.values.variable_view:VariableView",
    "Ways.plot": "triton_lab.views.polyhedral.three_ways_view:WaysView",
}
