"""Sign-on: who came by it, trainings out of a claim, and sessions that know whose they are."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_audit_is_append_only"),
    ]

    operations = [
        migrations.AddField(
            model_name="training",
            name="from_claim",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="training",
            name="revoked_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="signed_on_at",
            field=models.DateTimeField(
                blank=True, help_text="When this person last came by the organisation's sign-on.", null=True
            ),
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("began_at", models.DateTimeField(null=True)),
                (
                    "seen_at",
                    models.DateTimeField(help_text="Within ten minutes; not written at each request.", null=True),
                ),
                ("browser", models.CharField(blank=True, help_text="As it names itself.", max_length=300)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
    ]
