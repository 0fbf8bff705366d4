from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_audit_chain")]
    operations = [
        migrations.AddField(
            model_name="user",
            name="erased_at",
            field=models.DateTimeField(
                blank=True, help_text="When the identity was taken away; what they filed stays.", null=True
            ),
        ),
    ]
