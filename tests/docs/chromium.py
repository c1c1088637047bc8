"""The browser that the tests drive. Run as a script, gets one if there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = "no Chromium was found: install one (on Debian: apt-get install chromium), or name it in CHROMIUM, or set BROWSER=none"


def find() -> str | None:
    """CHROMIUM, or one on PATH, or the one that playwright installs for itself."""
    for name in (os.environ.get("CHROMIUM"), *NAMES):
        if name and (found := shutil.which(name)):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def main() -> str | None:
    if find():
        return None
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("getting Chromium with apt-get", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL)
    if not find():
        print("getting Chromium with playwright", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    return None if find() else HOW


if __name__ == "__main__":
    sys.exit(main())
