"""Compiling every launch for every target without a GPU; only child processes import torch and triton."""
