"""Quantifiers in scikit-learn's shape; these need scikit-learn."""
