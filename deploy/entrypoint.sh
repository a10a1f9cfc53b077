#!/bin/sh
# Runs `assay` in the image. A variable may be in a file, as Docker and Kubernetes mount secrets: ASSAY_TOKEN_FILE for
# ASSAY_TOKEN and ASSAY_DATABASE_URL_FILE for ASSAY_DATABASE_URL. ASSAY_KEY_FILE is a variable of Assay itself.
set -eu

read_file() {
  eval "file=\${$1_FILE:-}"
  [ -n "$file" ] || return 0
  eval "given=\${$1:-}"
  if [ -n "$given" ]; then
    echo "assay-entrypoint: $1 and $1_FILE are both set. Unset one of them." >&2
    exit 2
  fi
  if [ ! -f "$file" ] || [ ! -r "$file" ]; then
    echo "assay-entrypoint: $1_FILE names $file, which is not a file that uid $(id -u) can read. Mount it, or change its mode." >&2
    exit 2
  fi
  value=$(cat "$file")
  if [ -z "$value" ]; then
    echo "assay-entrypoint: $1_FILE names $file, which is empty. Write the value into it." >&2
    exit 2
  fi
  export "$1=$value"
  unset "$1_FILE"
}

read_file ASSAY_TOKEN
read_file ASSAY_DATABASE_URL

# `docker run IMAGE npx …` and a shell for a look around still work.
case "${1:-}" in
  node | npm | npx | sh | bash) exec "$@" ;;
esac
exec assay "$@"
