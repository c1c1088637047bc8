"""What is known: states of claims, what was compiled, what cannot be."""
