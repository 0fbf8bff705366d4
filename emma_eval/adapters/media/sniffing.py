"""What kind of file bytes are by how they begin. Names are not asked: what FFmpeg may try is decided here."""

from __future__ import annotations

from pathlib import Path

from .kinds import BadMediaError

MATROSKA, MP4, WAV, OGG, MP3 = "matroska", "mp4", "wav", "ogg", "mp3"
DEMUXERS = {MATROSKA: "matroska", MP4: "mp4", WAV: "wav", OGG: "ogg", MP3: "mp3"}

EMPTY = "The file is empty."
NOT_MEDIA = "This is no video or sound that we know: send mp4, webm, mov, mkv, m4a, mp3, wav or ogg."
_HEAD_BYTES = 4096
_MP4_BOXES = {b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"styp", b"moof", b"pnot"}
_OTHERS = (
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a packed archive"),
    (b"7z\xbc\xaf", "a packed archive"),
    (b"Rar!", "a packed archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"#EXTM3U", "a playlist, which only names other files"),
    (b"ffconcat", "a playlist, which only names other files"),
    (b"v=0", "a playlist, which only names other files"),
    (b"\x30\x26\xb2\x75", "a Windows Media file"),
    (b"FLV", "a Flash video"),
    (b"fLaC", "a bare FLAC file"),
    (b"<", "a web page or other text"),
)


def sniff(path: Path) -> str:
    """The kind of the file. BadMediaError for what is not taken, with what it seems to be."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        if not head:
            raise BadMediaError(EMPTY)
        kind = kind_of(head)
        if kind == MP3 and head[:3] == b"ID3":
            file.seek(_tag_bytes(head))
            kind = MP3 if _is_mp3(file.read(_HEAD_BYTES).lstrip(b"\0")) else ""
    if not kind:
        raise BadMediaError(_words(head))
    return kind


def kind_of(head: bytes) -> str:
    """By the first bytes; empty for what is none of ours."""
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return MATROSKA
    if head[4:8] in _MP4_BOXES:
        return MP4
    if head[:4] in {b"RIFF", b"RF64"} and head[8:12] == b"WAVE":
        return WAV
    if head[:4] == b"OggS":
        return OGG
    return MP3 if head[:3] == b"ID3" or _is_mp3(head) else ""


def _is_mp3(head: bytes) -> bool:
    """Two headers of MPEG audio, layer 3, where the first says that the second is."""
    length = _frame_bytes(head[:4])
    return bool(length) and (len(head) <= length + 4 or bool(_frame_bytes(head[length : length + 4])))


_BITRATES = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}


def _frame_bytes(header: bytes) -> int:
    """How long the frame of this header is; 0 for what is none of layer 3."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE6 != 0xE2:
        return 0
    version, rate = header[1] >> 3 & 3, header[2] >> 2 & 3
    if version == 1 or rate == 3:
        return 0
    is_first = version == 3
    kilobits = _BITRATES[is_first][header[2] >> 4]
    return (144 if is_first else 72) * kilobits * 1000 // _RATES[version][rate] + (header[2] >> 1 & 1)


def _tag_bytes(head: bytes) -> int:
    """How long the ID3 tag in front is, with its pictures: four times seven bits, so at most 256 MiB."""
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return size + 10


def _words(head: bytes) -> str:
    if head[:4] == b"RIFF" and head[8:11] == b"AVI":
        return "This is an AVI file, which browsers don't play: save it as MP4 and send that."
    seems = next((words for start, words in _OTHERS if head.lstrip().startswith(start)), "")
    return f"This is {seems}, no recording: send mp4, webm, mov, mkv, m4a, mp3, wav or ogg." if seems else NOT_MEDIA
