"""The site: MkDocs, what a page may run, what is served with it."""
