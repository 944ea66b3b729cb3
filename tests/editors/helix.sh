#!/usr/bin/env bash
# Helix of two Debian releases in a terminal: what is seen on the screen, and that both sides count in UTF-8.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"

# Waits until the screen shows a text.
sees() {
  local end=$((SECONDS + 90))
  while [ "$SECONDS" -lt "$end" ]; do
    screen="$(tmux -S "$socket" capture-pane -p 2>/dev/null || true)"
    ! grep -qF -- "$1" <<<"$screen" || return 0
    sleep 0.2
  done
  return 1
}

# Waits until it does not show one any more.
misses() {
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

verdict() {
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
# Sockets have short paths, whatever the length of this one.
sockets="$(mktemp -d)"
end_helix() {
  [ -z "$socket" ] || tmux -S "$socket" kill-server 2>/dev/null || true
}
trap 'end_helix; rm -rf "$sockets"' EXIT

# Starts Helix at a place of the manifest, and waits until the server has spoken.
start_helix() {
  open_helix "$1" "web.yaml:$2"
  sees "declared only later" && sees "nothing defines"
}

# Starts Helix on a file.
open_helix() {
  end_helix
  starts=$((starts + 1))
  # A socket of its own for each start: one that is going away cannot be in the way.
  socket="$sockets/$starts"
  tmux -S "$socket" -f /dev/null new-session -d -x 180 -y 50 -c "$directory/project" \
    "env HOME='$directory/home' XDG_CONFIG_HOME='$directory/home' XDG_CACHE_HOME='$directory/home' TERM=tmux-256color \
      HELIX_RUNTIME='$PODLENS_TOOLS/$1/usr/lib/hx/runtime' PATH='$directory/bin:$PATH' LC_ALL=C.UTF-8 \
      '$directory/bin/hx' $2 2>'$directory/messages' || cat '$directory/messages' && sleep 300"
}

# Each test starts at its own place, so that no keys are needed to get there: a terminal cannot tell Escape and a key from
# Alt and that key.
run_helix() {
  local release="$1"
  directory="$(new_project "$release")"
  release_program "$release" /usr/lib/hx/hx >"$directory/bin/hx"
  chmod +x "$directory/bin/hx"
  label="$("$directory/bin/hx" --version | cut -d ' ' -f 1,2)"
  ln -sf "$PODLENS_TOOLS/programs/node_modules/.bin/yaml-language-server" "$directory/bin/yaml-language-server"
  mkdir -p "$directory/home/helix"
  # As it is shipped, with one more setting, to see that settings count.
  sed 's/^unknown = "auto"$/&\nrules = { shadowed-source = "off" }/' "$here/../../editors/helix/languages.toml" \
    >"$directory/home/helix/languages.toml"
  printf '[editor]\nend-of-line-diagnostics = "hint"\n' >"$directory/home/helix/config.toml"
  # What goes over the wire is kept, to see what was negotiated.
  rm "$directory/bin/podlens"
  printf '#!/bin/sh\n"%s" "$@" | tee "%s/from-server"\n' "$PODLENS" "$directory" >"$directory/bin/podlens"
  chmod +x "$directory/bin/podlens"

  verdict "shows diagnostics" start_helix "$release" 1:1
  verdict "takes the settings" misses "hides the key"
  # On URL in the arguments.
  start_helix "$release" 36:27 || true
  keys Space k
  verdict "hovers" sees "https://shop.example.com/en"
  # Before VISITOR, which stands behind characters of two and four bytes.
  start_helix "$release" 26:45 || true
  keys i HO
  # A name that stands nowhere in the file.
  verdict "completes" sees "QUEUE_SERVICE_HOST"
  start_helix "$release" 26:45 || true
  # The whole line, without a mode that would have to be left again.
  keys x d
  verdict "clears a diagnostic with an edit" misses "nothing defines"
  printf 'APP_NAME=store\nREPLICAS=3\nREPLICA=3\n' >"$directory/project/shop.params"
  open_helix "$release" shop.params
  verdict "looks at a file with values for parameters" sees "has no parameter"
  end_helix
  if grep -aq '"positionEncoding":"utf-8"' "$directory/from-server"; then
    echo "ok - $label: counts in UTF-8"
  else
    echo "not ok - $label: counts in UTF-8: the server did not answer so"
  fi
}

for release in trixie forky; do
  run_helix "$release"
done
