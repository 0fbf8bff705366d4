"""Who may open which address. A new address stands here, or test_access.py fails by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from emma_eval.accounts.roles import Role

from .world import ANONYMOUS, NAMES, NO_ROLE, World

PUBLIC = frozenset(NAMES)
SIGNED_IN = PUBLIC - {ANONYMOUS}
MEMBERS = SIGNED_IN - {NO_ROLE}
TESTER = frozenset({Role.TESTER.value})
EVAL_TEAM = frozenset({Role.EVAL_TEAM.value})
MANAGER_AND_EVAL = EVAL_TEAM | {Role.MANAGER.value}
PLANNERS = MANAGER_AND_EVAL | {Role.EVAL_LEAD.value}
MANAGER_EVAL_AND_LEAD = MANAGER_AND_EVAL | {Role.EVAL_LEAD.value}
LEAD = frozenset({Role.EVAL_LEAD.value})
REVIEWERS = EVAL_TEAM | LEAD
ENDPOINT_OWNERS = MANAGER_AND_EVAL | {Role.EVAL_LEAD.value, Role.ADMINISTRATOR.value}
PEOPLE_ADMINS = frozenset({Role.MANAGER.value, Role.ADMINISTRATOR.value})
ADMINISTRATOR = frozenset({Role.ADMINISTRATOR.value})

Args = Callable[[World], dict[str, Any]]


@dataclass(frozen=True)
class Page:
    """`who` may open it; `args` make its address; `hidden` makes the address of a thing of Safety behind it.

    `absent`: it may rightly answer 404 to somebody who may open it. `only_some_send`: some who may read it are refused
    by 403 when they send. `others`: what it answers about a thing that is somebody else's, to a colleague of the
    same role.
    """

    who: frozenset[str]
    args: Args = lambda world: {}
    hidden: Args | None = None
    absent: bool = False
    only_some_send: bool = False
    others: tuple[Args, int] | None = None


def address(name: str, args: Args, world: World) -> str:
    return reverse(name, kwargs=args(world))


def _script(world: World) -> dict[str, Any]:
    return {"slug": world.script.slug}


def _hidden_script(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"slug": world.hidden.script.slug}


def _version(world: World) -> dict[str, Any]:
    return {"slug": world.script.slug, "number": 1}


def _hidden_version(world: World) -> dict[str, Any]:
    return {**_hidden_script(world), "number": 1}


def _build(world: World) -> dict[str, Any]:
    return {"pk": world.build.pk}


def _result(world: World) -> dict[str, Any]:
    return {"pk": world.result.pk}


def _hidden_result(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"pk": world.hidden.result.pk}


def _hidden_own_result(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"pk": world.hidden.own_result.pk}


def _comment(world: World) -> dict[str, Any]:
    return {"pk": world.comment.pk}


def _hidden_comment(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"pk": world.hidden.comment.pk}


def _ticket(world: World) -> dict[str, Any]:
    return {"pk": world.ticket.pk}


def _hidden_ticket(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"pk": world.hidden.ticket.pk}


def _draft(world: World) -> dict[str, Any]:
    return {"uuid": world.draft.uuid}


def _call(world: World) -> dict[str, Any]:
    return {"uuid": world.call.uuid}


def _recording(world: World) -> dict[str, Any]:
    return {"uuid": world.recording.pk}


def _hidden_recording(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"uuid": world.hidden.recording.pk}


def _note(world: World) -> dict[str, Any]:
    return {**_recording(world), "pk": world.note.pk}


def _hidden_note(world: World) -> dict[str, Any]:
    assert world.hidden
    return {**_hidden_recording(world), "pk": world.hidden.note.pk}


def _receiving(world: World) -> dict[str, Any]:
    return {"uuid": world.receiving.pk}


def _hidden_receiving(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"uuid": world.hidden.receiving.pk}


def _sending(world: World) -> dict[str, Any]:
    return {"uuid": world.sending.pk}


def _hidden_sending(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"uuid": world.hidden.sending.pk}


def _hidden_call(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"uuid": world.hidden.call.uuid}


def _upload(world: World) -> dict[str, Any]:
    return {"uuid": world.upload.uuid}


def _hidden_upload(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"uuid": world.hidden.upload.uuid}


def _export(world: World) -> dict[str, Any]:
    return {"uuid": world.export.uuid}


def _hidden_export(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"uuid": world.hidden.export.uuid}


def _round(world: World) -> dict[str, Any]:
    return {"pk": world.round.pk}


def _hidden_round(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"pk": world.hidden.round.pk}


def _view(world: World) -> dict[str, Any]:
    return {"pk": world.view.pk}


def _mailed_view(world: World) -> dict[str, Any]:
    return {"pk": world.mailed.pk}


def _hidden_view(world: World) -> dict[str, Any]:
    assert world.hidden
    return {"pk": world.hidden.view.pk}


def _target(world: World) -> dict[str, Any]:
    return {"pk": world.target.pk}


def _invited(world: World) -> dict[str, Any]:
    return {"pk": world.invited.pk}


def _eval_member(world: World) -> dict[str, Any]:
    return {"pk": world.user(Role.EVAL_TEAM.value).pk}


def _endpoint(world: World) -> dict[str, Any]:
    return {"pk": world.delivery.endpoint_id}


def _delivery(world: World) -> dict[str, Any]:
    return {**_endpoint(world), "delivery_pk": world.delivery.pk}


def _hidden_delivery(world: World) -> dict[str, Any]:
    assert world.hidden
    return {**_endpoint(world), "delivery_pk": world.hidden.delivery.pk}


ACCESS = {
    # the house
    "healthz": Page(PUBLIC),
    "readyz": Page(PUBLIC),
    "home": Page(MEMBERS),
    # signing in
    "account_login": Page(PUBLIC),
    "account_logout": Page(PUBLIC),
    "account_inactive": Page(PUBLIC),
    "account_signup": Page(PUBLIC),
    "account_reset_password": Page(PUBLIC),
    "account_reset_password_done": Page(PUBLIC),
    "account_reset_password_from_key": Page(PUBLIC, lambda world: {"uidb36": "1", "key": "abc-def"}),
    "account_reset_password_from_key_done": Page(PUBLIC),
    "account_reauthenticate": Page(SIGNED_IN),
    "account_change_password": Page(SIGNED_IN),
    "account_set_password": Page(SIGNED_IN),
    "mfa_authenticate": Page(PUBLIC),
    "mfa_reauthenticate": Page(SIGNED_IN),
    "mfa_index": Page(SIGNED_IN),
    "mfa_activate_totp": Page(SIGNED_IN),
    "mfa_deactivate_totp": Page(SIGNED_IN, absent=True),
    "mfa_view_recovery_codes": Page(SIGNED_IN, absent=True),
    "mfa_generate_recovery_codes": Page(SIGNED_IN),
    "mfa_download_recovery_codes": Page(SIGNED_IN, absent=True),
    "sign_on": Page(PUBLIC, absent=True),
    "sign_on_back": Page(PUBLIC, absent=True),
    "link_in": Page(PUBLIC, lambda world: {"token": "made-up"}, absent=True),
    "signed_in": Page(SIGNED_IN),
    "own_data": Page(SIGNED_IN),
    "session_end": Page(SIGNED_IN),
    "sessions_end_others": Page(SIGNED_IN),
    "accept_invitation": Page(PUBLIC, lambda world: {"token": world.invitation.token}),
    # people
    "people": Page(PEOPLE_ADMINS),
    "invite": Page(PEOPLE_ADMINS),
    "person": Page(PEOPLE_ADMINS, _target),
    "person_roles": Page(ADMINISTRATOR, _target),
    "person_training": Page(ADMINISTRATOR, _target),
    "person_training_revoke": Page(
        ADMINISTRATOR, lambda world: {"pk": world.target.pk, "training_pk": world.training.pk}
    ),
    "person_sessions_end": Page(ADMINISTRATOR, _target),
    "person_session_end": Page(ADMINISTRATOR, _target),
    "person_erase": Page(ADMINISTRATOR, _target),
    "person_deactivate": Page(ADMINISTRATOR, _target),
    "person_reactivate": Page(ADMINISTRATOR, _target),
    "person_invite_again": Page(PEOPLE_ADMINS, _invited, absent=True),
    "person_invitation_revoke": Page(PEOPLE_ADMINS, _invited, absent=True),
    "audit_trail": Page(ADMINISTRATOR),
    # programs; what opens by a token stands in endpoints.py
    "programs": Page(MEMBERS),
    "program_revoke": Page(MEMBERS, lambda world: {"pk": 1}, absent=True),
    "interface": Page(MEMBERS),
    "interface_document": Page(PUBLIC),
    # webhooks
    "webhooks": Page(ENDPOINT_OWNERS),
    "webhook_new": Page(ENDPOINT_OWNERS),
    **{
        name: Page(ENDPOINT_OWNERS, _endpoint, absent=True, others=(_endpoint, 404))
        for name in (
            *("webhook", "webhook_edit", "webhook_test", "webhook_pause", "webhook_resume"),
            *("webhook_rotate", "webhook_drop_old_secret", "webhook_remove"),
        )
    },
    "webhook_replay": Page(ENDPOINT_OWNERS, _delivery, hidden=_hidden_delivery, absent=True, others=(_delivery, 404)),
    # scripts
    "guide": Page(MEMBERS),
    "scripts": Page(MEMBERS),
    "script": Page(MEMBERS, _script, hidden=_hidden_script),
    "script_changes": Page(MEMBERS, _script, hidden=_hidden_script),
    "script_version": Page(MEMBERS, _version, hidden=_hidden_version),
    "script_new": Page(EVAL_TEAM),
    "script_edit": Page(EVAL_TEAM, _script, hidden=_hidden_script),
    "script_retire": Page(EVAL_TEAM, _script, hidden=_hidden_script),
    "scripts_export": Page(EVAL_TEAM),
    "scripts_import": Page(EVAL_TEAM),
    "builds": Page(EVAL_TEAM),
    "build_new": Page(EVAL_TEAM),
    "build_edit": Page(EVAL_TEAM, _build),
    "build_make_current": Page(EVAL_TEAM, _build),
    # results
    "agreement": Page(MANAGER_AND_EVAL | {Role.EVAL_LEAD.value}),
    "compare": Page(MANAGER_AND_EVAL | {Role.EVAL_LEAD.value}),
    "dashboard": Page(MANAGER_AND_EVAL | {Role.EVAL_LEAD.value}),
    "script_dashboard": Page(MANAGER_AND_EVAL | {Role.EVAL_LEAD.value}, _script, hidden=_hidden_script),
    "results": Page(MEMBERS),
    "result": Page(MEMBERS, _result, hidden=_hidden_result),
    "result_new": Page(TESTER),
    "result_edit": Page(TESTER, _result, hidden=_hidden_own_result, others=(_result, 403)),
    "draft": Page(TESTER, _draft),
    "draft_file": Page(TESTER, _draft, absent=True),
    "draft_merge": Page(TESTER, _draft, absent=True),
    "todo": Page(TESTER, absent=True),
    "todo_today": Page(TESTER),
    # rounds and coverage
    "rounds": Page(PLANNERS),
    "round_new": Page(PLANNERS),
    "round": Page(PLANNERS, _round, hidden=_hidden_round),
    "round_edit": Page(PLANNERS, _round, hidden=_hidden_round),
    "round_close": Page(PLANNERS, _round, hidden=_hidden_round),
    "coverage": Page(PLANNERS),
    "heard_calls": Page(PLANNERS),
    # saved views
    "views": Page(MEMBERS),
    "view_new": Page(MEMBERS),
    "view_edit": Page(MEMBERS, _view, hidden=_hidden_view, absent=True, others=(_view, 404)),
    "view_remove": Page(MEMBERS, _view, hidden=_hidden_view, absent=True, others=(_view, 404)),
    "view_digest": Page(PLANNERS, _mailed_view, hidden=_hidden_view, absent=True, others=(_mailed_view, 404)),
    # reviews
    "review_queue": Page(REVIEWERS),
    "review_next": Page(REVIEWERS),
    "review": Page(REVIEWERS, _result, hidden=_hidden_result),
    "review_begin": Page(REVIEWERS, _result, hidden=_hidden_result),
    "review_save": Page(REVIEWERS, _result, hidden=_hidden_result),
    "review_leave": Page(REVIEWERS, _result, hidden=_hidden_result),
    "review_pick": Page(LEAD, _result, hidden=_hidden_result, absent=True),
    # comments
    "comments": Page(MEMBERS, _result, hidden=_hidden_result),
    "comments_read": Page(MEMBERS, _result, hidden=_hidden_result),
    "threads": Page(MEMBERS),
    "comment_withdraw": Page(MEMBERS, _comment, hidden=_hidden_comment, absent=True),
    # gold
    "gold": Page(LEAD),
    "gold_set": Page(LEAD, _result, hidden=_hidden_result),
    "reviewers_agreement": Page(REVIEWERS),
    # tickets
    "tickets": Page(MANAGER_EVAL_AND_LEAD),
    "ticket_new": Page(MANAGER_EVAL_AND_LEAD),
    "ticket": Page(MANAGER_EVAL_AND_LEAD, _ticket, hidden=_hidden_ticket),
    # beside a call
    "call_new": Page(TESTER, absent=True),
    "call": Page(TESTER, _call, hidden=_hidden_call, others=(_call, 404)),
    "call_tell": Page(TESTER, _call, hidden=_hidden_call, others=(_call, 404)),
    # recordings: as they come, by their tester alone
    "recording_begin": Page(TESTER, _call, hidden=_hidden_call, others=(_call, 404)),
    **{
        name: Page(TESTER, _receiving, hidden=_hidden_receiving, others=(_receiving, 404))
        for name in ("recording_take", "recording_chunks", "recording_finish")
    },
    "upload_new": Page(TESTER, absent=True),
    **{
        name: Page(TESTER, _sending, hidden=_hidden_sending, others=(_sending, 404))
        for name in ("upload_parts", "upload_finish", "upload_drop")
    },
    # recordings: as they are played
    "recording": Page(MEMBERS, _recording, hidden=_hidden_recording),
    "recording_links": Page(MEMBERS, _recording, hidden=_hidden_recording),
    "recording_offset": Page(MEMBERS, _recording, hidden=_hidden_recording, only_some_send=True),
    "recording_sides": Page(MEMBERS, _recording, hidden=_hidden_recording, only_some_send=True),
    "recording_try_again": Page(MEMBERS, _recording, hidden=_hidden_recording, only_some_send=True),
    "recording_notes": Page(MEMBERS, _recording, hidden=_hidden_recording),
    "recording_note_withdraw": Page(MEMBERS, _note, hidden=_hidden_note, absent=True),
    "recording_captions": Page(MEMBERS, _recording, hidden=_hidden_recording, only_some_send=True),
    # recordings: as they go
    "recording_remove": Page(TESTER | LEAD | ADMINISTRATOR, _recording, hidden=_hidden_recording, absent=True),
    "recording_watches": Page(LEAD | ADMINISTRATOR, _recording, hidden=_hidden_recording),
    # exports
    "export_new": Page(MANAGER_AND_EVAL),
    "export": Page(MANAGER_AND_EVAL, _export, hidden=_hidden_export, absent=True, others=(_export, 404)),
    "export_file": Page(MANAGER_AND_EVAL, _export, hidden=_hidden_export, absent=True, others=(_export, 404)),
    # what comes and goes by a signed link: the link is the right, and this one was signed by nobody
    "kept": Page(PUBLIC, lambda world: {"token": "nobody.signed-this"}),
    # the old sheet
    "import_sheet": Page(EVAL_TEAM),
    "import_preview": Page(EVAL_TEAM, _upload, hidden=_hidden_upload, others=(_upload, 404)),
    "import_apply": Page(EVAL_TEAM, _upload, hidden=_hidden_upload, others=(_upload, 404)),
    "import_discard": Page(EVAL_TEAM, _upload, others=(_upload, 404)),
}
