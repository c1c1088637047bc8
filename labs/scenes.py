"""Scenes: what a lab shows in processes of their own, such as a fault, or a tool that watches one.

Each scene takes seconds, most of them to import torch, so those of a whole run start together.
"""

import concurrent.futures
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge import DEVICE
from claims import Bug
from process import run_in_process
from sanitizer import sanitize


# --8<-- [start:scenes]
@dataclass(frozen=True)
class Scene:
    """An expression over the lab, and the process in which it is evaluated."""

    expression: str  # or, with a tool, the claim that is judged
    environment: Mapping[str, str] = field(default_factory=dict)  # added to that of this process
    first: str = ""  # a statement that runs before the lab is imported
    shows: str = "value"  # "value" of the expression, or "text" that the process prints
    tool: str = ""  # of compute-sanitizer, which watches
    padding: int = 0  # bytes that the tool leaves free after each allocation
    bug: str = ""  # name of the seeded bug in the copy of the lab that the tool watches


class Stage:
    """Plays the scenes of one lab, each once."""

    def __init__(self, lab: Path, scenes: Mapping[str, Scene], bugs: list[Bug]) -> None:
        self.lab = lab
        self.scenes = scenes
        self.bugs = {bug.name: bug for bug in bugs}
        self.pool = concurrent.futures.ThreadPoolExecutor(len(scenes))
        self.started: dict[str, concurrent.futures.Future[Any]] = {}

    def result(self, name: str, is_program: bool) -> Any:
        """What came of a scene. In a run of the whole lab on a GPU, all start with the first."""
        named = {"--only", "--bug"} & {argument.partition("=")[0] for argument in sys.argv}
        whole_run = is_program and DEVICE == "cuda" and not named
        for other in self.scenes if whole_run else (name,):
            if other not in self.started:
                self.started[other] = self.pool.submit(self.play, self.scenes[other])
        return self.started[name].result()

    def play(self, scene: Scene) -> Any:
        """Evaluate the expression of a scene, under its tool if it has one."""
        lab, environment = self.lab, scene.environment
        if scene.tool:
            bug = self.bugs.get(scene.bug)
            return sanitize(lab, scene.expression, scene.tool, bug, scene.padding, **environment)
        outcome = run_in_process(lab, scene.expression, first=scene.first, **environment)
        return outcome.text if scene.shows == "text" else outcome.value

    # --8<-- [end:scenes]
