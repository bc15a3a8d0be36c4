"""The mergeable summaries everything else is computed from. No metrics live here."""
