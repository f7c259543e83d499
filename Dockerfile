# One image for the web server and the workers. Build: docker build -t karat .
FROM python:3.12-slim-bookworm AS build
COPY requirements-setup.lock requirements.lock ./
RUN python -m venv /opt/karat \
 && /opt/karat/bin/pip install --no-cache-dir --require-hashes -r requirements.lock

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin karat \
 && install -d -o karat -g karat -m 0700 /data
COPY --from=build /opt/karat /opt/karat
WORKDIR /app
COPY manage.py pyproject.toml requirements.lock README.md LICENSE ./
COPY apps apps
# Its user cannot write here, so each container would compile all of it at each start.
RUN python -m compileall -q --invalidation-mode unchecked-hash apps
COPY docs docs
COPY templates templates
COPY static static
ENV PATH=/opt/karat/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=apps.config.settings \
    KARAT_PRODUCTION=1 \
    KARAT_DATA_DIR=/data \
    KARAT_STATIC_ROOT=/app/collected
RUN install -d -o karat /app/collected \
 && KARAT_ALLOWED_HOSTS=build SECRET_KEY=$(python -c "import secrets; print(secrets.token_urlsafe(48))") \
    python manage.py collectstatic --noinput --verbosity 0
USER karat
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen(r.Request('http://127.0.0.1:8000/healthz', headers={'X-Forwarded-Proto': 'https'}))"]
CMD ["python", "manage.py", "web", "--host", "0.0.0.0"]
