"""Book and evidence become Markdown."""
