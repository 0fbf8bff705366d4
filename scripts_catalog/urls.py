"""Scripts, builds and the Guide."""

from django.urls import path

from .views import builds, files, guide, scripts, writing

urlpatterns = [
    path("guide/", guide.guide, name="guide"),
    path("scripts/", scripts.scripts, name="scripts"),
    path("scripts/new/", writing.script_new, name="script_new"),
    path("scripts/export/", files.scripts_export, name="scripts_export"),
    path("scripts/import/", files.scripts_import, name="scripts_import"),
    path("scripts/<slug:slug>/", scripts.script, name="script"),
    path("scripts/<slug:slug>/changes/", scripts.script_changes, name="script_changes"),
    path("scripts/<slug:slug>/versions/<int:number>/", scripts.script_version, name="script_version"),
    path("scripts/<slug:slug>/edit/", writing.script_edit, name="script_edit"),
    path("scripts/<slug:slug>/retire/", writing.script_retire, name="script_retire"),
    path("builds/", builds.builds, name="builds"),
    path("builds/new/", builds.build_new, name="build_new"),
    path("builds/<int:pk>/", builds.build_edit, name="build_edit"),
    path("builds/<int:pk>/current/", builds.build_make_current, name="build_make_current"),
]
