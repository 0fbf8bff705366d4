"""Results, drafts, import and dashboard."""

from django.urls import path

from .views import calls, comments, correcting, coverage, dashboard, exports, filing, rounds, rows, sheet, todo

urlpatterns = [
    path("dashboard/", dashboard.dashboard, name="dashboard"),
    path("results/", rows.results, name="results"),
    path("results/<int:pk>/", rows.result, name="result"),
    path("results/new/", filing.result_new, name="result_new"),
    path("results/<int:pk>/edit/", correcting.result_edit, name="result_edit"),
    path("results/export/", exports.export_new, name="export_new"),
    path("results/export/<uuid:uuid>/", exports.export, name="export"),
    path("results/export/<uuid:uuid>/file/", exports.export_file, name="export_file"),
    path("results/<int:pk>/comments/", comments.comments, name="comments"),
    path("results/<int:pk>/comments/read/", comments.comments_read, name="comments_read"),
    path("comments/", comments.threads, name="threads"),
    path("comments/<int:pk>/withdraw/", comments.comment_withdraw, name="comment_withdraw"),
    path("calls/new/", calls.call_new, name="call_new"),
    path("calls/<uuid:uuid>/", calls.call, name="call"),
    path("calls/<uuid:uuid>/tell/", calls.call_tell, name="call_tell"),
    path("drafts/<uuid:uuid>/", filing.draft, name="draft"),
    path("drafts/<uuid:uuid>/file/", filing.draft_file, name="draft_file"),
    path("drafts/<uuid:uuid>/merge/", filing.draft_merge, name="draft_merge"),
    path("import/", sheet.import_sheet, name="import_sheet"),
    path("import/<uuid:uuid>/", sheet.import_preview, name="import_preview"),
    path("import/<uuid:uuid>/apply/", sheet.import_apply, name="import_apply"),
    path("import/<uuid:uuid>/discard/", sheet.import_discard, name="import_discard"),
    path("todo/", todo.todo, name="todo"),
    path("todo/today/", todo.todo_today, name="todo_today"),
    path("rounds/", rounds.rounds, name="rounds"),
    path("rounds/new/", rounds.round_new, name="round_new"),
    path("rounds/<int:pk>/", rounds.round_page, name="round"),
    path("rounds/<int:pk>/edit/", rounds.round_edit, name="round_edit"),
    path("rounds/<int:pk>/close/", rounds.round_close, name="round_close"),
    path("dashboard/coverage/", coverage.coverage, name="coverage"),
]
