"""The playground's evaluator beside Triton's own interpreter."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # before anything imports triton
