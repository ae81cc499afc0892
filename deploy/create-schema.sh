#!/bin/sh
# Creates Temporal's two databases, or brings their schemas up to this image's version; safe to run again.
# Where the database is comes from SQL_HOST, SQL_PORT, SQL_USER, SQL_PASSWORD and SQL_PLUGIN.
set -eu

migrate() {
    database=$1
    versions=$2
    temporal-sql-tool --db "$database" create
    # Leaves a schema that is past 0.0 alone.
    temporal-sql-tool --db "$database" setup-schema -v 0.0
    temporal-sql-tool --db "$database" update-schema -d "$versions"
}

migrate temporal /etc/temporal/schema/postgresql/v12/temporal/versioned
migrate temporal_visibility /etc/temporal/schema/postgresql/v12/visibility/versioned
