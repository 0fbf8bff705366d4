"""The audit trail and its chain are append-only in the database itself: triggers refuse to change or remove a row."""

from __future__ import annotations

TABLE = "accounts_auditentry"
SAYS = "the audit trail is append-only"

_SQLITE = {
    verb: (
        f"CREATE TRIGGER audit_no_{verb.lower()} BEFORE {verb} ON {TABLE} BEGIN SELECT RAISE(ABORT, '{SAYS}'); END",
        f"DROP TRIGGER IF EXISTS audit_no_{verb.lower()}",
    )
    for verb in ("UPDATE", "DELETE")
}
_REFUSE = f"""
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '{SAYS}' USING ERRCODE = 'integrity_constraint_violation'; END $$
"""
_GUARD_ROWS = f"""
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON {TABLE}
FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
"""
_GUARD_TABLE = f"""
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON {TABLE}
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
"""

# Applied by a migration: what is changed here needs a new one.
SEAL: dict[str, tuple[str, ...]] = {
    "sqlite": tuple(seal for seal, _ in _SQLITE.values()),
    "postgresql": (_REFUSE, _GUARD_ROWS, _GUARD_TABLE),
}
UNSEAL: dict[str, tuple[str, ...]] = {
    "sqlite": tuple(unseal for _, unseal in _SQLITE.values()),
    "postgresql": (
        f"DROP TRIGGER IF EXISTS audit_no_change ON {TABLE}",
        f"DROP TRIGGER IF EXISTS audit_no_truncate ON {TABLE}",
        "DROP FUNCTION IF EXISTS audit_is_append_only()",
    ),
}

# The chain of the trail is guarded alike, on PostgreSQL by the same function: it goes before that, and comes after.
LINKS = "accounts_auditlink"
SEAL_LINKS: dict[str, tuple[str, ...]] = {
    "sqlite": tuple(
        f"CREATE TRIGGER audit_links_no_{verb.lower()} BEFORE {verb} ON {LINKS} "
        f"BEGIN SELECT RAISE(ABORT, '{SAYS}'); END"
        for verb in ("UPDATE", "DELETE")
    ),
    "postgresql": (
        f"CREATE TRIGGER audit_links_no_change BEFORE UPDATE OR DELETE ON {LINKS} "
        "FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()",
        f"CREATE TRIGGER audit_links_no_truncate BEFORE TRUNCATE ON {LINKS} "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()",
    ),
}
UNSEAL_LINKS: dict[str, tuple[str, ...]] = {
    "sqlite": tuple(f"DROP TRIGGER IF EXISTS audit_links_no_{verb}" for verb in ("update", "delete")),
    "postgresql": tuple(f"DROP TRIGGER IF EXISTS audit_links_no_{what} ON {LINKS}" for what in ("change", "truncate")),
}
