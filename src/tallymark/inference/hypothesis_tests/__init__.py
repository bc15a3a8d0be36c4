"""Tests of models on the same rows, and of one model against chance."""
