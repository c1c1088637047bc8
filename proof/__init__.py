"""Reads labs, records, pages, terms and decisions, checks that they agree, and feeds the site; adr/0001 says why."""
