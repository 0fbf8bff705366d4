"""Results, drafts, import and dashboard."""

from django.urls import path

from .views import correcting, filing, rows

urlpatterns = [
    path("results/", rows.results, name="results"),
    path("results/<int:pk>/", rows.result, name="result"),
    path("results/new/", filing.result_new, name="result_new"),
    path("results/<int:pk>/edit/", correcting.result_edit, name="result_edit"),
    path("drafts/<uuid:uuid>/", filing.draft, name="draft"),
    path("drafts/<uuid:uuid>/file/", filing.draft_file, name="draft_file"),
    path("drafts/<uuid:uuid>/merge/", filing.draft_merge, name="draft_merge"),
    path("todo/", correcting.todo, name="todo"),
]
