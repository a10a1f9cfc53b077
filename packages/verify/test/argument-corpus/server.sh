#!/bin/sh
# A server whose tools need arguments that have to be found. $1: the folder of the seed data, $2: its tools as JSON.
[ "$(grep -c : /proc/net/dev)" = 1 ] || exit 1
member() { printf '%s' "$2" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] || continue
  case $line in
    *'"method":"initialize"'*)
      version=$(member protocolVersion "$line")
      say '{"protocolVersion":"'"$version"'","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *'"method":"tools/list"'*) say "{\"tools\":$2}" ;;
    *'"name":"sh_look"'*)
      if sh -c "$(member command "$line")" > /dev/null 2>&1; then say '{"content":[{"type":"text","text":"done"}]}'
      else say '{"content":[{"type":"text","text":"the command failed"}],"isError":true}'; fi ;;
    *'"name":"sh_tell_size"'*)
      if size=$(wc -c < "$(member path "$line")" 2> /dev/null); then say "{\"content\":[{\"type\":\"text\",\"text\":\"$size\"}]}"
      else say '{"content":[{"type":"text","text":"no such file"}],"isError":true}'; fi ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
  esac
done
