"""Files become data."""
