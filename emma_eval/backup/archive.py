"""A backup as one tar file or as a folder: written once, as a stream, for its owner's eyes alone; read in order."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from . import manifest
from .manifest import KeptFile, Manifest
from .refused import Refused

PIECE = 1024 * 1024
FOLDERS = ("recordings", "imports", "bucket")
FILES = ("database.sqlite3", "database.pgdump", "secret_key", manifest.NAME)
COMPRESSED = re.compile(r"\.(tar\..+|tgz|tbz2?|txz|gz|bz2|xz|zst|zip|7z)$", re.IGNORECASE)
NO_MANIFEST = "{} has no manifest: it was cut off, or is no backup. Use another one."
CUT = "{} can't be read to its end: it was cut off or damaged, or is no backup. Use another one."


class Hashed(io.RawIOBase):
    """Bytes of a stream up to a size, with their checksum: a file that grows meanwhile is read as it was."""

    def __init__(self, source: IO[bytes], size: int) -> None:
        self.source, self.left, self.digest = source, size, hashlib.sha256()
        self.ended_early = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = self.left if size < 0 else min(size, self.left)
        pieces: list[bytes] = []
        while wanted and (piece := self.source.read(wanted)):  # a network stream may give less than was asked for
            pieces.append(piece)
            wanted -= len(piece)
        self.ended_early = wanted > 0
        read = b"".join(pieces)
        self.left -= len(read)
        self.digest.update(read)
        return read


class Target(Protocol):
    """What a backup is written to."""

    files: list[KeptFile]

    def add(self, name: str, source: IO[bytes], size: int, changed_at_s: float) -> None: ...


@dataclass
class _Tar:
    tar: tarfile.TarFile
    files: list[KeptFile] = field(default_factory=list)

    def add(self, name: str, source: IO[bytes], size: int, changed_at_s: float) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = size, int(changed_at_s), 0o600
        hashed = Hashed(source, size)
        try:
            self.tar.addfile(entry, hashed)
        except OSError as cause:
            if hashed.ended_early:
                raise Refused(f"{name} became shorter while it was read. Take the backup again.") from cause
            raise
        self.files.append(KeptFile(name, size, hashed.digest.hexdigest()))


@dataclass
class _Folder:
    folder: Path
    files: list[KeptFile] = field(default_factory=list)

    def add(self, name: str, source: IO[bytes], size: int, changed_at_s: float) -> None:
        path = self.folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        hashed = Hashed(source, size)
        with new_file(path) as kept:
            shutil.copyfileobj(hashed, kept, PIECE)
        if hashed.ended_early:
            raise Refused(f"{name} became shorter while it was read. Take the backup again.")
        os.utime(path, (changed_at_s, changed_at_s))
        self.files.append(KeptFile(name, size, hashed.digest.hexdigest()))


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that was not there before, for its owner's eyes alone, and on the disk when this ends."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
        yield made
        made.flush()
        os.fsync(made.fileno())


@contextmanager
def write(target: Path) -> Iterator[tuple[Target, Path]]:
    """A new backup, and a scratch folder beside it. It gets its name when it is whole, or nothing is left of it."""
    if COMPRESSED.search(target.name):
        raise Refused(f"A backup is not compressed, so {target.name} would say what it isn't: name it .tar.")
    if os.path.lexists(target):
        raise Refused(f"{target} is there already, and a backup overwrites nothing. Choose another name.")
    if not target.parent.is_dir():
        raise Refused(f"There is no folder {target.parent}. Make it, or choose another place.")
    scratch = target.parent / f".{target.name}.unfinished"
    try:
        scratch.mkdir(mode=0o700)
    except FileExistsError as cause:
        raise Refused(f"{scratch} is there: another backup is at work on it, or was killed. Remove it.") from cause
    try:
        with _written(target, scratch) as made:
            yield made, scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _written(target: Path, scratch: Path) -> Iterator[Target]:
    whole = scratch / "whole"
    if target.suffix == ".tar":
        with new_file(whole) as kept, tarfile.open(fileobj=kept, mode="w", format=tarfile.PAX_FORMAT) as tar:
            yield _Tar(tar)
        _give_name(whole, target)
    else:
        whole.mkdir(mode=0o700)
        yield _Folder(whole)
        whole.rename(target)


def _give_name(whole: Path, target: Path) -> None:
    """By a link, which refuses when somebody took the name meanwhile; where there are no links, by renaming."""
    try:
        os.link(whole, target)
    except FileExistsError as cause:
        raise Refused(f"{target} is there already, and a backup overwrites nothing. Choose another name.") from cause
    except OSError:
        whole.rename(target)


def finish(target: Target, said: Manifest, secret: str) -> None:
    """The manifest comes last: what was cut off has none."""
    written = said.to_bytes(secret)
    if len(written) > manifest.LARGEST:
        raise Refused("There are too many files for one manifest: keep the bucket by its own means.")
    target.add(manifest.NAME, io.BytesIO(written), len(written), 0)


# --- reading -------------------------------------------------------------------------------------


class _Member(tarfile.TarInfo):
    """What a tar says of a file, believed only as far as our own say it: small, and no holes in it."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        is_about_the_next = self.type in _ABOUT_THE_NEXT
        if self.size < 0 or (is_about_the_next and self.size > PIECE) or self.type == tarfile.GNUTYPE_SPARSE:
            raise Refused(f"This backup holds {self.name!r} in a way that no backup of ours does: it is not used.")
        found: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        return found

    def _no_holes(self, *said: object) -> None:
        raise Refused("This backup holds a file with holes, which no backup of ours does: it is not used.")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _no_holes


_ABOUT_THE_NEXT = {
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
}


@dataclass(frozen=True)
class Entry:
    """One file of a backup while it is being read."""

    name: str
    size: int
    changed_at_s: float
    content: IO[bytes]


@dataclass(frozen=True)
class Source:
    """A backup to read. Every reading starts from its beginning."""

    path: Path

    def entries(self) -> Iterator[Entry]:
        if self.path.is_dir():
            yield from self._in_folder()
        else:
            yield from self._in_tar()

    def _in_tar(self) -> Iterator[Entry]:
        try:
            with tarfile.open(self.path, "r:", tarinfo=_Member) as tar:
                for found in tar:
                    content = tar.extractfile(found) if found.isreg() and found.size >= 0 else None
                    if content is None:
                        raise Refused(f"{self.path} holds {found.name!r}, which is no file: this is no backup of ours.")
                    yield Entry(safe(found.name), found.size, _time(found.mtime), content)
        except (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError) as cause:
            raise Refused(CUT.format(self.path)) from cause

    def _in_folder(self) -> Iterator[Entry]:
        if not (self.path / manifest.NAME).is_file():
            raise Refused(NO_MANIFEST.format(self.path))
        for path in sorted(self.path.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise Refused(f"{self.path} holds {path.name!r}, which is no file: this is no backup of ours.")
            if path.is_file():
                about = path.stat()
                with path.open("rb") as content:
                    name = safe(path.relative_to(self.path).as_posix())
                    yield Entry(name, about.st_size, about.st_mtime, content)

    def checked(self) -> Manifest:
        """Read everything once: its manifest, if every file in it is the file that was kept."""
        found: dict[str, tuple[int, str]] = {}
        said = None
        try:
            for entry in self.entries():
                if entry.name in found:
                    raise Refused(f"{self.path} holds {entry.name!r} twice, which no backup of ours does.")
                if entry.name == manifest.NAME:
                    said = manifest.read(_small(entry, manifest.LARGEST))
                else:
                    hashed = Hashed(entry.content, entry.size)
                    while hashed.read(PIECE):
                        pass
                    found[entry.name] = (entry.size - hashed.left, hashed.digest.hexdigest())
        except tarfile.TarError as cause:  # in the middle of a file, as against between two
            raise Refused(CUT.format(self.path)) from cause
        except OSError as cause:
            raise Refused(f"{self.path} can't be read ({cause.strerror or cause}).") from cause
        if said is None:
            raise Refused(NO_MANIFEST.format(self.path))
        self._compare(said, found)
        return said

    def _compare(self, said: Manifest, found: dict[str, tuple[int, str]]) -> None:
        wrong = [f"{kept.name} is missing" for kept in said.files if kept.name not in found]
        for kept in said.files:
            if kept.name in found and found[kept.name] != (kept.size, kept.sha256):
                wrong.append(f"{kept.name} is not what was kept (its size or checksum differs)")
        wrong += [f"{name} was added later" for name in found.keys() - {kept.name for kept in said.files}]
        if wrong:
            more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
            raise Refused(f"{self.path} is damaged: {'; '.join(wrong[:5])}{more}. Use another backup.")

    def extract(self, wanted: tuple[str, ...], into: Path) -> None:
        """Write the files of these names, or below these folders, to a folder of ours."""
        for entry in self.entries():
            if entry.name.split("/", 1)[0] in wanted:
                path = into / entry.name
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with new_file(path) as kept:
                    shutil.copyfileobj(entry.content, kept, PIECE)
                os.utime(path, (entry.changed_at_s, entry.changed_at_s))

    def read(self, name: str) -> bytes | None:
        """A small file of it."""
        return next((_small(entry, PIECE) for entry in self.entries() if entry.name == name), None)


def opened(path: Path) -> Source:
    if not path.exists():
        raise Refused(f"There is no {path}.")
    if not (path.is_file() or path.is_dir()):
        raise Refused(f"{path} is neither a file nor a folder, so it is no backup.")
    return Source(path)


def _small(entry: Entry, most: int) -> bytes:
    """All of it at once, which only what we know to be small may be."""
    if entry.size > most:
        raise Refused(f"{entry.name} in this backup is larger than any of ours: it is not used.")
    return entry.content.read()


def _time(said: float) -> float:
    """A time that a file can have, whatever was written."""
    return said if 0 <= said < 2**32 else 0.0


def safe(name: str) -> str:
    """The name of a file that a backup may hold: nothing that leads out of a folder, nothing we don't know."""
    parts = PurePosixPath(name).parts
    is_ours = name in FILES or (len(parts) > 1 and parts[0] in FOLDERS)
    if not is_ours or ".." in parts or "\0" in name or name.startswith("/") or str(PurePosixPath(name)) != name:
        raise Refused(f"This backup holds {name!r}, which no backup of ours holds: it is not used.")
    return name
