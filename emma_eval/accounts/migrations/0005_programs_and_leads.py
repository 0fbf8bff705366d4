"""Tokens of programs, and the role of who leads the eval team."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def make_role(apps, schema_editor):
    apps.get_model("auth", "Group").objects.get_or_create(name="eval lead")


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_sign_on'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('begins_with', models.CharField(help_text='To tell tokens apart by.', max_length=16)),
                ('scopes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('used_at', models.DateTimeField(blank=True, help_text='About when it was last used.', null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.RunPython(make_role, migrations.RunPython.noop),
    ]
