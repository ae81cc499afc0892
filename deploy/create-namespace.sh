#!/bin/sh
# Creates NAMESPACE, or sets its retention anew, so that it keeps histories for RETENTION.
# Safe to run again. The server is at TEMPORAL_ADDRESS.
set -eu

attempts=30
until temporal operator cluster health --command-timeout 5s; do
    attempts=$((attempts - 1))
    if [ "$attempts" -eq 0 ]; then
        echo "Temporal at $TEMPORAL_ADDRESS is not serving" >&2
        exit 1
    fi
    sleep 2
done

if temporal operator namespace describe --namespace "$NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update --namespace "$NAMESPACE" --retention "$RETENTION"
else
    temporal operator namespace create --namespace "$NAMESPACE" --retention "$RETENTION"
fi
