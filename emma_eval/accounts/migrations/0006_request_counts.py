from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0005_programs_and_leads"),
    ]

    operations = [
        migrations.CreateModel(
            name="RequestCount",
            fields=[
                (
                    "key",
                    models.CharField(
                        help_text="A digest of whose requests are counted.",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "began_ms",
                    models.BigIntegerField(help_text="When the minute began, in milliseconds since 1970."),
                ),
                ("requests", models.PositiveIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name="apitoken",
            name="expiry_told_at",
            field=models.DateTimeField(
                blank=True, help_text="When the audit trail was told that it had expired.", null=True
            ),
        ),
    ]
