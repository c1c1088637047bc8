"""Running labs, and filing what they measured."""
