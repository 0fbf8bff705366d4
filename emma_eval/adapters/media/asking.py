"""Have a media file read by a child, and wait for its answer."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from .kinds import (
    BAD_MEDIA,
    NO_MEMORY,
    SOUND_HEAD,
    BadMediaError,
    InterruptedWorkError,
    Joined,
    Media,
    Run,
    Segment,
    Sound,
)

log = logging.getLogger(__name__)

MEMORY_BYTES = 1536 * 1024**2
LARGEST_FILE_BYTES = 9 * 1024**3
LOOK_CPU_S = 60
SOUND_CPU_S = 2 * 3600
MAKING_CPU_S = 3 * 3600
BEAT_S = 5.0

TOO_MUCH = "Reading the file takes more time or memory than a recording may: save it in a simpler form and send that."
UNREADABLE = "The file can't be read: the decoder broke off. Save it in another form and send that."
_MODULE = ["-m", "emma_eval.adapters.media"]
_HOUSE = Path(__file__).resolve().parents[3]
_ITS_OWN_FAULT = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
_TOO_MUCH = {signal.SIGXCPU, signal.SIGXFSZ}

Beat = Callable[[], None]


def no_beat() -> None:
    """For whoever has no lease to keep."""


def look_into(path: Path) -> Media:
    """What the file really is. BadMediaError for what can't be played."""
    return Media(**ask("look", path, cpu_s=LOOK_CPU_S))


def sound_of(path: Path) -> Iterator[Sound]:
    """What is heard in the file, from its beginning to its end; nothing where it has no sound.

    About half a second at a time, whatever the length of the file. BadMediaError where it can't be read.
    """
    with _child("sound", path, SOUND_CPU_S, {}) as child:
        yield from _stretches(cast(IO[bytes], child.process.stdout))
        child.answer()


def join_takes(runs: Sequence[Run], folder: Path, beat: Beat = no_beat) -> Joined:
    """Join what was recorded of a call into one file in this folder, end to end, copied wherever that can be.

    What can't be read is left out. BadMediaError where nothing can be read.
    """
    asked = [asdict(run) | {"path": str(run.path.absolute())} for run in runs]
    said = ask("join", folder, cpu_s=MAKING_CPU_S, beat=beat, folder=folder.absolute(), runs=asked)
    return Joined(folder / said["path"], [Segment(**each) for each in said["segments"]], said["unread"])


def take_in(path: Path, folder: Path, beat: Beat = no_beat) -> Path:
    """Make a file in this folder that browsers play and seek in, of what was sent, copied wherever that can be.

    BadMediaError, in words for its sender, for what is no recording or can't be brought into such a form.
    """
    said = ask("take in", path, cpu_s=MAKING_CPU_S, beat=beat, folder=folder.absolute())
    return folder / str(said["name"])


def draw_thumbnail(path: Path, folder: Path, lasts_ms: int) -> Path | None:
    """Write a JPEG of a frame that is not black; None where there is no picture."""
    said = ask("draw", path, cpu_s=LOOK_CPU_S, folder=folder.absolute(), lasts_s=lasts_ms / 1000)
    return folder / "thumbnail.jpg" if said["drawn"] else None


def ask(act: str, path: Path, *, cpu_s: float, beat: Beat = no_beat, **more: object) -> dict[str, Any]:
    """Have an act done and wait for what it says; `beat` is called every few seconds, and may end it by raising."""
    with _child(act, path, cpu_s, more) as child:
        while True:
            try:
                child.process.wait(BEAT_S)
            except subprocess.TimeoutExpired:
                beat()
            else:
                return child.answer()


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    answers: IO[bytes]
    words: IO[bytes]

    def answer(self) -> dict[str, Any]:
        """What it answered, once it ended; or the error of how it ended."""
        code = self.process.wait()
        self.answers.seek(0)
        said = self.answers.read()
        if code == 0:
            answer: dict[str, Any] = json.loads(said)
            return answer
        if code == BAD_MEDIA:
            raise BadMediaError(json.loads(said)["fault"])
        raise self._fault(code)

    def _fault(self, code: int) -> Exception:
        self.words.seek(0)
        log.warning("reading a media file ended with %s: %s", code, self.words.read()[-2000:].decode(errors="replace"))
        if code == NO_MEMORY or -code in _TOO_MUCH:
            return BadMediaError(TOO_MUCH)
        if code > 0 or -code in _ITS_OWN_FAULT:
            return BadMediaError(UNREADABLE)
        return InterruptedWorkError(f"reading a media file was interrupted: {code}")


@contextmanager
def _child(act: str, path: Path, cpu_s: float, more: Mapping[str, object]) -> Iterator[_Child]:
    """A child at work; gone afterwards, however this ends. It knows neither our environment nor our files."""
    with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as words:
        process = subprocess.Popen(  # noqa: S603  (our own interpreter, and no word of a stranger)
            [sys.executable, *_MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            cwd=_HOUSE,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            pass_fds=[answers.fileno()],
        )
        try:
            _give(process, act, path, cpu_s, {"answer_fd": answers.fileno(), **more})
            yield _Child(process, answers, words)
        finally:
            _end(process)


def _give(process: subprocess.Popen[bytes], act: str, path: Path, cpu_s: float, more: Mapping[str, object]) -> None:
    limits = {"cpu_s": int(cpu_s), "memory_bytes": MEMORY_BYTES, "file_bytes": LARGEST_FILE_BYTES}
    request = {"act": act, "path": str(path.absolute()), "limits": limits, **more}
    asked = cast(IO[bytes], process.stdin)
    try:
        asked.write(json.dumps(request, default=str).encode() + b"\n")
        asked.flush()
    except BrokenPipeError:
        log.warning("the child ended before it was asked")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _stretches(file: IO[bytes]) -> Iterator[Sound]:
    import numpy as np

    while len(start := file.read(SOUND_HEAD.size)) == SOUND_HEAD.size:
        at_ms, sides, count = SOUND_HEAD.unpack(start)
        data = file.read(sides * count * 4)
        if len(data) < sides * count * 4:
            return
        yield Sound(at_ms, np.ascontiguousarray(np.frombuffer(data, np.float32).reshape(count, sides).T))
