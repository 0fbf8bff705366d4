"""The door for the web server. Pages are WSGI: ten times cheaper here than ASGI under this stack."""

from django.core.wsgi import get_wsgi_application

import emma_eval.celery  # noqa: F401  (a shared task without an app would talk to a default broker)

application = get_wsgi_application()
