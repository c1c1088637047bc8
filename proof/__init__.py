"""Reads labs, records, pages, terms and decisions, checks that they agree, and feeds the site. See DESIGN in adr/."""
