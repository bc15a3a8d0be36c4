"""Every metric that fits the data, with what belongs beside each number."""
