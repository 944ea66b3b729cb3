#!/usr/bin/env bash
# Tests Helix of two Debian releases in a terminal: the text on the screen, and that UTF-8 is negotiated.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"

# Messages of findings have names in backticks; the file itself contains none.

# Waits until the screen shows a text.
shows() {
  local end=$((SECONDS + ${2:-90}))
  while [ "$SECONDS" -lt "$end" ]; do
    screen="$(tmux -S "$socket" capture-pane -p 2>/dev/null || true)"
    ! grep -qF -- "$1" <<<"$screen" || return 0
    sleep 0.2
  done
  return 1
}

# Waits until the screen no longer shows a text.
hides() {
  local end=$((SECONDS + 90))
  while [ "$SECONDS" -lt "$end" ]; do
    screen="$(tmux -S "$socket" capture-pane -p 2>/dev/null || true)"
    grep -qF -- "$1" <<<"$screen" || return 0
    sleep 0.2
  done
  return 1
}

keys() {
  tmux -S "$socket" send-keys "$@"
}

expect() {
  local name="$1"
  shift
  if "$@"; then
    echo "ok - $label: $name"
  else
    printf '%s\n' "$screen" >&2
    echo "not ok - $label: $name: the screen (above) does not show it"
  fi
}

starts=0
socket=""
# In a temporary directory, since paths of sockets must be short.
sockets="$(mktemp -d)"
stop_helix() {
  [ -z "$socket" ] || tmux -S "$socket" kill-server 2>/dev/null || true
}
trap 'stop_helix; rm -rf "$sockets"' EXIT

# Starts Helix at a line and column of the manifest, and waits for the findings.
start_helix() {
  open_helix "$1" "web.yaml:$2"
  shows '`$(DB_HOST)`' && shows '`$(VISITOR)`'
}

# Starts Helix and asks for a hover, until it shows a text. Helix drops a key that it gets while it starts, and a `k` without
# its Space moves the cursor: so each attempt starts again.
hovers() {
  for _ in 1 2 3 4; do
    start_helix "$1" "$2" || continue
    keys Space k
    ! shows "$3" 20 || return 0
  done
  return 1
}

# Starts Helix on a file.
open_helix() {
  stop_helix
  starts=$((starts + 1))
  # A new socket for each start, since the previous tmux server may still be shutting down.
  socket="$sockets/$starts"
  tmux -S "$socket" -f /dev/null new-session -d -x 180 -y 50 -c "$directory/project" \
    "env HOME='$directory/home' XDG_CONFIG_HOME='$directory/home' XDG_CACHE_HOME='$directory/home' TERM=tmux-256color \
      HELIX_RUNTIME='$PODLENS_TOOLS/$1/usr/lib/hx/runtime' PATH='$directory/bin:$PATH' LC_ALL=C.UTF-8 \
      '$directory/bin/hx' $2 2>'$directory/messages' || cat '$directory/messages' && sleep 300"
}

# Each test starts Helix at the right position instead of sending keys to move there: a terminal cannot distinguish
# Escape followed by a key from Alt with that key.
run_helix() {
  local release="$1"
  directory="$(new_project "$release")"
  release_program "$release" /usr/lib/hx/hx >"$directory/bin/hx"
  chmod +x "$directory/bin/hx"
  label="$("$directory/bin/hx" --version | cut -d ' ' -f 1,2)"
  ln -sf "$PODLENS_TOOLS/programs/node_modules/.bin/yaml-language-server" "$directory/bin/yaml-language-server"
  mkdir -p "$directory/home/helix"
  # The shipped configuration and one more setting, to test that settings are applied.
  sed 's/^unknown = "auto"$/&\nrules = { collapsed-dollar = "off" }/' "$here/../../editors/helix/languages.toml" \
    >"$directory/home/helix/languages.toml"
  printf '[editor]\nend-of-line-diagnostics = "hint"\n' >"$directory/home/helix/config.toml"
  # The messages of the server are saved, to check the negotiated encoding.
  rm "$directory/bin/podlens"
  printf '#!/bin/sh\n"%s" "$@" | tee "%s/from-server"\n' "$PODLENS" "$directory" >"$directory/bin/podlens"
  chmod +x "$directory/bin/podlens"

  expect "shows diagnostics" start_helix "$release" 1:1
  expect "applies the settings" hides 'escaped dollar sign'
  # On URL in the arguments.
  expect "shows a hover" hovers "$release" 36:27 "https://shop.example.com/en"
  # Before VISITOR, which follows characters of two and four bytes.
  start_helix "$release" 26:45 || true
  keys i HO
  # A name that does not occur in the file.
  expect "offers completions" shows "QUEUE_SERVICE_HOST"
  start_helix "$release" 26:45 || true
  # Deletes the whole line without entering insert mode.
  keys x d
  expect "clears a diagnostic with an edit" hides '`$(VISITOR)`'
  printf 'APP_NAME=store\nREPLICAS=3\nREPLICA=3\n' >"$directory/project/shop.params"
  open_helix "$release" shop.params
  expect "checks a parameter file" shows '`REPLICA`'
  stop_helix
  if grep -aq '"positionEncoding":"utf-8"' "$directory/from-server"; then
    echo "ok - $label: negotiates UTF-8"
  else
    echo "not ok - $label: negotiates UTF-8: the server did not select it"
  fi
}

for release in trixie forky; do
  run_helix "$release"
done
