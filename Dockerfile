# The site as one image: web, worker, beat and migrate are the same image with other commands (compose.yaml).

FROM python:3.11-slim-trixie AS packages
COPY requirements/base.txt /requirements.txt
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --require-hashes --only-binary=:all: -r /requirements.txt

FROM python:3.11-slim-trixie
# pg_dump and pg_restore, of the version of compose.yaml's server, for backups.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --home-dir /var/lib/emma --shell /usr/sbin/nologin emma \
    && install -d -o emma -g emma -m 700 /var/lib/emma \
    && install -d -o emma -g emma -m 755 /srv/emma /srv/emma/served
WORKDIR /srv/emma
COPY --from=packages /opt/venv /opt/venv
COPY manage.py pyproject.toml LICENSE ./
COPY emma_eval/ emma_eval/
COPY scripts_catalog/ scripts_catalog/
COPY results/ results/
COPY templates/ templates/
COPY static/ static/
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    EMMA_VAR=/var/lib/emma \
    EMMA_STATIC=/srv/emma/served \
    GRANIAN_HOST=0.0.0.0 \
    GRANIAN_PORT=8000
RUN python -m compileall -q emma_eval scripts_catalog results
USER emma
# The static files belong to the image, so that a new release and the last one never share them. The word stands in
# for a secret while they are collected, and is kept nowhere.
RUN EMMA_SECRET_KEY=not-a-secret-only-for-collecting-static-files-of-the-image python -m emma_eval.prepare --static
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["sh", "-c", "python -m emma_eval.knock http://127.0.0.1:$GRANIAN_PORT"]
CMD ["python", "-m", "granian", "--interface", "wsgi", "--workers", "2", "--blocking-threads", "16", \
     "--respawn-failed-workers", "--no-access-log", "emma_eval.wsgi:application"]
