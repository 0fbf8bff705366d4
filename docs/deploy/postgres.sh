#!/bin/sh
# Run once by the image of PostgreSQL, when its volume is new: a role and a database for the site. The role owns its
# database and nothing else. The superuser, `postgres`, keeps no password: it gets in from inside the container alone.
set -eu
psql -q -v ON_ERROR_STOP=1 --username postgres --dbname postgres -v password="$EMMA_POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE emma LOGIN PASSWORD :'password';
CREATE DATABASE emma OWNER emma;
REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;
ALTER ROLE postgres PASSWORD NULL;
SQL
