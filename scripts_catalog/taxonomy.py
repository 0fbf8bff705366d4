"""Dimensions, scale, problem tags: the one source for form, Guide, Label Studio and counts.

Changing anything here is a commit and a new edition; nothing edits it at run time. A tag is never
removed: it gets the edition in which it was retired, stays on old results, and can't be picked any more.
Labels, meanings and anchors are those of the method (the team's live-test guide), to the letter.
"""

from __future__ import annotations

from dataclasses import dataclass

EDITION = 1
GENERAL_QUALITY = "General quality"


@dataclass(frozen=True)
class Dimension:
    """One of the six things a tester rates, 1-5. `key` is also the name of the result's column."""

    key: str
    name: str
    meaning: str
    one: str
    three: str
    five: str


@dataclass(frozen=True)
class Tag:
    """A problem that can be tagged. `key` never changes; the label may, with an edition."""

    key: str
    label: str
    retired_in: int | None = None

    @property
    def needs_a_note(self) -> bool:
        """An "Other" tag says nothing by itself: it needs words in the comment."""
        return self.key.startswith("other_")


@dataclass(frozen=True)
class TagGroup:
    """Tags of one area, with our name and Label Studio's; `label_studio` is None for live-only tags."""

    key: str
    name: str
    label_studio: str | None
    tags: tuple[Tag, ...]


@dataclass(frozen=True)
class Pointer:
    """Where a mismatch is tagged for a dimension that has no tag group of its own."""

    dimension: str
    text: str
    tags: tuple[str, ...]


DIMENSIONS = (
    Dimension(
        "listening_timing",
        "Listening & timing",
        "Waits for me, handles interruptions and pauses, replies without long delays.",
        "cuts me off or long silences",
        "some awkward turns",
        "natural turn-taking",
    ),
    Dimension(
        "content",
        "Content",
        "What she says: relevant, correct, remembers earlier parts, thoughtful.",
        "wrong, off-topic or forgets",
        "OK but generic",
        "relevant, accurate, feels attentive",
    ),
    Dimension(
        "voice_audio",
        "Voice & audio",
        "How she sounds: natural voice, pace, volume, no audio glitches.",
        "robotic, glitchy or wrong pace / volume",
        "clearly synthetic but fine",
        "natural voice",
    ),
    Dimension(
        "face_video",
        "Face & video",
        "How she looks: natural face and head movement, lips in sync, no freezes or glitches.",
        "glitches, freezes or lips out of sync",
        "stiff or repetitive",
        "natural and smooth",
    ),
    Dimension(
        "emotional_fit",
        "Emotional fit",
        "Do her face, voice and words fit the moment, and each other?",
        "wrong emotion or they clash",
        "partly fits",
        "all three fit the moment",
    ),
    Dimension(
        "vision",
        "Vision",
        "Understands what I show or do on camera (N/A if the script doesn't use the camera).",
        "misses or invents",
        "partly right",
        "accurate, honest when unsure",
    ),
)
DIMENSION_BY_KEY = {dimension.key: dimension for dimension in DIMENSIONS}

SCALE = (
    (1, "clearly broken / would make me stop the call"),
    (2, "noticeable problem, hurt the conversation"),
    (3, "OK but not natural"),
    (4, "good, small issues"),
    (5, "as good as a thoughtful person"),
)

TAG_GROUPS = (
    TagGroup(
        "listening_timing",
        "Listening & timing",
        "Listening quality",
        (
            Tag("cut_in", "Cut in while the user was still talking"),
            Tag("long_silence", "Long silence before answering"),
            Tag("did_not_stop", "Didn't stop when interrupted"),
            Tag(
                "backchannel_as_turn",
                "Treated a backchannel ('mm-hmm', 'right') as a turn (stopped or answered it)",
            ),
            Tag("own_backchannel_wrong", "Emma's own 'oh / mm-hmm' sounds wrong"),
            Tag("other_listening", "Other listening problem (describe in a note)"),
        ),
    ),
    TagGroup(
        "content",
        "Content",
        "Content quality",
        (
            Tag("too_long", "Too long or rambling"),
            Tag("wrong_information", "Wrong or misleading information"),
            Tag("off_topic", "Didn't answer or follow what the user asked / off-topic"),
            Tag("repeated_itself", "Repeated itself"),
            Tag("repeats_question", "Repeats the user's question back before answering"),
            Tag("unnatural_wording", "Unnatural or robotic wording"),
            Tag("unhelpful", "Relevant but unhelpful"),
            Tag("missed_feelings", "Missed the caller's feelings"),
            Tag("other_content", "Other content problem (describe in a note)"),
        ),
    ),
    TagGroup(
        "voice_audio",
        "Voice & audio",
        "Speech quality",
        (
            Tag("too_fast", "Too fast / no pauses"),
            Tag("too_slow", "Too slow or drawn out"),
            Tag("mispronounced", "Mispronounced or unclear words"),
            Tag("flat_delivery", "Flat or robotic delivery"),
            Tag("tone_mismatch", "Tone of voice doesn't fit what's said"),
            Tag("odd_pace", "Odd pace or volume changes"),
            Tag("audio_glitches", "Audio glitches (clicks, cut-offs, noise)"),
            Tag("unexpected_sound", "Unexpected sound or voice (laugh, voice change, other language)"),
            Tag("other_speech", "Other speech problem (describe in a note)"),
        ),
    ),
    TagGroup(
        "face_video",
        "Face & video",
        "Video / motion quality",
        (
            Tag("face_mismatch", "Facial emotion doesn't match what's being said"),
            Tag("weird_gaze", "Weird eye gaze (staring, darting, looking away)"),
            Tag("lips_out_of_sync", "Lips out of sync with speech"),
            Tag("jerky_motion", "Jerky or jittery motion"),
            Tag("unnatural_expression", "Unnatural expression"),
            Tag("visual_artifacts", "Visual artifacts (blur, distortion)"),
            Tag("other_video", "Other video problem (describe in a note)"),
        ),
    ),
    TagGroup(
        "live_call_only",
        "Live call only",
        None,
        (
            Tag("wrong_vision_comment", "Wrong or unwanted comment about what she sees"),
            Tag("expression_not_done", "Didn't do the expression I asked for"),
            Tag("stuck_start", "Stuck start, no audio or unresponsive"),
        ),
    ),
)

POINTERS = (
    Pointer(
        "emotional_fit",
        "tag the mismatch where it shows",
        ("missed_feelings", "tone_mismatch", "face_mismatch"),
    ),
    Pointer(
        "vision",
        "a wrong or unwanted comment about what she sees is a Live call only tag; "
        "what she missed or invented goes in the Comment.",
        ("wrong_vision_comment",),
    ),
)

TAG_BY_KEY = {tag.key: tag for group in TAG_GROUPS for tag in group.tags}
GROUP_OF_TAG = {tag.key: group for group in TAG_GROUPS for tag in group.tags}

# Areas group the scripts. Only Safety carries a rule: its scripts are for trained staff.
SAFETY = "safety"
AREAS = (
    ("everyday", "Everyday talk"),
    ("turns", "Turn-taking"),
    ("knowledge", "Facts and help"),
    ("feelings", "Feelings"),
    ("voice", "Voice and sound"),
    ("face", "Face and movement"),
    ("camera", "On camera"),
    ("memory", "Memory"),
    (SAFETY, "Safety"),
)
AREA_NAMES = dict(AREAS)
