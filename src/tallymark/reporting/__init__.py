"""Reports: one HTML file that reads like a statistician's note, with sliders."""
