# The throwaway container of the gated job: what labs and checks need, and no source of the project, which is mounted.
# Build it from main (docker build -f .github/gpu.Dockerfile .), push it to a registry of yours, and write its name with
# the digest into the repository variable GPU_IMAGE. torch brings the CUDA libraries; the driver is the machine's.
ARG PYTHON=python:3.12-slim
FROM ${PYTHON}
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ git && rm -rf /var/lib/apt/lists/*
WORKDIR /setup
COPY pyproject.toml README.md LICENSE LICENSE-TEXT ./
COPY proof proof
RUN pip install --no-cache-dir --upgrade 'pip>=25.1' \
 && pip install --no-cache-dir . && pip uninstall --yes triton-by-proof \
 && pip install --no-cache-dir --group test --group labs
USER 1000:1000
ENV HOME=/tmp PYTHONDONTWRITEBYTECODE=1
WORKDIR /change
