#!/bin/bash
# Builds deploy/Dockerfile with buildah on a base of mmdebstrap with the Node of this repository, and runs the image's
# main job in it: as uid 10001, with a read-only root file system, without capabilities. Needs root, buildah, mmdebstrap,
# bubblewrap, and the registries of Debian and npm. Takes a few minutes; TRY_DIR keeps the base and the image.
set -euo pipefail
cd "$(dirname "$0")/../.."
TRY_DIR=${TRY_DIR:-$(mktemp -d)}
mkdir -p "$TRY_DIR"
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
BUILDAH=(buildah --root "$TRY_DIR/storage" --runroot "$TRY_DIR/run")
for need in buildah mmdebstrap bwrap curl; do
  command -v "$need" >/dev/null || { echo "$need is missing: apt-get install buildah mmdebstrap bubblewrap curl" >&2; exit 2; }
done

make_base() {
  [ -e "$TRY_DIR/base" ] || mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$TRY_DIR/base"
  local npm; npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  install -D -m 755 node_modules/node/bin/node "$TRY_DIR/base/usr/local/bin/node"
  rm -rf "$TRY_DIR/base/usr/local/lib/node_modules"
  mkdir -p "$TRY_DIR/base/usr/local/lib/node_modules"
  cp -R "$npm" "$TRY_DIR/base/usr/local/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$TRY_DIR/base/usr/local/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$TRY_DIR/base/usr/local/bin/npx"
  # A machine may trust further authorities, such as that of its proxy.
  cp -L /etc/ssl/certs/ca-certificates.crt "$TRY_DIR/base/etc/ssl/certs/ca-certificates.crt"
  local container; container=$("${BUILDAH[@]}" from scratch)
  "${BUILDAH[@]}" add --quiet "$container" "$TRY_DIR/base" / >/dev/null
  "${BUILDAH[@]}" config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  "${BUILDAH[@]}" commit --quiet --rm "$container" localhost/assay-base >/dev/null
}

if [ -z "${TRY_REUSE:-}" ]; then
echo "== base"
make_base
echo "== image"
"${BUILDAH[@]}" bud --quiet --format docker --build-arg BASE=localhost/assay-base --file deploy/Dockerfile --tag assay:try . >/dev/null
fi

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }
image=$("${BUILDAH[@]}" from --pull-never assay:try)
root=$("${BUILDAH[@]}" mount "$image")
# Another user has to reach it.
for ((up = 1; up < 6; up++)); do folder=$root; for ((i = 0; i < up; i++)); do folder=$(dirname "$folder"); done; [ "$folder" = "$(dirname "$TRY_DIR")" ] && break; chmod a+x "$folder"; done
place=$(mktemp -d)
trap '[ -n "${init:-}" ] && kill -KILL "$init" 2>/dev/null; "${BUILDAH[@]}" rm "$image" >/dev/null; rm -rf "$place"' EXIT
say "size: Assay $(du -sm "$root/opt/assay" | cut -f1) MB, root file system $(du -smx "$root" | cut -f1) MB, without its base $(($(du -smx "$root" | cut -f1) - $(du -sm "$TRY_DIR/base" | cut -f1))) MB"

# What the image says of itself, as a runtime reads it.
"${BUILDAH[@]}" inspect --type image assay:try >"$place/image.json"
read_config() { node -e "const c = JSON.parse(require('fs').readFileSync('$place/image.json')).Docker.config; console.log($1)"; }
[ "$(read_config c.User)" = 10001:10001 ] || fail 'the user is not a number'
[ "$(read_config c.StopSignal)" = SIGTERM ] || fail 'no stop signal'

mkdir -p "$place/home" "$place/config" "$place/secrets"
token=$(head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n')
printf %s "$token" >"$place/secrets/token"
head -c 32 /dev/urandom | base64 >"$place/secrets/keys"
cp test/deploy/echo-server.mjs "$place/config/"
cat >"$place/config/mcp.json" <<'JSON'
{ "mcpServers": {
    "plain": { "command": "node", "args": ["/etc/assay/echo-server.mjs"] },
    "twin": { "command": "node", "args": ["/etc/assay/echo-server.mjs"], "sandbox": "twin", "roots": ["/etc/assay"] } } }
JSON
chown -R 10001:10001 "$place"
chmod 755 "$place"

# The image's environment and command in a container of bubblewrap: uid 10001, no capabilities, no new privileges, only
# /tmp and the home writable, processes of its own, the loopback interface of this machine.
port=${TRY_PORT:-4444}
env=(); while IFS= read -r line; do env+=("$line"); done < <(read_config 'c.Env.join("\n")')
command=(); while IFS= read -r line; do command+=("$line"); done < <(read_config '[...c.Entrypoint, ...c.Cmd].join("\n")')
contain() {
  setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
    env -i "${env[@]}" ASSAY_TOKEN_FILE=/run/secrets/token ASSAY_KEY_FILE=/run/secrets/keys \
    bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --die-with-parent "$@"
}
binds=(--ro-bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --bind "$place/home" /var/lib/assay
  --ro-bind "$place/config" /etc/assay --tmpfs /run --ro-bind "$place/secrets" /run/secrets --chdir /var/lib/assay --as-pid-1)
inside() { contain "${binds[@]}" -- "$@"; }

say "== run: ${command[*]}"
contain --info-fd 3 "${binds[@]}" -- "${command[@]}" 3>"$place/info" >"$place/stdout" 2>"$place/stderr" &
bwrap=$!
for _ in $(seq 600); do curl -fsS "http://127.0.0.1:$port/health" >/dev/null 2>&1 && break; sleep 0.1; done
init=$(node -p "JSON.parse(require('fs').readFileSync('$place/info'))['child-pid']")
curl -fsS "http://127.0.0.1:$port/health" >/dev/null || { cat "$place/stderr"; fail 'it does not answer'; }
say "process 1: $(tr '\0' ' ' <"/proc/$init/cmdline")"
main=$(pgrep -P "$init" -f 'main.js|assay' | head -1)
grep -q '^NoNewPrivs:.*1' "/proc/$main/status" || fail 'it may get new privileges'
[ "$(awk '/^Uid:/ { print $2 }' "/proc/$main/status")" = 10001 ] || fail 'it does not run as uid 10001'
nsenter_node() { nsenter --target "$init" --user --mount --pid --setuid 10001 --setgid 10001 "$@"; }
nsenter_node sh -c 'touch /opt/assay/x' 2>/dev/null && fail 'the root file system is writable'
say 'runs as uid 10001, no new privileges, read-only root file system'

mapfile -t health < <(read_config 'c.Healthcheck.Test.slice(1).join("\n")')
nsenter_node env PATH=/usr/local/bin:/usr/bin:/bin "${health[@]}" && say 'its health check passes' || fail 'its health check fails'

call() {
  curl -sS "http://127.0.0.1:$port/mcp/all" --header 'content-type: application/json' --header "authorization: Bearer ${2-$token}" \
    --header 'accept: application/json, text/event-stream' --header 'mcp-protocol-version: 2026-07-28' \
    --header 'mcp-method: tools/call' --header "mcp-name: $1" --write-out ' HTTP %{http_code}' --data \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":{\"text\":\"hello\"},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"try\",\"version\":\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{}}}}"
}
say "without a token: $(call plain_echo '' | tail -c 9)"
call plain_echo '' | grep -q 'HTTP 401' || fail 'a call without a token is not refused'
call plain_echo | grep -q 'hello from uid 10001' || fail "a call: $(call plain_echo)"
say 'a call through a stdio server: hello from uid 10001'
call plain_orphan >/dev/null
for _ in $(seq 100); do sleep 0.1; zombies=$(ps -o stat= --ppid "$init" | grep -c Z || true); sleeps=$(pgrep -c -P "$init" -x sleep || true); [ "$zombies$sleeps" = 00 ] && break; done
[ "$zombies$sleeps" = 00 ] || fail "$zombies zombies of process 1"
say 'no zombie is left of a process whose parent has ended'
say "server in a sandbox: $(call twin_echo | head -c 300)"
say "assay sandbox check: $(nsenter_node env PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp assay sandbox check 2>&1 | head -5)"

say '== stop'
started=$(date +%s%N)
kill -TERM "$init"
wait "$bwrap" && code=0 || code=$?
say "ended with $code after $((($(date +%s%N) - started) / 1000000)) ms"
init=
[ "$code" = 0 ] || { tail -5 "$place/stderr"; fail 'it did not end in order'; }

say '== where the runtime allows no user namespaces'
contain --disable-userns "${binds[@]}" -- assay-entrypoint sandbox check 2>&1 | head -8 || true

say '== secrets'
! grep -rqF "$token" "$root/opt/assay" "$root/etc" "$place/stdout" "$place/stderr" "$place/home" || fail 'the token is in a file'
say 'the token is in no file of the image, the home or the log'
inside env ASSAY_TOKEN=also assay-entrypoint serve 2>&1 | head -3 || true
say 'OK'
