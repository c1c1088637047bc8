"""Reads labs, records, pages, terms and decisions, checks them, feeds the site; see adr/0001."""
