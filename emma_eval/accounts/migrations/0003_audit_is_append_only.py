"""Triggers that refuse to change or remove a line of the audit trail."""

from django.db import migrations

from emma_eval.accounts.append_only import SEAL, UNSEAL


def seal(apps, schema_editor):
    for statement in SEAL[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


def unseal(apps, schema_editor):
    for statement in UNSEAL[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_roles")]
    operations = [migrations.RunPython(seal, unseal)]
