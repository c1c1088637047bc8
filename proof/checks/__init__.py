"""The rules of `proof check`, one module a room or a kind of fault; proof/check.py lists them."""
