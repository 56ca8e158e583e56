"""Measures the iterations of a PyTorch training that is not ours, and makes changes between them (docs/own_job.md)."""
