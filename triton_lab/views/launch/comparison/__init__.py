"""Pictures of two results side by side: the verdict, the causes, and heatmaps of the difference."""
