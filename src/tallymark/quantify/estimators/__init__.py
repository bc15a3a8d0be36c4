"""Quantifiers as scikit-learn estimators; these need scikit-learn."""
