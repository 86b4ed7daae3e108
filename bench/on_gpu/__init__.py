"""What bench/gpu_models.py consists of."""
