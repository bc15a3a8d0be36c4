"""Statistical inference: confidence limits, resampling and hypothesis tests."""
