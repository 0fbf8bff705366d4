"""The floors: what the plainest idiomatic Django needs for the same work, on the very same tables.

A project in one file, such as somebody writes in an afternoon who reads Django's tutorial and its page on
performance, and nothing of ours: the settings of `startproject` (without its admin site), a model for each table, and
a view for each thing that is compared. Nothing here is there to be slow, nor more clever than that.

    python -m granian --interface wsgi tests.bench.floors:application
    python -m tests.bench.floors SHEET.csv       imports a sheet and prints the processor time it took

FLOOR_DATABASE holds the one entry of DATABASES, as JSON.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
import uuid
from datetime import datetime

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from scripts_catalog.taxonomy import TAG_BY_KEY

TAGS = [(tag.key, tag.label) for tag in TAG_BY_KEY.values()]
TAG_OF_LABEL = {label: key for key, label in TAGS}

LIST = """
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Results</title></head>
<body>
<h1>Results</h1>
<table>
<thead><tr>
<th>Date</th><th>Script</th><th>Build</th><th>Tester</th>
<th>Listening &amp; timing</th><th>Content</th><th>Voice &amp; audio</th>
<th>Face &amp; video</th><th>Emotional fit</th><th>Vision</th>
<th>Problems</th><th>Comment</th>
</tr></thead>
<tbody>
{% for result in results %}
<tr>
<td>{{ result.called_at|date:"j M Y H:i" }}</td>
<td><a href="{% url 'result' result.pk %}">{{ result.script_version.title }}</a></td>
<td>{{ result.build.name }}</td>
<td>{{ result.tester.name }}</td>
<td>{{ result.listening_timing|default_if_none:"N/A" }}</td>
<td>{{ result.content|default_if_none:"N/A" }}</td>
<td>{{ result.voice_audio|default_if_none:"N/A" }}</td>
<td>{{ result.face_video|default_if_none:"N/A" }}</td>
<td>{{ result.emotional_fit|default_if_none:"N/A" }}</td>
<td>{{ result.vision|default_if_none:"N/A" }}</td>
<td><ol>{% for problem in result.problems.all %}<li>{{ problem.get_tag_display }}</li>{% endfor %}</ol></td>
<td>{{ result.comment|truncatechars:160 }}</td>
</tr>
{% endfor %}
</tbody>
</table>
</body>
</html>
"""

TEMPLATES = ("django.template.loaders.locmem.Loader", {"list.html": LIST})

settings.configure(
    SECRET_KEY="a floor keeps no secrets",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
        "django.contrib.staticfiles",
        __name__,
    ],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {
                "loaders": [("django.template.loaders.cached.Loader", [TEMPLATES])],
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ],
            },
        }
    ],
    DATABASES={"default": json.loads(os.environ["FLOOR_DATABASE"])},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    TIME_ZONE="Asia/Hong_Kong",
    USE_TZ=True,
    STATIC_URL="static/",
)
django.setup()

# Only now can models be made, views import them, and both stand in one file.
from django.db import models, transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt


class Tester(models.Model):
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150)

    class Meta:
        managed = False
        db_table = "accounts_user"


class Script(models.Model):
    slug = models.SlugField(unique=True)
    latest = models.ForeignKey("ScriptVersion", null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        managed = False
        db_table = "scripts_catalog_script"


class ScriptVersion(models.Model):
    title = models.CharField(max_length=120)

    class Meta:
        managed = False
        db_table = "scripts_catalog_scriptversion"


class Build(models.Model):
    name = models.CharField(max_length=60, unique=True)
    sort_key = models.CharField(max_length=160, unique=True)

    class Meta:
        managed = False
        db_table = "scripts_catalog_build"


class Result(models.Model):
    tester = models.ForeignKey(Tester, on_delete=models.PROTECT)
    draft_uuid = models.UUIDField(default=uuid.uuid4)
    call_uuid = models.UUIDField(default=uuid.uuid4)
    script = models.ForeignKey(Script, to_field="slug", on_delete=models.PROTECT)
    script_version = models.ForeignKey(ScriptVersion, on_delete=models.PROTECT)
    build = models.ForeignKey(Build, to_field="sort_key", on_delete=models.PROTECT)
    called_at = models.DateTimeField()
    filed_at = models.DateTimeField(auto_now_add=True)
    recording_link = models.CharField(max_length=2000, blank=True)
    listening_timing = models.PositiveSmallIntegerField(null=True)
    content = models.PositiveSmallIntegerField(null=True)
    voice_audio = models.PositiveSmallIntegerField(null=True)
    face_video = models.PositiveSmallIntegerField(null=True)
    emotional_fit = models.PositiveSmallIntegerField(null=True)
    vision = models.PositiveSmallIntegerField(null=True)
    camera_used = models.BooleanField(default=False)
    camera_note = models.CharField(max_length=200, blank=True)
    never_started = models.BooleanField(default=False)
    problem_order = models.CharField(max_length=10, default="overall")
    comment = models.TextField(blank=True)
    met_emma_before = models.BooleanField(default=False)
    filed_as_safety = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    reviewed_at = models.DateTimeField(null=True)
    taxonomy_edition = models.PositiveSmallIntegerField(default=1)
    browser = models.CharField(max_length=40, blank=True)
    device = models.CharField(max_length=10, blank=True)
    connection = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=40, blank=True)
    sheet_digest = models.CharField(max_length=64, blank=True)
    sheet_worst_moment = models.TextField(blank=True)
    sheet_minute_in_call = models.TextField(blank=True)

    class Meta:
        managed = False
        db_table = "results_result"


class Problem(models.Model):
    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="problems")
    tag = models.CharField(max_length=40, choices=TAGS)
    position = models.PositiveSmallIntegerField()
    rank = models.PositiveSmallIntegerField(null=True)

    class Meta:
        managed = False
        db_table = "results_problem"
        ordering = ["position"]


RATINGS = ["listening_timing", "content", "voice_audio", "face_video", "emotional_fit", "vision"]


def empty(request):
    return HttpResponse("ok")


def result_list(request):
    results = Result.objects.select_related("script_version", "build", "tester").prefetch_related("problems")
    if request.GET.get("script"):
        results = results.filter(script=request.GET["script"])
    if request.GET.get("dimension"):
        name = request.GET["dimension"]
        results = results.filter(**{f"{name}__gte": request.GET["low"], f"{name}__lte": request.GET["high"]})
    return render(request, "list.html", {"results": results.order_by("-called_at", "-id")[:50]})


def result_page(request, pk):
    return HttpResponse(f"result {pk}")


@csrf_exempt
def save(request):
    sent = request.POST
    with transaction.atomic():
        result = Result.objects.create(
            tester_id=sent["tester"],
            script_id=sent["script"],
            script_version_id=sent["script_version"],
            build_id=sent["build"],
            called_at=timezone.make_aware(datetime.fromisoformat(sent["called_at"])),
            recording_link=sent["recording_link"],
            comment=sent["comment"],
            **{name: sent[name] for name in RATINGS if name in sent},
        )
        Problem.objects.bulk_create(
            Problem(result=result, tag=tag, position=place, rank=place)
            for place, tag in enumerate(sent.getlist("problem"), 1)
        )
    return HttpResponseRedirect(reverse("result", args=[result.pk]))


urlpatterns = [
    path("empty/", empty),
    path("results/", result_list),
    path("results/<int:pk>/", result_page, name="result"),
    path("save/", save),
]
application = get_wsgi_application()


def import_sheet(file_name):
    """Each row is looked at; all of them are written, in one transaction, or none."""
    testers = {tester.email: tester for tester in Tester.objects.all()}
    scripts = {script.slug: script for script in Script.objects.all()}
    builds = {build.name: build for build in Build.objects.all()}
    results, problems = [], []
    with open(file_name, newline="", encoding="utf-8-sig") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            ratings = [_rating(row[name], line) for name in COLUMNS]
            script = scripts[row["Script"]]
            result = Result(
                tester=testers[row["Tester"]],
                script=script,
                script_version_id=script.latest_id,
                build=builds[row["Emma build"]],
                called_at=timezone.make_aware(datetime.fromisoformat(row["Timestamp"])),
                recording_link=row["Recording link"],
                comment=row["Comment"],
                met_emma_before=row["Returning user?"] == "yes",
                camera_used=ratings[-1] is not None,
                **dict(zip(RATINGS, ratings, strict=True)),
            )
            results.append(result)
            tags = [
                TAG_OF_LABEL[label]
                for name, cell in row.items()
                if name.startswith("Problems: ") and cell
                for label in cell.split(", ")
            ]
            if row["Biggest problem"]:
                tags.sort(key=lambda tag: tag != TAG_OF_LABEL[row["Biggest problem"]])
            problems += [
                Problem(result=result, tag=tag, position=place, rank=1 if place == 1 else None)
                for place, tag in enumerate(tags, 1)
            ]
    with transaction.atomic():
        Result.objects.bulk_create(results, batch_size=1000)
        Problem.objects.bulk_create(problems, batch_size=1000)
    return len(results)


COLUMNS = ["Listening & timing", "Content", "Voice & audio", "Face & video", "Emotional fit", "Vision"]


def _rating(text, line):
    if text == "n/a":
        return None
    if text not in {"1", "2", "3", "4", "5"}:
        raise ValueError(f"line {line}: {text!r} is not a rating")
    return int(text)


if __name__ == "__main__":
    began = time.process_time()
    count = import_sheet(sys.argv[1])
    print(json.dumps({"rows": count, "cpu_s": time.process_time() - began}))
