"""The rules of `proof check`, one module a room or a kind of fault; rules.py lists them."""
