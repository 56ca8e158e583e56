"""Measures the steps of a PyTorch training that knows nothing of it, and makes changes inside its process."""
