"""What a page says: Markdown, macros, terms, numbers, and whether both languages agree."""
