"""Reports: one self-contained HTML file with verdict, tables, charts and sliders."""
