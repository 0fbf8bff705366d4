"""The chain of the audit trail. What is in the trail already is linked by the worker, a batch at a time."""

from django.db import migrations, models

from emma_eval.accounts.append_only import SEAL_LINKS, UNSEAL_LINKS


def seal(apps, schema_editor):
    for statement in SEAL_LINKS[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


def unseal(apps, schema_editor):
    for statement in UNSEAL_LINKS[schema_editor.connection.vendor]:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_request_counts")]
    operations = [
        migrations.CreateModel(
            name="AuditLink",
            fields=[
                (
                    "entry",
                    models.BigIntegerField(help_text="The key of the entry.", primary_key=True, serialize=False),
                ),
                (
                    "place",
                    models.PositiveBigIntegerField(
                        help_text="From 1, without a gap, in the order of linking.", unique=True
                    ),
                ),
                (
                    "digest",
                    models.CharField(help_text="SHA-256 over the digest before and the entry.", max_length=64),
                ),
            ],
        ),
        migrations.RunPython(seal, unseal),
    ]
