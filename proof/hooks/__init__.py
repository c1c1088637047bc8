"""The only place that knows MkDocs: events that call pure functions, and the two builds."""
