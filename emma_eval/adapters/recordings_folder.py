"""Recordings in a folder of this machine, with the same interface as a bucket.

A file gets its name only when all of it is there and is what was announced: it is written beside, checked, brought to
the disk, and moved. What is on its way lies under `.arriving`, where no key leads.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from .recordings import (
    Kept,
    Link,
    MismatchError,
    NoSuchKeyError,
    NotKeptError,
    SentPart,
    StoreError,
    StoreFullError,
    checked_key,
    checked_prefix,
)
from .recordings_links import Right, read, sign

ARRIVING = ".arriving"
PIECE = 64 * 1024
_UPLOAD = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"([0-9]{5})-([0-9a-f]{64})")
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Source(Protocol):
    """What a body comes from."""

    def read(self, size: int, /) -> bytes: ...


@contextmanager
def _told() -> Iterator[None]:
    """What the system raises, as an error of ours. A disk is mended or emptied by people: later may help."""
    try:
        yield
    except FileNotFoundError as cause:
        raise NotKeptError("There is no such recording, or no longer.") from cause
    except OSError as cause:
        if cause.errno in _FULL:
            raise StoreFullError("The disk that recordings are kept on is full.") from cause
        raise StoreError("The folder of recordings can't be read or written to.") from cause


@dataclass(frozen=True)
class FolderStore:
    """`address` makes the address of a token; `known_secrets` also open links that were signed before."""

    folder: Path
    secret: str = field(repr=False)
    address: Callable[[str], str]
    known_secrets: tuple[str, ...] = field(default=(), repr=False)
    now: Callable[[], float] = time.time
    unfinished_s: int = 21 * 24 * 3600

    # --- links -----------------------------------------------------------------------------------

    def put_link(self, key: str, *, size: int, media_type: str, sha256: str, holds_s: int) -> Link:
        right = Right("put", checked_key(key), self._until(holds_s), media_type=media_type, size=size, sha256=sha256)
        return Link(self._link(right), {"Content-Type": media_type})

    def get_link(self, key: str, *, media_type: str, holds_s: int, saved_as: str = "") -> str:
        right = Right("get", checked_key(key), self._until(holds_s), media_type=media_type, saved_as=saved_as)
        return self._link(right)

    def part_link(self, key: str, upload_id: str, number: int, *, size: int, sha256: str, holds_s: int) -> Link:
        until = self._until(holds_s)
        right = Right("part", checked_key(key), until, size=size, sha256=sha256, upload_id=upload_id, number=number)
        return Link(self._link(right), {})

    def right(self, token: str) -> Right:
        """What a link allows now; a LinkError in words where that is nothing."""
        return read(token, (self.secret, *self.known_secrets), self.now())

    def _until(self, holds_s: int) -> int:
        return int(self.now()) + holds_s

    def _link(self, right: Right) -> str:
        return self.address(sign(right, self.secret))

    # --- what comes by a link --------------------------------------------------------------------

    def receive(self, right: Right, source: Source) -> str:
        """Take in what a link to send announced, piece by piece; its ETag. MismatchError where it is something else."""
        if right.act == "part":
            place = self._upload(right.key, right.upload_id) / f"{right.number:05}-{right.sha256}"
        else:
            place = self.path(right.key)
        with _told(), self._beside(place, is_part=right.act == "part") as target:
            _copy_checked(source, target, right.size, right.sha256)
        with _told():
            if right.act != "part":
                return _etag(place)
            _forget_earlier(place)
            return right.sha256

    # --- in parts --------------------------------------------------------------------------------

    def begin_parts(self, key: str, *, media_type: str) -> str:
        upload_id = secrets.token_hex(16)
        self._forget_unfinished()
        with _told():
            folder = self.folder / ARRIVING / upload_id
            folder.mkdir(mode=0o700, parents=True)
            (folder / "key").write_text(checked_key(key))
        return upload_id

    def parts(self, key: str, upload_id: str) -> Sequence[SentPart]:
        folder = self._upload(key, upload_id)
        with _told():
            return [part for part, _ in _parts_in(folder)]

    def finish_parts(self, key: str, upload_id: str, parts: Sequence[SentPart]) -> Kept:
        wanted = sorted(parts, key=lambda part: part.number)
        try:
            self._join(key, upload_id, wanted)
        except NotKeptError:
            kept = self.look(key)
            if kept is None:
                raise
        else:
            kept = self.look(key)
        if kept is None or kept.size != sum(part.size for part in wanted):
            raise MismatchError("The file that is kept is not as long as its parts.")
        return kept

    def _join(self, key: str, upload_id: str, wanted: Sequence[SentPart]) -> None:
        folder = self._upload(key, upload_id)
        place = self.path(key)
        with _told():
            found = {(part.number, part.etag): path for part, path in _parts_in(folder)}
            paths = [found[part.number, part.etag] for part in wanted if (part.number, part.etag) in found]
            if not paths or len(paths) < len(wanted):
                raise MismatchError("A part is missing, or is another than the one that was announced.")
            with self._beside(place) as target:
                for path in paths:
                    with path.open("rb") as source:
                        shutil.copyfileobj(source, target, 1024 * 1024)
            shutil.rmtree(folder, ignore_errors=True)

    def drop_parts(self, key: str, upload_id: str) -> None:
        with suppress(NotKeptError):
            folder = self._upload(key, upload_id)
            shutil.rmtree(folder, ignore_errors=True)

    def _forget_unfinished(self) -> None:
        """What nobody went on with for days, as a bucket's lifecycle does: whoever begins something new sees to it."""
        for left in (self.folder / ARRIVING).glob("*"):
            with suppress(OSError):
                if left.stat().st_mtime < self.now() - self.unfinished_s:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()

    def _upload(self, key: str, upload_id: str) -> Path:
        """Where the parts of an upload lie. NotKeptError for one that is over, or of another key."""
        folder = self.folder / ARRIVING / upload_id
        checked_key(key)
        if not _UPLOAD.fullmatch(upload_id):
            raise NotKeptError("There is no such upload.")
        with _told():
            if (folder / "key").read_text() != key:
                raise NotKeptError("There is no such upload of this file.")
        return folder

    # --- whole files -----------------------------------------------------------------------------

    def look(self, key: str) -> Kept | None:
        place = self.path(key)
        try:
            with _told():
                return Kept(key, place.stat().st_size, _etag(place)) if place.is_file() else None
        except NotKeptError:
            return None

    def under(self, prefix: str) -> Iterator[Kept]:
        above = self.folder / checked_prefix(prefix).rpartition("/")[0]
        for path, folders, names in os.walk(above):
            folders[:] = sorted(name for name in folders if name != ARRIVING)
            for name in sorted(names):
                key = (Path(path) / name).relative_to(self.folder).as_posix()
                with suppress(NoSuchKeyError):  # none of ours: somebody laid it there
                    if key.startswith(prefix) and (kept := self.look(key)):
                        yield kept

    @contextmanager
    def open(self, key: str) -> Iterator[IO[bytes]]:
        with self.opened(key) as source:
            yield source

    def opened(self, key: str) -> IO[bytes]:
        """The same for who closes it later."""
        with _told():
            return self.path(key).open("rb")

    def path(self, key: str) -> Path:
        """Where a file lies: within our folder, whatever its key says."""
        place = self.folder / checked_key(key)
        if not place.resolve().is_relative_to(self.folder.resolve()):
            raise NoSuchKeyError("A recording lies nowhere but in its folder.")
        return place

    def fetch(self, key: str, path: Path) -> None:
        with _told():
            shutil.copyfile(self.path(key), path)

    def keep(self, key: str, path: Path, *, media_type: str) -> Kept:
        place = self.path(key)
        with _told():
            with path.open("rb") as source, self._beside(place) as target:
                shutil.copyfileobj(source, target, 1024 * 1024)
            return Kept(key, place.stat().st_size, _etag(place))

    def remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            place = self.path(key)
            with suppress(NotKeptError), _told():
                place.unlink()
            self._remove_empty(place.parent)

    def _remove_empty(self, folder: Path) -> None:
        with suppress(OSError):  # what is not empty stays
            while folder != self.folder:
                folder.rmdir()
                folder = folder.parent

    @contextmanager
    def _beside(self, place: Path, *, is_part: bool = False) -> Iterator[IO[bytes]]:
        """A file that takes its place when the block ends well, all of it on the disk; else it never was.

        The folder of an upload is there, or the upload is over. Any other folder is made: it may have been removed
        with the last file in it at this very moment.
        """
        arriving = self.folder / ARRIVING
        arriving.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = arriving / f"{secrets.token_hex(16)}.part"
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
                yield target
                target.flush()
                os.fsync(target.fileno())
            if not is_part:
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.replace(path, place)
            _bring_to_disk(place.parent)
        finally:
            path.unlink(missing_ok=True)


def _etag(place: Path) -> str:
    about = place.stat()
    return f"{about.st_mtime_ns:x}-{about.st_size:x}"


def _copy_checked(source: Source, target: IO[bytes], size: int, sha256: str) -> None:
    """Exactly so many bytes, with this digest; never more of them than a piece in memory."""
    seen, left = hashlib.sha256(), size
    while left and (piece := source.read(min(PIECE, left))):
        seen.update(piece)
        target.write(piece)
        left -= len(piece)
    if left:
        raise MismatchError("Less arrived than was announced.")
    if seen.hexdigest() != sha256:
        raise MismatchError("What arrived is not what was announced: its SHA-256 is another.")


def _parts_in(folder: Path) -> list[tuple[SentPart, Path]]:
    """By number. Of two with one number the newer counts: the older is removed at any moment."""
    found: dict[int, tuple[SentPart, Path]] = {}
    for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns):
        if named := _PART.fullmatch(path.name):
            number, sha256 = int(named[1]), named[2]
            found[number] = (SentPart(number, path.stat().st_size, sha256, sha256), path)
    return [found[number] for number in sorted(found)]


def _forget_earlier(place: Path) -> None:
    """An earlier part of the same number, sent with other content. Of two at a time the later one stays."""
    came_at = place.stat().st_mtime_ns
    for other in place.parent.glob(f"{place.name[:5]}-*"):
        with suppress(FileNotFoundError):
            if other != place and other.stat().st_mtime_ns < came_at:
                other.unlink()


def _bring_to_disk(folder: Path) -> None:
    """That a file has its name, too, outlasts a machine that dies."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
