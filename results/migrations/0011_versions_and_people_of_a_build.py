from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('results', '0010_queue_for_review'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='result',
            name='result_script_build',
        ),
        migrations.AddIndex(
            model_name='result',
            index=models.Index(
                fields=[
                    'script', 'build', 'id', 'filed_as_safety', 'never_started', 'script_version', 'taxonomy_edition', 'tester',
                ],
                name='result_script_build',
            ),
        ),
    ]
