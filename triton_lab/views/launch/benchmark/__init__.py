"""Pictures of measurements: sweeps over sizes, an autotuner's trials, and a launch with sliders."""
