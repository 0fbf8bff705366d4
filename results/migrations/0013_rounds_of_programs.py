from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("results", "0012_queue_of_the_untrained")]

    operations = [
        migrations.AddField(
            model_name="round",
            name="uuid",
            field=models.UUIDField(
                blank=True, help_text="Under which a program planned it; of others none.", null=True
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.UniqueConstraint(fields=("begun_by", "uuid"), name="round_planned_once"),
        ),
    ]
