#!/bin/sh
# Creates NAMESPACE, or sets its retention anew, so that it keeps histories for RETENTION; then adds the search
# attributes that it lacks, those of workers/search_attributes.py. Safe to run again.
# The server is at TEMPORAL_ADDRESS.
set -eu

# Tries a command until it works, for about a minute.
patiently() {
    attempts=30
    until "$@"; do
        attempts=$((attempts - 1))
        if [ "$attempts" -eq 0 ]; then
            echo "Temporal at $TEMPORAL_ADDRESS does not do this: $*" >&2
            exit 1
        fi
        sleep 2
    done
}

patiently temporal operator cluster health --command-timeout 5s

if temporal operator namespace describe --namespace "$NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update --namespace "$NAMESPACE" --retention "$RETENTION"
else
    temporal operator namespace create --namespace "$NAMESPACE" --retention "$RETENTION"
fi

add_missing() {
    # The server learns of a new namespace some seconds after it was created.
    there=$(temporal operator search-attribute list --namespace "$NAMESPACE") || return 1
    for wanted in \
        SurefootAgent:Keyword \
        SurefootStatus:Keyword \
        SurefootTurns:Int \
        SurefootFailures:Int \
        SurefootLastErrorCode:Keyword \
        SurefootErrorCodes:KeywordList \
        SurefootCost:Double; do
        name=${wanted%:*}
        kind=${wanted#*:}
        if ! printf '%s\n' "$there" | grep -Eq "^ *$name +$kind *\$"; then
            temporal operator search-attribute create --namespace "$NAMESPACE" --name "$name" --type "$kind" ||
                return 1
        fi
    done
}

patiently add_missing
